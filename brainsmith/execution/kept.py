"""What is made of models, kept by content: an unchanged model is ready without ONNX or QONNX being imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.foreign_code import foreign_code
from brainsmith.execution.program.encoding import Plain, of_plain, to_plain
from brainsmith.settings import cache_dir, qonnx_rounding
from brainsmith.store.computed import Computed
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from brainsmith.execution.program.array_program import Program

ROOTS = ("brainsmith.execution.*",)
"""What lowers and rewrites, beside the operators of a model."""


def kept(kind: str, content: str, roots: tuple[str, ...] = ROOTS) -> Computed:
    """Return the place of what is made of a model.

    Args:
        kind: `programs` or `onnxruntime`: the folder in the cache folder.
        content: Stands for the model and for how it is made into something else.
        roots: The modules that make it.
    """
    key = "|".join((content, *qonnx_rounding(), foreign_code()))
    return Computed(cache_dir(), kind, key, roots)


def plain_program(program: Program) -> Plain | None:
    """Return a program's plain form; None if it depends on more than files, so that it may not be kept."""
    return None if program.files is None else to_plain(program)


def whole_program(plain: Plain) -> Program | None:
    """Return the program of a plain form; None if it has another form, or a file that its model names has changed."""
    try:
        program = of_plain(plain)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    files = program.files or {}
    return program if all(file_digest(name) == known for name, known in files.items()) else None
