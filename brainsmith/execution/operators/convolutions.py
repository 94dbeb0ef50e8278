"""Convolutions, of ONNX and of QONNX's channels last; and operators of images that programs leave to ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.operators.images import OfImages, geometry_of, space_of
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.exact_products import Sums, sums_of
from brainsmith.execution.program.functions import windows
from brainsmith.execution.program.functions.windows import Geometry
from brainsmith.graph.array_types import Array
from brainsmith.graph.integer_range import FLOAT32_END, IntegerRange, within
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST, STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView


@dataclass(frozen=True)
class Convolution(OfImages):
    """A convolution with constant weights and a constant bias.

    Attributes:
        weights: (filters, channels of a group, *kernel).
        geometry: Of the windows.
    """

    weights: Array
    geometry: Geometry

    def computed(self, node: ProgramNode, image: str, outputs: Sequence[str] | None) -> str:
        """Convolve, exactly where image and weights are whole numbers.

        Raises:
            Unsupported: The weights are not float32.
        """
        if self.weights.dtype != np.float32:
            raise Unsupported(f"its type is {self.weights.dtype}")
        products = self._products(node)
        if products is None:
            node.rounds_differently()
        exact = "float32" if products is None else products.exact
        inputs = [image, node.hold(self.weights.astype(exact)), node.inputs[2] if node.given(2) else ""]
        groups = node.attribute("group", 1)
        return node.emit(
            windows.convolve, inputs, outputs, geometry=self.geometry, groups=groups, exact=exact
        )

    def parameters(self, node: NodeView, emit: Emitter) -> list[str]:
        """Return the names of weights and bias."""
        return [emit.constant(self.weights, "weights"), *node.inputs[2:]]

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a convolution.

        Raises:
            Unsupported: Its sums may be too large for float32.
        """
        super().to_onnx(node, emit)
        products, bias = self._products(node), self._bias(node)
        if products is None or bias is None:
            return
        partial = float(products.bound + bias.magnitude)
        if partial >= FLOAT32_END:
            raise Unsupported(f"its sums may reach {partial:.3g}, beyond 2^24, where float32 is not exact")

    def prove(self, node: NodeView) -> None:
        """Work it out of weights and bias."""
        products, bias = self._products(node), self._bias(node)
        if products is not None and bias is not None:
            node.prove(node.outputs[0], *products.range.plus(bias).ends)

    def _products(self, node: NodeView) -> Sums | None:
        """Return the sums of products with the image and its padding; None if they are not of whole numbers."""
        given = node.range(node.inputs[0], 1)
        padded = None if given is None else given.holding(0)
        return sums_of(padded, self.weights.reshape(len(self.weights), -1).T)

    @staticmethod
    def _bias(node: NodeView) -> IntegerRange | None:
        return node.range(node.inputs[2]) if node.given(2) else within(0, 0)


@reads(STANDARD, "Conv")
@reads(CHANNELS_LAST, "Conv")
def convolution(node: NodeView) -> Convolution:
    """Read one; with the channels last, its weights are (filters, *kernel, channels)."""
    last, weights = node.family == CHANNELS_LAST, node.needed_constant(1, "weight")
    if node.given(2):
        node.needed_constant(2, "bias")
    if last:
        weights = np.moveaxis(weights, -1, 1)
    return Convolution(
        last, weights, geometry_of(node, space_of(node, node.inputs[0], last), weights.shape[2:])
    )


@reads(STANDARD, "ConvTranspose", "GlobalLpPool", "InstanceNormalization", "LRN", "LpPool")
def other(node: NodeView) -> Apart:
    """Read one that programs leave to ONNX Runtime."""
    if any(map(node.is_computed, range(1, len(node.inputs)))):
        raise Unsupported("its parameters are computed")
    return Apart()
