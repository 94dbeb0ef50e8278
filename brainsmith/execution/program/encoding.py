"""A program as plain values: its header as JSON, and the bytes of its arrays.

No pickle, so that reading never runs anything.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.signature import ModelSignature

Plain = tuple[str, list[bytes]]


def to_plain(program: Program) -> Plain:
    """Return a program as plain values."""
    constants = program.constants
    header = {
        "signature": program.signature.to_plain(),
        "instructions": [
            [i.function, list(i.inputs), list(i.outputs), i.parameters, i.source]
            for i in program.instructions
        ],
        "constants": [[name, array.dtype.str, list(array.shape)] for name, array in constants.items()],
        "tensors": list(program.tensors),
        "shapes": {name: list(shape) for name, shape in program.shapes.items()},
        "chunk": program.chunk,
        "files": program.files,
    }
    return json.dumps(header, separators=(",", ":")), [array.tobytes() for array in constants.values()]


def of_plain(plain: Plain) -> Program:
    """Return the program that `to_plain` made plain values of. Its constants cannot be written."""
    text, arrays = plain
    header = json.loads(text)
    constants = {
        name: np.frombuffer(data, dtype).reshape(shape)
        for (name, dtype, shape), data in zip(header["constants"], arrays, strict=True)
    }
    instructions = tuple(
        Instruction(function, tuple(inputs), tuple(outputs), _tuples(parameters), source)
        for function, inputs, outputs, parameters, source in header["instructions"]
    )
    return Program(
        ModelSignature.from_plain(header["signature"]),
        instructions,
        constants,
        tuple(header["tensors"]),
        {name: tuple(shape) for name, shape in header["shapes"].items()},
        header["chunk"],
        header["files"],
    )


def _tuples(value: Any) -> Any:
    """Return a plain value with tuples where JSON has lists."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    if isinstance(value, dict):
        return {name: _tuples(inner) for name, inner in value.items()}
    return value
