"""A program as bytes: a digest, a header in JSON, and the arrays as they lie in memory.

No pickle, so that reading never runs anything; and no copy, so that a large model is there at once.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.program.program import Program
from brainsmith.execution.signature import ModelSignature

Array = np.ndarray[Any, Any]

_MAGIC = b"brainsmith program 1\n"
_DIGEST = 20
_ALIGNED = 64


def encode(program: Program) -> bytes:
    """Return a program as bytes."""
    arrays = {name: np.ascontiguousarray(value) for name, value in program.constants.items()}
    listed, at = [], 0
    for name, array in arrays.items():
        listed.append([name, array.dtype.str, list(program.constants[name].shape), at])
        at += -(-array.nbytes // _ALIGNED) * _ALIGNED
    header = {
        "signature": program.signature.to_plain(),
        "instructions": [
            [i.function, list(i.inputs), list(i.outputs), i.parameters, i.source]
            for i in program.instructions
        ],
        "constants": listed,
        "tensors": list(program.tensors),
        "shapes": {name: list(shape) for name, shape in program.shapes.items()},
        "chunk": program.chunk,
        "files": program.files,
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    start = len(_MAGIC) + _DIGEST + 8
    text += b" " * (-(start + len(text)) % _ALIGNED)
    parts = [len(text).to_bytes(8, "little"), text]
    for array in arrays.values():
        parts.extend((array.tobytes(), bytes(-array.nbytes % _ALIGNED)))
    body = b"".join(parts)
    return _MAGIC + _digest(body) + body


def decode(data: bytes) -> Program:
    """Return the program that `encode` made bytes of. Its constants cannot be written.

    Raises:
        ValueError: The bytes are no program of this form, or damaged.
    """
    start = len(_MAGIC) + _DIGEST
    if data[: len(_MAGIC)] != _MAGIC or _digest(memoryview(data)[start:]) != data[len(_MAGIC) : start]:
        raise ValueError("no program, or a damaged one")
    length = int.from_bytes(data[start : start + 8], "little")
    header = json.loads(data[start + 8 : start + 8 + length])
    first = start + 8 + length
    constants = {
        name: np.frombuffer(data, dtype, int(np.prod(shape)), first + at).reshape(shape)
        for name, dtype, shape, at in header["constants"]
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


def _digest(body: bytes | memoryview) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST).digest()


def _tuples(value: Any) -> Any:
    """Return a plain value with tuples where JSON has lists."""
    if isinstance(value, list):
        return tuple(map(_tuples, value))
    if isinstance(value, dict):
        return {name: _tuples(inner) for name, inner in value.items()}
    return value
