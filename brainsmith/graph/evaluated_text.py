"""Texts in a model that QONNX evaluates as Python: an ONNX file of somebody unknown must not be run by being read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

EVALUATED = ("tensor_layout", "tensor_sparsity")
"""Keys of quantisation annotations that `ModelWrapper.get_tensor_layout` and `get_tensor_sparsity` give to `eval`."""


class CodeFault(str):
    """What is wrong with a model, in words, where opening it would run code: whoever trusts its maker may open it."""

    __slots__ = ()


def code_faults(graph: Any) -> Iterator[CodeFault]:
    """Yield the texts of a graph that are more than plain values; QONNX and FINN write nothing else.

    Args:
        graph: An ONNX graph; those inside of its nodes are not looked at.
    """
    for annotation in graph.quantization_annotation:
        for entry in annotation.quant_parameter_tensor_names:
            if entry.key in EVALUATED and not is_literal(entry.value):
                yield CodeFault(
                    f"tensor '{annotation.tensor_name}' has {entry.key} = {entry.value!r}, which QONNX "
                    "would run as Python; it must be a list or a table of plain values"
                )


def is_literal(text: str) -> bool:
    """Tell whether Python would evaluate a text to plain values, without a call or a name in it."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True
