"""RemoveIdentityOps: nodes whose output is their input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from qonnx.transformation.base import Transformation
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.plugin.adapters.graph_edits import bypass_node
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, opset

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}
"""The constant with which an operation gives back its other operand."""

MOVES = ("Flatten", "GlobalMaxPool", "Identity", "MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""What gives some of its first input's values, in other places."""

STATED = ("signed", "narrow", "rounding_mode")

COMMUTATIVE = ("Add", "Mul")


@transform(
    stage="graph_tidying",
    description="Remove nodes whose output equals their input, exactly",
    tags=("clean-up",),
)
class RemoveIdentityOps(Transformation):
    """Remove what computes nothing: x + 0, x - 0, x * 1, x / 1, Identity, Pad by zeros, and Dropout in inference.

    So does a Quant after another one with the same parameters, where only pools of maxima and operators that move
    values stand between them: ONNX Runtime exports one after each operator.

    Identity means identical. A constant counts as 0 or 1 only if each of its elements equals that, and if it leaves
    the shape of x as it is; where that is not known, the node stays. QONNX's own takes 1e-5 for 0, which is the
    epsilon of most normalisations.

    The sign of a zero is no value here: `x + 0.0` makes 0.0 of -0.0, and is removed, or no bias of zeros ever
    would be. Datatypes that QONNX knows have one zero.

    A node that gives an output of the graph stays where what it reads must keep its own name: an input of the
    graph, an initializer, or another output.

    Args:
        atol: By how much a constant may differ from 0 or 1 after all; then the result changes by as much.
    """

    def __init__(self, atol: float = 0.0) -> None:
        super().__init__()
        self.atol = atol

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Remove all of them and infer shapes; the flag is True exactly when a node was removed."""
        modified, view = False, GraphView(model)
        for node in list(model.graph.node):
            source = _identical_input(view, node, self.atol)
            if source is None:
                continue
            node.input[0], node.input[source] = node.input[source], node.input[0]
            if bypass_node(model.graph, node):
                modified, view = True, GraphView(model)
            else:
                node.input[0], node.input[source] = node.input[source], node.input[0]
        return model.transform(InferShapes()), modified


def _identical_input(view: GraphView, node: NodeProto, atol: float) -> int | None:
    """Return which of a node's inputs its first output equals, or None."""
    if is_standard(node, "Identity"):
        return 0
    if is_standard(node, "Pad"):
        return 0 if _pads_nothing(view, node) else None
    if is_standard(node, "Dropout"):
        return 0 if _drops_nothing(view, node) else None
    if node.op_type in ("Quant", "IntQuant"):
        return 0 if _repeats(view, node) else None
    if not is_standard(node, *NEUTRAL):
        return None
    for at in (0, 1) if node.op_type in COMMUTATIVE else (0,):
        constant = view.constant(node.input[1 - at])
        if (
            constant is not None
            and (np.abs(constant.astype(np.float64) - NEUTRAL[node.op_type]) <= atol).all()
            and _keeps_shape(view, node.input[at], constant.shape)
        ):
            return at
    return None


def _repeats(view: GraphView, node: NodeProto) -> bool:
    """Tell whether what a quantiser reads has its levels already, because one like it stands before."""
    before = view.made_by(node.input[0])
    for _ in view.graph.node:  # the nodes may form a cycle, which SortGraph reports
        if before is None or not is_standard(before, *MOVES) or len(before.output) > 1:
            break
        before = view.made_by(before.input[0])
    if before is None or (before.op_type, before.domain) != (node.op_type, node.domain):
        return False
    pairs = [
        [view.constant(name) for name in names]
        for names in zip(node.input[1:], before.input[1:], strict=True)
    ]
    same = all(a is not None and b is not None and a.size == b.size == 1 and a == b for a, b in pairs)
    return same and all(attribute(node, name) == attribute(before, name) for name in STATED)


def _keeps_shape(view: GraphView, name: str, shape: tuple[int, ...]) -> bool:
    """Tell whether broadcasting a tensor with a constant of this shape leaves the tensor's shape as it is."""
    if not shape:
        return True
    dims = view.dimensions(name)
    if dims is None or len(shape) > len(dims):
        return False
    return all(own in (1, dim) for own, dim in zip(reversed(shape), reversed(dims), strict=False))


def _pads_nothing(view: GraphView, node: NodeProto) -> bool:
    pads = attribute(node, "pads")  # up to opset 10; an input from then on
    if pads is None and len(node.input) > 1:
        pads = view.constant(node.input[1])
    return pads is not None and not np.any(pads)


def _drops_nothing(view: GraphView, node: NodeProto) -> bool:
    """Tell whether a Dropout lets everything pass and nothing reads its mask."""
    if any(view.readers(name) for name in node.output[1:]):
        return False
    version = opset(view.model)
    ratio = attribute(node, "ratio", 0.5)
    if version < 7:
        return bool(attribute(node, "is_test", 0)) or ratio == 0
    if version < 12:
        return True  # these versions are those of inference
    inputs = [*node.input, "", ""]
    given = view.constant(inputs[1]) if inputs[1] else None
    training = view.constant(inputs[2]) if inputs[2] else np.asarray(False)
    return (training is not None and not training.any()) or (given is not None and not given.any())
