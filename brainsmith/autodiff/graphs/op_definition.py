"""What an op is defined by, as one hash: the text of its code, or the content of its library."""

from __future__ import annotations

import inspect
from hashlib import sha256
from typing import Any

from brainsmith.autodiff.builder import BuiltOp
from brainsmith.autodiff.compiling.chain_op import ChainOp
from brainsmith.autodiff.compiling.compiled_op import CompiledOp
from brainsmith.autodiff.compiling.function_op import FunctionOp
from brainsmith.autodiff.op import Op


def definition_hash(op: Op) -> str:
    """Return the sha256 of an op's definition; empty if it is not known, as of code that was typed in.

    It covers the class with the ops that it inherits from, or the functions that a builder was given, and not what they
    call. A compiled op has that of the
    op in Python; that of a compiled function, or of a chain of ops, is its expression.
    """
    if isinstance(op, CompiledOp):
        if isinstance(op.op, ChainOp | FunctionOp):
            return sha256(op.expression.expression.text.encode()).hexdigest()
        return definition_hash(op.op)
    library = getattr(op, "library", None)
    if library is not None:
        found: str = getattr(library, "sha256", "")
        return found
    parts: list[Any] = (
        [op.functions[role] for role in sorted(op.functions)]
        if isinstance(op, BuiltOp)
        else [part for part in type(op).__mro__ if issubclass(part, Op) and part is not Op]
    )
    texts = [_text(part) for part in parts]
    return "" if None in texts else sha256("\n".join(map(str, texts)).encode()).hexdigest()


def is_same_op(one: Op, other: Op) -> bool:
    """Tell whether two ops are one, or have one definition."""
    return one is other or definition_hash(one) == definition_hash(other) != ""


def _text(code: Any) -> str | None:
    while hasattr(code, "func"):  # a functools.partial
        code = code.func
    try:
        return inspect.getsource(code)
    except (OSError, TypeError):
        return None
