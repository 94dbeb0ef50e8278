"""Rewrite folder names inside files: FINN writes absolute paths into node attributes and reports."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from brainsmith.graph.well_formed import all_graphs
from brainsmith.store.files import read_bytes


def relocate_files(folder: Path, old: str, new: str) -> None:
    """Replace `old` by `new` in every file below a folder, and in what links point to."""
    for here, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = f"{here}{os.sep}{name}"  # there are hundreds, and a Path takes as long as reading one
            kind = os.lstat(path).st_mode
            if stat.S_ISLNK(kind):
                target = os.readlink(path)  # noqa: PTH115
                if old in target:
                    os.unlink(path)  # noqa: PTH108
                    os.symlink(target.replace(old, new), path)  # noqa: PTH211
            elif stat.S_ISREG(kind):
                data = read_bytes(path)
                moved = relocated(name, data, old, new)
                if moved is not data:
                    Path(path).write_bytes(moved)


def relocated(name: str, data: bytes, old: str, new: str) -> bytes:
    """Return a file's content with `old` replaced by `new`: in a model's strings, or in a text.

    Other binary files are returned as they are.
    """
    if old.encode() not in data:
        return data
    if not name.endswith(".onnx"):
        try:
            return data.decode().replace(old, new).encode()
        except UnicodeDecodeError:
            return data
    import onnx

    proto = onnx.load_from_string(data)
    _rewrite(proto.graph, old, new)
    for entry in [*proto.metadata_props, *proto.graph.metadata_props]:
        entry.value = entry.value.replace(old, new)
    return bytes(proto.SerializeToString(deterministic=True))


def foreign_paths(data: bytes, folder: str) -> set[str]:
    """Return the existing paths outside a folder that a model names: generated code, weight files."""
    if b"/" not in data:
        return set()
    import onnx

    proto = onnx.load_from_string(data)
    return {text for text in _texts(proto.graph) if not text.startswith(folder) and Path(text).exists()}


def _texts(graph: Any) -> Iterator[str]:
    """Yield every string attribute that reads like an absolute path."""
    for attribute in _attributes(graph):
        for text in (attribute.s, *attribute.strings):
            if text.startswith(b"/") and len(text) < 4096 and b"\0" not in text:
                yield text.decode(errors="replace")


def _rewrite(graph: Any, old: str, new: str) -> None:
    for attribute in _attributes(graph):
        if attribute.s:  # setting an empty one would make it present
            attribute.s = attribute.s.replace(old.encode(), new.encode())
        for at, text in enumerate(attribute.strings):
            attribute.strings[at] = text.replace(old.encode(), new.encode())


def _attributes(graph: Any) -> Iterator[Any]:
    """Yield the attributes of all nodes, those of nested graphs too."""
    return (attribute for each in all_graphs(graph) for node in each.node for attribute in node.attribute)
