"""Which datatype annotations do not say yet what their tensors hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

_MOVES = (
    "Concat", "Expand", "Flatten", "Gather", "GlobalMaxPool", "Identity", "MaxPool", "Pad", "Reshape", "Slice", "Split",
    "Squeeze", "Tile", "Transpose", "Unsqueeze",
)  # fmt: skip
"""Operators whose results are what they are given; QONNX annotates them alike."""


def levels_without_offset(graph: GraphProto) -> frozenset[str]:
    """Return the tensors that hold levels from 0 on, and are annotated as what these are after an offset.

    FINN makes a quantiser with a sign a MultiThreshold that counts from 0 and an Add after it, and annotates the
    counts with the quantiser's datatype: 0 to 15 as INT4. Streamlining absorbs the Add, and the annotation is right.
    """
    found: set[str] = set()
    for node in graph.node:
        moved = node.op_type in _MOVES and not found.isdisjoint(node.input)
        if moved or _counts_from_zero(node):
            found.update(node.output)
    return frozenset(found)


def _counts_from_zero(node: NodeProto) -> bool:
    if node.op_type != "MultiThreshold" or node.domain != "qonnx.custom_op.general":
        return False
    stated = {attribute.name: attribute for attribute in node.attribute}
    signed = "out_dtype" in stated and stated["out_dtype"].s.startswith(b"INT")
    return signed and ("out_bias" not in stated or stated["out_bias"].f == 0)
