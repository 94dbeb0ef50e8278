"""A program as plain values: names, numbers, tuples of them, and the bytes of its arrays; reading them runs nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.signature import ModelSignature

Plain = tuple[Any, ...]


def to_plain(program: Program) -> Plain:
    """Return a program as plain values."""
    return (
        program.signature.to_plain(),
        [(i.function, i.inputs, i.outputs, _plain(i.parameters), i.source) for i in program.instructions],
        [(name, one.dtype.str, one.shape, one.tobytes()) for name, one in program.constants.items()],
        program.tensors,
        program.shapes,
        program.chunk,
        program.files,
    )


def of_plain(plain: Plain) -> Program:
    """Return the program that `to_plain` made plain values of. Its constants cannot be written."""
    signature, instructions, constants, *rest = plain
    return Program(
        ModelSignature.from_plain(signature),
        tuple(Instruction(*each) for each in instructions),
        {name: np.frombuffer(data, dtype).reshape(shape) for name, dtype, shape, data in constants},
        *rest,
    )


def _plain(value: Any) -> Any:
    """Return a parameter with Python's numbers where it has NumPy's."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
