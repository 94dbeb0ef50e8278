"""HostPart: what the host computes, in floats, before and after the integer layers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from onnx import NodeProto, TensorProto, helper

from brainsmith.graph.integer_range import FLOAT32_END, IntegerRange, within
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.integer.integer_tensor import IntegerTensor
from brainsmith.transforms.integer.layer_graph import QONNX, LayerGraph, LayerNode, LayerTensor
from brainsmith.transforms.integer.no_layer import NO_REASON, NoLayerError, Reason
from brainsmith.transforms.integer.tabled_link import TabledLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.axis_layout import AxisLayout
    from brainsmith.transforms.lattice.array_kinds import Doubles
    from brainsmith.transforms.lattice.links import ChainLink
    from brainsmith.transforms.lattice.staircases import Staircase

OPERATORS = (
    "Add", "ArgMax", "BatchNormalization", "Clip", "Div", "Elu", "Exp", "Flatten", "HardSigmoid", "Identity", "LeakyRelu",
    "LogSoftmax", "Mul", "Neg", "PRelu", "Relu", "Reshape", "Selu", "Sigmoid", "Softmax", "Softplus", "Sqrt", "Squeeze",
    "Sub", "Tanh", "TopK", "Transpose", "Unsqueeze",
)  # fmt: skip
"""What the host computes of floats: element by element, a class of logits, or the same values in another shape."""

CHANNELS_FIRST = (
    "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool", "MaxPool",
)  # fmt: skip
"""Operators whose channels are the second axis: of images, or of one dimension."""

MEANS = ("AveragePool", "GlobalAveragePool", "ReduceMean")
"""Operators whose sums are layers, and whose divisor is pending."""


@dataclass(frozen=True)
class HostTensor:
    """A tensor of floats on the host, as the network has it.

    Attributes:
        name: In the graph of layers.
        shape: Of it.
        in_front: Whether it is computed of the network's inputs alone, before all integer layers.
        reason: Why it is no tensor of integers.
    """

    name: str
    shape: tuple[int, ...]
    in_front: bool
    reason: Reason


class HostPart:
    """Makes the host's operators.

    Args:
        view: The network.
        graph: Where they are added.
    """

    def __init__(self, view: GraphView, graph: LayerGraph) -> None:
        self._view = view
        self._graph = graph
        self._one_dimension = any(
            len(view.model.get_tensor_shape(node.input[0]) or ()) == 3
            for node in view.graph.node
            if is_standard(node, *CHANNELS_FIRST)
        )

    def quantised(self, tensor: HostTensor, staircase: Staircase, base: str) -> IntegerTensor:
        """Return the levels of an input that the host quantises, with QONNX's own quantiser, channels last.

        The floats are put into the layers' layout first, so that nothing lies between the quantiser and the circuit.
        """
        graph, node = self._graph, staircase.node
        scale, *others = (self._constant(name) for name in node.input[1:])
        image = self.image_shape(tensor.shape, staircase)
        channels = 1 - len(tensor.shape) if len(image) == 4 else -1
        if staircase.channels > 1 and staircase.axis != channels:
            raise NoLayerError(
                "its scale is neither one number nor one for each channel",
                "quantise with one scale for all values, or with one for each channel",
            )
        source = self.channels_last(tensor.name, tensor.shape, image, None)
        shape = graph.tensors[source].shape if source != tensor.name else tensor.shape
        if staircase.step == 2:
            return self._signs(source, shape, image, scale.astype(np.float64).reshape(-1), base)
        operand = _channels_last(scale, len(tensor.shape)) if source != tensor.name else scale
        name = graph.add("Div", [source], f"{base}_scaled", shape, constant=operand)
        zero = float(others[0]) if others else 0.0
        if zero:  # which the quantiser adds after it has divided, and takes away again
            name = graph.add("Add", [name], f"{base}_from_zero", shape, constant=np.asarray(zero, np.float32))
            others[0] = np.zeros_like(others[0])
        levels = within(staircase.low, staircase.high)
        if (scale < 0).any():  # what rises with the input falls with its quotient
            levels = levels.holding(levels.times(-1))
        levels = levels.plus(int(zero))
        quantiser = NodeProto()
        quantiser.CopyFrom(node)
        held = [graph.hold(np.ones((), np.float32), f"{base}_one")]
        held += [graph.hold(value, f"{base}_{at}") for at, value in enumerate(others)]
        quantiser.name = f"{base}_quantiser"
        quantiser.input[:] = [name, *held]
        quantiser.output[0] = graph.name(f"{base}_levels")
        name = graph.put(LayerNode(quantiser), LayerTensor(shape, levels))
        size = np.ones(1) if staircase.scale is None else staircase.scale.astype(np.float64).reshape(-1)
        size = size * np.sign(scale).reshape(-1)
        return IntegerTensor(name, image, levels, size, -zero * size)

    def _signs(
        self, name: str, shape: tuple[int, ...], image: tuple[int, ...], scale: Doubles, base: str
    ) -> IntegerTensor:
        """Return bits for a quantiser to -1 and 1: 1 where the input is negative, so a value is `scale * (1 - 2 n)`.

        FINN multiplies a type of -1 and 1 by its own rule where the weights have it too; bits are plain integers.
        """
        graph = self._graph
        name = graph.add("Neg", [name], f"{base}_turned", shape)
        held = [
            graph.hold(np.asarray(value, np.float32), f"{base}_{at}") for at, value in enumerate((1, 0, 1))
        ]
        ceiling = {"signed": 0, "narrow": 0, "rounding_mode": "CEIL"}
        quantiser = helper.make_node(
            "Quant",
            [name, *held],
            [graph.name(f"{base}_bits")],
            name=f"{base}_quantiser",
            domain=QONNX,
            **ceiling,
        )
        bits = within(0, 1)
        name = graph.put(LayerNode(quantiser), LayerTensor(shape, bits))
        return IntegerTensor(name, image, bits, -2 * scale, scale)

    def channels_last(
        self,
        name: str,
        shape: tuple[int, ...],
        image: tuple[int, ...],
        ends: IntegerRange | None,
    ) -> str:
        """Return a tensor of the network with its channels last, if it is an image, whose shape `image` is."""
        if len(image) != 4:
            return name
        batch, channels, *size = image
        placed, stem = (batch, *size, channels), f"{name}_channels_last"
        if len(shape) == 4:
            return self._graph.add("Transpose", [name], stem, placed, ends, perm=[0, 2, 3, 1])
        rows = (shape[0], shape[2], shape[1])
        name = self._graph.add("Transpose", [name], f"{stem}_rows", rows, ends, perm=[0, 2, 1])
        return self._graph.add("Reshape", [name], stem, placed, ends, constant=np.asarray(placed, np.int64))

    def image_shape(self, shape: tuple[int, ...], staircase: Staircase | None = None) -> tuple[int, ...]:
        """Return the shape of an input as an image: (1, C, L) is one of the width 1 if its second axis is the channels'."""
        first = self._one_dimension or (staircase is not None and staircase.axis == -2)
        return (*shape, 1) if len(shape) == 3 and first else shape

    def floats(self, tensor: IntegerTensor, reason: Reason = NO_REASON) -> HostTensor:
        """Return the network's own values of integers, in its own layout."""
        graph = self._graph
        function = tensor.links[0] if tensor.links else None
        if isinstance(function, TabledLink):
            given = {name: self.floats(each, reason) for name, each in function.inputs.items()}
            found = self.shaped(self.apply(function.node, given, reason)[0], tensor.shape)
            return self.linked(tensor.links[1:], found, reason)
        name = tensor.name
        stem = f"{name}_value"
        if tensor.is_image:
            name = graph.add("Transpose", [name], f"{name}_image", tensor.shape, perm=[0, 3, 1, 2])
        elif tensor.order is not None:
            back = np.argsort(tensor.order)
            name = self._gathered(name, tensor, back)
        ones = (1,) * (-1 - tensor.axis)
        wide = tensor.range.magnitude > FLOAT32_END  # in float64, and rounded once
        kind = np.float64 if wide else np.float32
        if (tensor.scale != 1).any():
            operand = tensor.scale.astype(kind).reshape(-1, *ones)
            name = graph.add("Mul", [name], f"{stem}_scale", tensor.shape, constant=operand)
        if tensor.offset.any():
            operand = tensor.offset.astype(kind).reshape(-1, *ones)
            name = graph.add("Add", [name], f"{stem}_offset", tensor.shape, constant=operand)
        if wide:
            name = graph.add("Cast", [name], f"{stem}_rounded", tensor.shape, to=TensorProto.FLOAT)
        return self.linked(tensor.links, HostTensor(name, tensor.shape, False, reason), reason)

    def sum(
        self, terms: Sequence[IntegerTensor], links: Sequence[ChainLink], reason: Reason = NO_REASON
    ) -> HostTensor:
        """Return the network's own values of a sum of tensors, added from the first on, and what is pending after it."""
        found, *others = (self.floats(term, reason) for term in terms)
        for other in others:
            name = self._graph.add("Add", [found.name, other.name], f"{found.name}_sum", found.shape)
            found = HostTensor(name, found.shape, False, reason)
        return self.linked(links, found, reason)

    def _gathered(self, name: str, tensor: IntegerTensor, back: np.ndarray) -> str:
        indices = self._graph.hold(back.astype(np.int64), f"{name}_places")
        node = helper.make_node("Gather", [name, indices], [self._graph.name(f"{name}_row")], axis=1)
        return self._graph.put(LayerNode(node), LayerTensor(tensor.shape))

    def linked(self, links: Sequence[ChainLink], tensor: HostTensor, reason: Reason) -> HostTensor:
        """Return what pending operators make of floats."""
        for link in links:
            tensor = self._link(link, tensor, reason)
        return tensor

    def moved(self, tensor: HostTensor, layout: AxisLayout) -> HostTensor:
        """Return a tensor reshaped and transposed."""
        split, order, shape = layout.moves()
        name = tensor.name
        if order != tuple(sorted(order)):
            name = self._graph.reshape(name, split, None, f"{name}_shape")
            sizes = [split[axis] for axis in order]
            name = self._graph.add("Transpose", [name], f"{name}_moved", sizes, perm=list(order))
        return replace(tensor, name=self._graph.reshape(name, shape, None, f"{name}_shape"), shape=shape)

    def reshaped(self, tensor: HostTensor, shape: tuple[int, ...]) -> HostTensor:
        """Return a tensor in another shape."""
        return replace(
            tensor, name=self._graph.reshape(tensor.name, shape, None, f"{tensor.name}_shape"), shape=shape
        )

    def _link(self, link: ChainLink, tensor: HostTensor, reason: Reason) -> HostTensor:
        """Apply one pending operator, of whatever shape the tensor is.

        A normalisation is a factor and a summand, as ONNX Runtime computes it; so are a bias and a divisor by themselves.
        """
        ones = (1,) * (0 if link.axis is None else -1 - link.axis)
        if link.operand is not None:
            shaped = link.operand.reshape(-1, *ones)
            stem = f"{link.node.name or link.node.output[0]}_host"
            name = self._graph.add(link.node.op_type, [tensor.name], stem, tensor.shape, constant=shaped)
            return HostTensor(name, tensor.shape, tensor.in_front, reason)
        if link.factor is None or link.added is None:
            return self._applied(link.node, tensor, reason)
        found = tensor
        for op_type, operand, neutral in _operations(link):
            if (operand != neutral).any():
                shaped = operand.astype(np.float32).reshape(-1, *ones)
                stem = f"{link.node.name or link.node.output[0]}_{op_type.lower()}"
                name = self._graph.add(op_type, [found.name], stem, tensor.shape, constant=shaped)
                found = HostTensor(name, tensor.shape, tensor.in_front, reason)
        return found

    def _applied(self, node: NodeProto, tensor: HostTensor, reason: Reason) -> HostTensor:
        varying = next(at for at, name in enumerate(node.input) if name and self._view.constant(name) is None)
        return self.shaped(self.apply(node, {node.input[varying]: tensor}, reason)[0], tensor.shape)

    def shaped(self, tensor: HostTensor, shape: tuple[int, ...]) -> HostTensor:
        """State the shape of what an operator of single elements made of a tensor that has moved in the network."""
        self._graph.tensors[tensor.name] = LayerTensor(shape)
        return replace(tensor, shape=shape)

    def apply(self, node: NodeProto, inputs: dict[str, HostTensor], reason: Reason) -> list[HostTensor]:
        """Return what a node of the network makes of floats."""
        copy = NodeProto()
        copy.CopyFrom(node)
        stem = node.name or node.output[0]
        for at, name in enumerate(node.input):
            if name in inputs:
                copy.input[at] = inputs[name].name
            elif name:
                copy.input[at] = self._graph.hold(self._constant(name), f"{stem}_{at}")
        copy.name = self._graph.name(f"{stem}_host")
        results = []
        for at, name in enumerate(node.output):
            shape = self._view.shape(name) if name else ()
            copy.output[at] = self._graph.name(f"{name}_host") if name else ""
            results.append(
                HostTensor(copy.output[at], shape, all(i.in_front for i in inputs.values()), reason)
            )
        self._graph.put(LayerNode(copy), *(LayerTensor(each.shape) for each in results))
        return results

    def _constant(self, name: str) -> np.ndarray:
        found = self._view.constant(name)
        assert found is not None
        return found


def _operations(link: ChainLink) -> list[tuple[str, np.ndarray, int]]:
    """Return the products, quotients and sums of a pending operator, and which operand would do nothing."""
    assert link.factor is not None and link.added is not None
    if link.node.op_type == "Div":
        return [("Div", 1 / link.factor, 1)]  # which rounds to the network's own divisor
    if link.node.op_type in MEANS:
        return [("Div", np.rint(1 / link.factor), 1)]
    return [("Mul", link.factor, 1), ("Add", link.added, 0)]


def _channels_last(operand: np.ndarray, rank: int) -> np.ndarray:
    """Return an operand of images in the network's layout as one of images whose channels are last."""
    if operand.size == 1:
        return operand
    whole = operand.reshape((1,) * (rank - operand.ndim) + operand.shape)
    return (whole if rank == 4 else whole[..., None]).transpose(0, 2, 3, 1)
