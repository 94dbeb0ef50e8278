"""A node that holds an expression as text and computes it in one compiled loop: `fused_elementwise`.

It needs nothing but its text, so a model that has such nodes runs in any process. It belongs to no op.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.custom_op.base import CustomOp

from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.expression import Expression
from brainsmith.autodiff.compiling.numpy_form import compute
from brainsmith.autodiff.graphs.op_node import KnownTensors, constant_node
from brainsmith.errors import OpError
from brainsmith.figures import plural

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.autodiff.op import Dtypes, Shape, Shapes

ATTRIBUTE = "expression"
"""The attribute that holds the text of `compiling.expression`."""

_KEPT = 1024


class FusedElementwise(CustomOp):  # type: ignore[misc]
    """Elementwise operators as one node; its inputs broadcast, its outputs are those of the expression."""

    def get_nodeattr_types(self) -> dict[str, tuple[Any, ...]]:
        """Return the one attribute."""
        return {ATTRIBUTE: ("s", True, "")}

    @property
    def compiled(self) -> CompiledExpression:
        """What the node computes.

        Raises:
            OpError: The text is not an expression, or is one of another number of inputs.
        """
        node = self.onnx_node
        stated = [attribute.s.decode() for attribute in node.attribute if attribute.name == ATTRIBUTE]
        if not stated:
            raise OpError(f"node {node.name!r} (fused_elementwise) has no attribute {ATTRIBUTE!r}")
        try:
            found = compiled_text(stated[0])
        except OpError as error:
            raise OpError(f"node {node.name!r} (fused_elementwise): {error}") from error
        counts = (found.expression.num_inputs, len(found.expression.outputs))
        if counts != (len(node.input), len(node.output)):
            raise OpError(
                f"node {node.name!r} (fused_elementwise) has {plural(len(node.input), 'input')} and "
                f"{plural(len(node.output), 'output')}, "
                f"its expression {counts[0]} and {counts[1]}"
            )
        return found

    def make_shape_compatible_op(self, model: ModelWrapper) -> NodeProto:
        """Return a node whose outputs have the shape to which the inputs broadcast."""
        known = KnownTensors(model)
        names = list(self.onnx_node.input)
        found = output_values(
            self.compiled.expression, [known.shape(n) for n in names], [known.dtype(n) for n in names]
        )
        return constant_node(self.onnx_node, [shape for shape, _ in found], [dtype for _, dtype in found])

    def infer_node_datatype(self, model: ModelWrapper) -> None:
        """Leave the annotation of the outputs as it is: the nodes that were fused made it."""

    def execute_node(self, context: dict[str, Any], graph: GraphProto) -> None:
        """Compute the expression."""
        node = self.onnx_node
        given = self.compiled(*[np.asarray(context[name]) for name in node.input])
        context.update(zip(node.output, given if isinstance(given, tuple) else (given,), strict=True))

    def verify_node(self) -> list[str]:
        """Return what is wrong with the node; empty if nothing is."""
        try:
            self.compiled  # noqa: B018
        except OpError as error:
            return [str(error)]
        return []


@lru_cache(_KEPT)
def compiled_text(text: str) -> CompiledExpression:
    """Return the function of a text; the same one for the same text."""
    return CompiledExpression(text, "fused_elementwise")


def output_values(
    expression: Expression, shapes: Shapes, dtypes: Dtypes
) -> list[tuple[Shape, np.dtype[Any]]]:
    """Return shape and dtype of each output of an elementwise expression."""
    shape = np.broadcast_shapes(*shapes)
    with np.errstate(all="ignore"):
        found = compute(expression, [np.ones(1, dtype) for dtype in dtypes])
    return [(shape, np.asarray(value).dtype) for value in found]
