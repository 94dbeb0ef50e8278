"""Rewritten models on disk, by the content of what was rewritten: a second process needs neither ONNX nor QONNX."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.execution.foreign_code import foreign_code
from brainsmith.execution.standard_onnx.standard_model import StandardModel
from brainsmith.settings import cache_dir, qonnx_rounding
from brainsmith.store.fingerprint import short_digest
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = "onnxruntime"
"""The folder in the cache folder."""

LIMIT = 512 << 20
"""Bytes of rewritten models that are kept; those used longest ago go first."""


def obtain(
    content: str, make: Callable[[], StandardModel], lasts: Callable[[], bool] = lambda: True
) -> StandardModel:
    """Return the rewritten form of a model, which is made if it is not on disk.

    Where nothing can be written, it is made each time.

    Args:
        content: Stands for the original model's content.
        make: Rewrites it. What it raises leaves nothing behind.
        lasts: Asked once it is made: whether it may be kept, because it depends on nothing that may change unseen.
    """
    kept = Kept(cache_dir(), KIND, f"{content}|{qonnx_rounding()}|{_version()}|{foreign_code()}")
    if (found := kept.load(None)) is not None:
        with suppress(OSError):
            os.utime(kept.path)
        return StandardModel.of_plain(found)
    made = make()
    if lasts() and kept.save(None, made.to_plain()):
        _trim(Path(kept.path))
    return made


@cache
def _version() -> str:
    """Return what stands for the code that rewrites: another one would give another result."""
    folder = Path(__file__).parent
    sources = sorted((*folder.glob("*.py"), *folder.parent.glob("*.py")))
    return short_digest("".join(source.read_text() for source in sources))


def _trim(keep: Path) -> None:
    with suppress(OSError):
        entries = [(path, path.stat()) for path in keep.parent.iterdir()]
        total = sum(stat.st_size for _, stat in entries)
        for path, stat in sorted(entries, key=lambda entry: entry[1].st_mtime):
            if total <= LIMIT:
                break
            if path != keep:
                path.unlink()
                total -= stat.st_size
