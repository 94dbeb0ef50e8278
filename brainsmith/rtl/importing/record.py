"""What an import wrote: so the next one knows which files were edited since, and overwrites none of them unasked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.store.files import read_json_table
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Update(NamedTuple):
    """What an update does with each file.

    Attributes:
        written: It does not exist, or is as the last import wrote it and comes out otherwise now.
        kept: It was edited, and comes out as it did then.
        edited: It was edited, and comes out otherwise: one of the two would be lost.
    """

    written: list[Path]
    kept: list[Path]
    edited: list[Path]


def record_place(kernel: Path) -> Path:
    """Return where the record of an import lies: beside its kernel."""
    return kernel.with_name(f"{kernel.stem}.import.json")


def record_of(contents: Mapping[Path, bytes]) -> bytes:
    """Return the record of some files: what stands for the content of each."""
    return (
        json.dumps({path.name: digest(data) for path, data in contents.items()}, indent=2) + "\n"
    ).encode()


def planned(contents: Mapping[Path, bytes], record: Path) -> Update:
    """Decide what an update does.

    Args:
        contents: What would be written.
        record: Of the last import; without it every file that is there and comes out otherwise counts as edited.
    """
    recorded = read_json_table(record)
    update = Update([], [], [])
    for path, data in contents.items():
        here = content_of(path)
        if here is None:
            update.written.append(path)
        elif here != data:
            now, new, last = digest(here), digest(data), recorded.get(path.name)
            (update.written if now == last else update.kept if new == last else update.edited).append(path)
    return update


def content_of(path: Path) -> bytes | None:
    """Return what a file holds; None if it does not exist or cannot be read, which writing it will report."""
    try:
        return path.read_bytes()
    except OSError:
        return None
