"""Convolutions, of ONNX and of QONNX's channels last; and operators of images that programs leave to ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.images import Geometry, OfImages, geometry_of, space_of
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.exact_products import FLOAT32_END, exact_type, product_bound, product_span
from brainsmith.execution.program.functions import windows
from brainsmith.graph.model_facts import span_of
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST, STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.node_view import NodeView, Span

Array = np.ndarray[Any, Any]


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
        span = self._span(node)
        if span is None or span_of(self.weights) is None:
            node.rounds_differently()
        exact = exact_type(span, self._matrix)
        inputs = [image, node.hold(self.weights.astype(exact)), node.inputs[2] if node.given(2) else ""]
        groups = node.attribute("group", 1)
        return node.emit(windows.convolve, inputs, outputs, **vars(self.geometry), groups=groups, exact=exact)

    def parameters(self, node: NodeView, emit: Emitter) -> list[str]:
        """Return the names of weights and bias."""
        return [emit.constant(self.weights, "weights"), *node.inputs[2:]]

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a convolution.

        Raises:
            Unsupported: Its sums may be too large for float32.
        """
        super().to_onnx(node, emit)
        if (span := self._span(node)) is None or self._sums(node) is None:
            return
        partial = float(product_bound(span, self._matrix) + max(map(abs, self._bias(node) or (0,))))
        if partial >= FLOAT32_END:
            raise Unsupported(f"its sums may reach {partial:.3g}, beyond 2^24, where float32 is not exact")

    def prove(self, node: NodeView) -> None:
        """Work it out of weights and bias."""
        if (sums := self._sums(node)) is not None:
            node.prove(node.outputs[0], *sums)

    @property
    def _matrix(self) -> Array:
        return self.weights.reshape(len(self.weights), -1).T

    @staticmethod
    def _span(node: NodeView) -> Span | None:
        """Return between which whole numbers the image and its padding lie."""
        span = node.span(node.inputs[0])
        return None if span is None else (min(span[0], 0), max(span[1], 0))

    @staticmethod
    def _bias(node: NodeView) -> Span | None:
        return node.span(node.inputs[2]) if node.given(2) else (0, 0)

    def _sums(self, node: NodeView) -> Span | None:
        """Return between which whole numbers the results lie."""
        span, bias = self._span(node), self._bias(node)
        sums = None if span is None else product_span(span, self._matrix)
        return None if sums is None or bias is None else (sums[0] + bias[0], sums[1] + bias[1])


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
