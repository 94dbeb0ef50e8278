"""Texts in a model that QONNX evaluates as Python: an ONNX file of somebody unknown must not be run by being read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

EVALUATED = ("tensor_layout", "tensor_sparsity")
"""Keys of quantisation annotations that `ModelWrapper.get_tensor_layout` and `get_tensor_sparsity` give to `eval`."""


def refuse_code(model: Any, what: str) -> None:
    """Refuse a model in which such a text is more than plain values; QONNX and FINN write nothing else.

    Args:
        model: An ONNX model.
        what: Names it in the message.

    Raises:
        ModelError: Names the tensor, the entry and its text.
    """
    for graph in _graphs(model.graph):
        for annotation in graph.quantization_annotation:
            for entry in annotation.quant_parameter_tensor_names:
                if entry.key in EVALUATED and not is_literal(entry.value):
                    raise ModelError(
                        f"{what}: tensor '{annotation.tensor_name}' has {entry.key} = {entry.value!r}, which QONNX "
                        "would run as Python; it must be a list or a table of plain values"
                    )


def is_literal(text: str) -> bool:
    """Tell whether Python would evaluate a text to plain values, without a call or a name in it."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph, and those inside of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield from _graphs(inner)
