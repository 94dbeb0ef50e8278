"""A network for a batch of one: the same network, fed one sample after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.graph.ends import input_values
from brainsmith.graph.well_formed import node_text
from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, opset
from brainsmith.transforms.lattice.staircases import is_quantiser

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

APART = (
    "Abs", "Add", "AveragePool", "BatchNormalization", "Cast", "Clip", "Conv", "ConvTranspose", "DepthToSpace", "Div",
    "Dropout", "Elu", "Erf", "Exp", "Gelu", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid", "HardSwish", "Identity",
    "LeakyRelu", "MaxPool", "Mul", "Neg", "PRelu", "Pow", "Relu", "Selu", "Sigmoid", "Softplus", "SpaceToDepth", "Sqrt",
    "Sub", "Tanh",
)  # fmt: skip
"""Operators that never join values of two samples."""

_CUSTOM_APART = ("MultiThreshold", "Trunc", "FloatQuant")


def with_batch_of_one(model: ModelWrapper) -> tuple[ModelWrapper, str]:
    """Return a network whose samples are fed one by one, in place of a batch of several.

    Every tensor that depends on the inputs holds the samples one after the other in its first axis: each node must
    keep them apart. Then the first axis of each is divided by the batch, and so is that of a Reshape's constant.

    Returns:
        The network, and why its batch stays as it is; empty if it is 1.
    """
    batch = _batch(model)
    if batch == 1:
        return model, ""
    copy = type(model)(model.model, make_deepcopy=True)
    change = _BatchChange(copy, batch)
    for node in copy.graph.node:
        reason = change.node(node)
        if reason:
            return model, f"its batch of {batch} cannot be made 1, because {node_text(node)} {reason}"
    change.shapes()
    return copy, ""


def _batch(model: ModelWrapper) -> int:
    shapes = [model.get_tensor_shape(value.name) for value in input_values(model.graph)]
    firsts = {shape[0] if shape else 1 for shape in shapes}
    return int(firsts.pop()) if len(firsts) == 1 else 1


class _BatchChange:
    """The network while it is checked node by node; only constants of its own are changed before `shapes`."""

    def __init__(self, model: ModelWrapper, batch: int) -> None:
        self._view = GraphView(model)
        self._batch = batch
        self._varying = {value.name: self._view.shape(value.name) for value in input_values(model.graph)}

    def node(self, node: NodeProto) -> str:
        """Enter what a node gives; return why it does not keep the samples apart, or an empty text."""
        inputs = [name for name in node.input if name in self._varying]
        if not inputs:
            return ""
        results = {name: self._view.shape(name) for name in node.output if name}
        self._varying.update(results)
        if any(not shape or shape[0] % self._batch for shape in results.values()):
            return "does not give the samples in its first axis"
        if is_quantiser(node) or node.op_type in _CUSTOM_APART or is_standard(node, *APART):
            return self._apart(node, inputs)
        rule = _RULES.get(node.op_type) if is_standard(node, node.op_type) else None
        return "is not known to keep samples apart" if rule is None else rule(self, node)

    def _apart(self, node: NodeProto, inputs: list[str]) -> str:
        """Check operands that broadcast: each has the samples in the same axis, or is one for all."""
        shape = self._view.shape(inputs[0])
        if any(
            self._view.shape(name)[:1] != shape[:1] or len(self._view.shape(name)) != len(shape)
            for name in inputs
        ):
            return "joins tensors of other samples"
        if is_standard(node, "Conv", "ConvTranspose", "BatchNormalization"):
            return "has computed weights" if len(inputs) > 1 else ""
        others = [self._view.shape(name) for name in node.input if name and name not in self._varying]
        rank = len(shape)
        if any(len(other) > rank or (len(other) == rank and other[0] != 1) for other in others):
            return "has an operand for each sample"
        return ""

    def _matmul(self, node: NodeProto) -> str:
        left, right = (self._view.shape(name) for name in node.input)
        if node.input[0] in self._varying and node.input[1] in self._varying:
            return "" if len(left) == len(right) > 2 and left[0] == right[0] else "multiplies several samples"
        data, other = (left, right) if node.input[0] in self._varying else (right, left)
        if len(other) > 2 and (other[0] != 1 or len(other) > len(data)):
            return "has an operand for each sample"
        return "" if node.input[0] in self._varying or len(data) > 2 else "multiplies several samples"

    def _gemm(self, node: NodeProto) -> str:
        operand = self._view.shape(node.input[2]) if len(node.input) > 2 and node.input[2] else ()
        if attribute(node, "transA", 0) or node.input[1] in self._varying:
            return "multiplies several samples"
        return "has an operand for each sample" if len(operand) == 2 and operand[0] != 1 else ""

    def _along(self, node: NodeProto) -> str:
        default = _AXIS[node.op_type]
        if default is None:  # Softmax, whose default changed
            default = -1 if opset(self._view.model) >= 13 else 1
        if node.op_type == "Concat" and any(name not in self._varying for name in node.input):
            return "joins a constant to each sample"
        if node.op_type == "Gather" and node.input[1] in self._varying:
            return "gathers at computed indices"
        axis = attribute(node, "axis", default) % len(self._view.shape(node.input[0]))
        return "" if axis else "reads along the batch"

    def _axes(self, node: NodeProto) -> list[int] | None:
        """Return the axes that a node states, as an attribute or its second input; None where it states none."""
        axes: list[int] | None = attribute(node, "axes")
        if axes is None and len(node.input) > 1 and node.input[1]:
            found = self._view.constant(node.input[1])
            axes = None if found is None else found.reshape(-1).tolist()
        return axes

    def _reduce(self, node: NodeProto) -> str:
        axes, rank = self._axes(node), len(self._view.shape(node.input[0]))
        return "reads along the batch" if axes is None or any(axis % rank == 0 for axis in axes) else ""

    def _transpose(self, node: NodeProto) -> str:
        rank = len(self._view.shape(node.input[0]))
        first = attribute(node, "perm", list(range(rank))[::-1])[0]
        return "moves the batch to another axis" if first else ""

    def _flatten(self, node: NodeProto) -> str:
        return (
            "" if attribute(node, "axis", 1) % (len(self._view.shape(node.input[0])) + 1) else "joins samples"
        )

    def _reshape(self, node: NodeProto) -> str:
        """Give the new shape: rows of samples one after the other stay so, however long they are."""
        self._reshaped(node)
        return ""

    def _squeeze(self, node: NodeProto) -> str:
        axes, rank = self._axes(node), len(self._view.shape(node.input[0]))
        if axes is None:
            node.op_type = "Reshape"
            self._reshaped(node)
        return "removes the batch" if axes is not None and any(axis % rank == 0 for axis in axes) else ""

    def _unsqueeze(self, node: NodeProto) -> str:
        axes, rank = self._axes(node), len(self._view.shape(node.output[0]))
        before = axes is None or any(axis % rank == 0 for axis in axes)
        return "puts an axis before the batch" if before else ""

    def _reshaped(self, node: NodeProto) -> None:
        first, *others = self._view.shape(node.output[0])
        to = np.asarray([first // self._batch, *others], np.int64)
        node.input[:] = [node.input[0], self._view.add_constant(f"{node.output[0]}_of_one", to)]

    def _pad(self, node: NodeProto) -> str:
        pads = attribute(node, "pads")
        if pads is None:
            pads = self._view.constant(node.input[1])
        if pads is None or (len(node.input) > 3 and node.input[3]):
            return "has computed padding, or states its axes"
        return "pads the batch" if pads[0] or pads[len(pads) // 2] else ""

    def _slice(self, node: NodeProto) -> str:
        limits = [self._view.constant(name) for name in node.input[1:] if name]
        if any(limit is None for limit in limits) or len(limits) < 3:
            return "slices at computed positions, or does not state its axes"
        rank, axes = len(self._view.shape(node.input[0])), limits[2]
        assert axes is not None
        return "slices the batch" if any(axis % rank == 0 for axis in axes.reshape(-1).tolist()) else ""

    def _resize(self, node: NodeProto) -> str:
        """Keep the batch where it is scaled by 1, and state the sizes, if there are any, for one sample."""
        before, after = self._view.shape(node.input[0]), self._view.shape(node.output[0])
        if before[0] != after[0]:
            return "resizes the batch"
        if len(node.input) > 3 and node.input[3]:
            first, *others = after
            to = np.asarray([first // self._batch, *others], np.int64)
            node.input[3] = self._view.add_constant(f"{node.output[0]}_of_one", to)
        return ""

    def shapes(self) -> None:
        """State the shapes for one sample."""
        model = self._view.model
        for name, (first, *others) in self._varying.items():
            model.set_tensor_shape(name, [first // self._batch, *others], self._view.elem_type(name, 1))


_AXIS = {
    "ArgMax": 0, "Concat": 0, "Gather": 0, "LayerNormalization": -1, "LogSoftmax": None, "Softmax": None, "Split": 0,
    "TopK": -1,
}  # fmt: skip
"""Operators that work along one axis, and which it is where they do not state it."""

_RULES: dict[str, Callable[[_BatchChange, NodeProto], str]] = {
    **dict.fromkeys(_AXIS, _BatchChange._along),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"), _BatchChange._reduce),
    **dict.fromkeys(("Resize", "Upsample"), _BatchChange._resize),
    "Flatten": _BatchChange._flatten,
    "Gemm": _BatchChange._gemm,
    "MatMul": _BatchChange._matmul,
    "Pad": _BatchChange._pad,
    "Reshape": _BatchChange._reshape,
    "Slice": _BatchChange._slice,
    "Squeeze": _BatchChange._squeeze,
    "Transpose": _BatchChange._transpose,
    "Unsqueeze": _BatchChange._unsqueeze,
}
"""What returns why an operator does not keep samples apart; an empty text if it does."""
