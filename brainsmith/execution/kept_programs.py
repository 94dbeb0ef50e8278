"""Programs kept on disk by content, so that an unchanged model is ready without ONNX or QONNX being imported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith import settings
from brainsmith.execution.foreign_code import foreign_code
from brainsmith.execution.program.encoding import decode, encode
from brainsmith.store.computed import Computed
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.program.program import Program

KIND = "programs"
"""The folder in the cache folder."""

ROOTS = ("brainsmith.execution.*",)
"""What lowers, beside the operators of a model."""


def obtain_program(content: str, make: Callable[[], Program]) -> Program:
    """Return the program of a model, made if there is none on disk that is whole.

    Args:
        content: Stands for the model and for how it is lowered.
        make: Lowers it.

    Raises:
        BuildError: It cannot be lowered.
    """
    key = "|".join((content, *settings.qonnx_rounding(), foreign_code()))
    kept = Computed(settings.cache_dir(), KIND, key, ROOTS)
    found = _program(kept.load())
    if found is not None:
        return found
    program = make()
    if program.files is not None:
        kept.save(encode(program), program.modules)
    return program


def _program(data: bytes | None) -> Program | None:
    """Return a kept program; None if it is damaged, or a file that its model names has changed."""
    if data is None:
        return None
    try:
        program = decode(data)
        files = program.files or {}
        whole = all(digest(Path(name).read_bytes()) == known for name, known in files.items())
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return program if whole else None
