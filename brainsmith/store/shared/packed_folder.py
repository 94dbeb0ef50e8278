"""A folder as one content: its files with safe names, and nothing else, so that unpacking it can make nothing else.

    [["meta.json", 812], ["model.onnx", 60311]]
    then the files, one after the other

The same files always give the same bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_FILES = 4096
_LONGEST_NAME = 255
_LONGEST_HEAD = 1 << 21


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files by name as one content.

    Raises:
        ValueError: A name is not one that may be unpacked.
    """
    names = sorted(files)
    _check(names)
    head = json.dumps([[name, len(files[name])] for name in names])
    return head.encode("ascii") + b"\n" + b"".join(files[name] for name in names)


def unpacked(content: bytes) -> dict[str, bytes]:
    """Return the files that `packed` made one content of.

    Raises:
        ValueError: It is not such a content, or a name leads elsewhere than into its folder.
    """
    end = content.find(b"\n", 0, _LONGEST_HEAD)
    if end < 0:
        raise ValueError("it does not say which files it holds")
    try:
        head = json.loads(content[:end].decode("ascii"))
        sizes = {str(name): size for name, size in head}
    except (ValueError, TypeError, RecursionError):
        raise ValueError("it does not say which files it holds") from None
    _check(list(sizes))
    if len(sizes) != len(head) or not all(type(size) is int and size >= 0 for size in sizes.values()):
        raise ValueError("a file is named twice, or has no size")
    if sum(sizes.values()) != len(content) - end - 1:
        raise ValueError("its files have other sizes than it says")
    found, at = {}, end + 1
    for name, size in sizes.items():
        found[name] = content[at : at + size]
        at += size
    return found


def is_safe(name: str) -> bool:
    """Tell whether a name leads into its folder, on every system, and is shown as it is."""
    parts = name.split("/")
    return (
        0 < len(name) <= _LONGEST_NAME
        and name.isprintable()
        and not any(part in ("", ".", "..") for part in parts)
        and not any(letter in name for letter in '\\:"')
    )


def _check(names: list[str]) -> None:
    if len(names) > MOST_FILES:
        raise ValueError(f"it holds {len(names)} files, and may hold {MOST_FILES}")
    for name in names:
        if not is_safe(name):
            raise ValueError(f"a file may not be called {name[:80]!r}")
    folders = {name[:at] for name in names for at, letter in enumerate(name) if letter == "/"}
    if not folders.isdisjoint(names):
        raise ValueError("a name is that of a file and of a folder")
