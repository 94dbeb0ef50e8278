"""What is read of a file to know its content, remembered as long as the file's status says that it is the same."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.graph.partition_models import PARTITIONS, partitions_of
from brainsmith.runtime.recent import Recent
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from pathlib import Path

    from onnx import ModelProto

REMEMBERED = 4096
"""For how many files facts are remembered: those that were asked for last."""
SETTLED_NS = 2_000_000_000
"""How long before it was read a file must have changed last, in nanoseconds: no time stamp is coarser (FAT's are 2 s)."""

_EXTERNAL = b"\x0a\x08location"
"""How ONNX writes that a tensor lies in another file (`StringStringEntryProto`, key `location`)."""


@dataclass(frozen=True)
class FileFacts:
    """What a file holds.

    Attributes:
        digest: Of its bytes.
        external: Of a model: the files in which its tensors lie, sorted; relative to its folder.
        partitions: Of a model: the models that its dataflow partitions name, in the order of the graph; a relative path
            starts where the process is.
    """

    digest: str
    external: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


_MEMORY: Recent[tuple[str, bool], tuple[tuple[int, ...], FileFacts]] = Recent(REMEMBERED)
"""Facts with the status that the file had, by path."""


def facts_of(path: Path, is_model: bool) -> FileFacts:
    """Return what a file holds, read again unless it certainly did not change.

    It is if path, device, inode, size and the times of the last change of content and of status are the same, and both
    times were more than two seconds old when it was read: a later write leaves a later time, even where times are
    coarse, and the time of the status cannot be set back.

    Args:
        path: Of the file.
        is_model: Whether the files that it names as a model are wanted too.

    Raises:
        OSError: It cannot be read.
    """
    key = (str(path.absolute()), is_model)
    status, facts = _MEMORY.find(key) or (None, None)
    if facts is not None and status == _status(path.stat()):
        return facts
    now = time.time_ns()
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        data = file.read()
        same = _status(before) == _status(os.fstat(file.fileno()))
    named = (_external_files(data), partition_files(data)) if is_model else ()
    facts = FileFacts(digest(data), *named)
    if same and max(before.st_mtime_ns, before.st_ctime_ns) < now - SETTLED_NS:
        _MEMORY.keep(key, (_status(before), facts))
    return facts


def _status(of: os.stat_result) -> tuple[int, ...]:
    return (of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns)


def partition_files(data: bytes) -> tuple[str, ...]:
    """Return the files that the partitions of a model name; none of what only mentions their operators."""
    if not any(name.encode() in data for name in PARTITIONS) or (model := model_in(data)) is None:
        return ()
    return tuple(partitions_of(model.graph))


def _external_files(data: bytes) -> tuple[str, ...]:
    if _EXTERNAL not in data or (model := model_in(data)) is None:
        return ()
    import onnx

    found = {
        entry.value
        for tensor in onnx.external_data_helper._get_all_tensors(model)
        if onnx.external_data_helper.uses_external_data(tensor)
        for entry in tensor.external_data
        if entry.key == "location"
    }
    return tuple(sorted(found))


def model_in(data: bytes) -> ModelProto | None:
    """Return the model that data hold; None if they hold none."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return onnx.load_model_from_string(data)
    except DecodeError:
        return None
