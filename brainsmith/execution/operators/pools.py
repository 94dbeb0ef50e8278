"""Pooling of images: of ONNX, of QONNX with the channels last or shifted, Pool and GlobalAccPool of FINN."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from brainsmith.execution.operators.images import OfImages, geometry_of, space_of
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.operators.windows import IMAGE
from brainsmith.execution.program.exact_products import type_of_bound
from brainsmith.execution.program.functions import images, reductions, shapes, windows
from brainsmith.execution.program.functions.windows import Geometry
from brainsmith.graph.array_types import Shape
from brainsmith.graph.integer_range import FLOAT32_END
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import CHANNELS_LAST, FINN, QONNX, STANDARD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.execution.program.program_node import ProgramNode
    from brainsmith.graph.integer_range import IntegerRange
    from brainsmith.graph.node_view import NodeView


FUNCTION = "QuantAvgPool"
"""Whose sums are shifted.

QONNX's QuantAvgPool2d derives the shift from the bits that it states of its input and output; FINN's kernel notes it as
`Size`, which its HLS reads. The datatypes may be others, and change when they are minimised.
"""

EXACT_MEANS = 1 << 22
"""Sums below this are what their mean, rounded to float32, times the count is rounded to."""


@dataclass(frozen=True)
class WindowPool(Apart):
    """The maximum, sum, mean or shifted sum of windows that lie beside each other.

    A shifted sum is what the hardware computes; FINN's own Python model shifts by another number of bits.

    Attributes:
        function: As FINN names them.
        channels: Of a position.
        window: Positions of a window.
        shift: Bits by which a sum is shifted right.
        lanes: Channels that come at a time, all positions of each.
    """

    function: str
    channels: int
    window: int
    shift: int
    lanes: int

    def to_program(self, node: ProgramNode) -> None:
        """Reduce each window."""
        source = node.inputs[0]
        if self.lanes != self.channels:
            source = node.emit(images.gather_channels, [source], channels=self.channels, lanes=self.lanes)
        kind, shift = self.function, self.shift
        if (doubles := node.is_double(node.outputs[0])) and not node.is_double(node.inputs[0]):
            source = node.emit(shapes.cast, [source], dtype="float64")
        made = node.emit(images.pool_windows, [source], channels=self.channels, kind=kind, shift=shift)
        if node.is_double(node.inputs[0]) and not doubles:
            made = node.emit(shapes.cast, [made], dtype="float32")
        node.emit_reshaped(made)
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Reduce each window.

        Raises:
            Unsupported: Its sums are too large for float32.
        """
        shape, output = node.shape(node.inputs[0]), node.outputs[0]
        span, axes = node.span(node.inputs[0]), [len(shape) - 1]
        doubles = node.is_double(output)
        parts = self._apart(node, emit, shape[:-1])
        if doubles and not node.is_double(node.inputs[0]):
            parts = emit.add("Cast", [parts], to=11)
        if self.function == "MaxPool":
            result = emit.maximum_over(parts, axes, keep=False)
        elif span is not None and not doubles and max(map(abs, span)) * self.window >= FLOAT32_END:
            reach = f"its sums of {self.window} values may reach {FLOAT32_END}"
            raise Unsupported(f"{reach}, where float32 is not exact")
        else:
            result = emit.sum_over(parts, axes, keep=False)
        if self.function == "AvgPool":
            result = emit.add("Div", [result, emit.constant(self.window, "scalar")])
        if self.function == FUNCTION:
            result = _shifted(emit, result, self.shift)
        emit.reshaped(result, node.shape(output), output)
        self._prove(node)

    def _apart(self, node: NodeView, emit: Emitter, outer: tuple[int, ...]) -> str:
        """Write windows as (..., positions, channels)."""
        shape = (*outer, self.window, self.channels)
        if self.lanes == self.channels:
            return emit.reshaped(node.inputs[0], shape)
        folds = (*outer, self.channels // self.lanes, self.window, self.lanes)
        rank = len(folds)
        order = [*range(rank - 3), rank - 2, rank - 3, rank - 1]
        moved = emit.add("Transpose", [emit.reshaped(node.inputs[0], folds)], perm=order)
        return emit.reshaped(moved, shape)

    def _prove(self, node: NodeView) -> None:
        given = node.range(node.inputs[0])
        if self.function == "MaxPool":
            node.prove_moved()
        elif given is not None and self.function != "AvgPool":
            node.prove_range(node.outputs[0], given.times(self.window).shifted_right(self.shift))


@dataclass(frozen=True)
class ImagePool(OfImages):
    """The greatest value or the mean of each window.

    Attributes:
        kernel: Sizes of a window.
        geometry: Of the windows.
        average: Whether it is the mean.
    """

    kernel: Shape
    geometry: Geometry
    average: bool

    def computed(self, node: ProgramNode, image: str, outputs: Sequence[str] | None) -> str:
        """Pool.

        Raises:
            Unsupported: It gives places, too, or means of windows that are cut off.
        """
        if any(node.outputs[1:]):
            raise Unsupported("it returns indices")
        if self.average:
            node.rounds_differently()
            if node.attribute("ceil_mode", 0):
                raise Unsupported("its last windows may be incomplete (ceil_mode)")
        counted = bool(node.attribute("count_include_pad", 0))
        return _pooled(node, image, outputs, self.kernel, self.geometry, self.average, counted)

    def to_program(self, node: ProgramNode) -> None:
        """Pool; of whole numbers only a zero's sign may be another, and QONNX's own operators take long."""
        super().to_program(node)
        if not self.average and not (self.last and node.span(node.inputs[0]) is not None):
            node.treats_ends_differently()

    def prove(self, node: NodeView) -> None:
        """Prove of the greatest values that they are some of those given."""
        if not self.average and not any(node.outputs[1:]):
            node.prove_moved()


@dataclass(frozen=True)
class ShiftedMean(OfImages):
    """The sum of each window, as QONNX gets it from the mean, shifted right.

    Source: `QuantAvgPool2d.execute_node` of QONNX.

    Attributes:
        kernel: Sizes of a window.
        geometry: Of the windows.
        shift: Bits.
    """

    kernel: Shape
    geometry: Geometry
    shift: int

    def computed(self, node: ProgramNode, image: str, outputs: Sequence[str] | None) -> str:
        """Take means, and of these sums.

        Raises:
            Unsupported: The sums may not be exact.
        """
        span, count = node.span(node.inputs[0]), prod(self.kernel)
        if span is None or count * max(map(abs, span)) >= EXACT_MEANS:
            raise Unsupported("its sums may not be exact")
        means = _pooled(node, image, None, self.kernel, self.geometry, average=True)
        return node.emit(images.shift_sums, [means], outputs, count=count, shift=self.shift)

    def written(self, node: NodeView, emit: Emitter, image: str, output: str) -> str:
        """Write means, and of these sums."""
        strides = self.geometry.strides
        means = emit.add("AveragePool", [image], kernel_shape=self.kernel, strides=strides)
        sums = emit.add("Round", [emit.affine(means, float(prod(self.kernel)), 0.0)])
        return _shifted(emit, sums, self.shift, output)

    def prove(self, node: NodeView) -> None:
        """Work it out of the sums."""
        if (given := node.range(node.inputs[0])) is not None:
            node.prove_range(node.outputs[0], given.times(prod(self.kernel)).shifted_right(self.shift))


@dataclass(frozen=True)
class ImageSum(Apart):
    """The sums over the pixels of (N, H, W, C)."""

    def to_program(self, node: ProgramNode) -> None:
        """Sum rows, then columns."""
        sums = self._sums(node)
        made, exact = node.inputs[0], type_of_bound(0 if sums is None else sums.magnitude)
        if node.is_double(node.outputs[0]) and not node.is_double(made):
            made = node.emit(shapes.cast, [made], dtype="float64")
        for axis in (1, 2):
            made = node.emit(reductions.reduce, [made], name="Sum", axes=(axis,), keep=True, exact=exact)
        node.emit_reshaped(made)
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a sum."""
        given = node.inputs[0]
        if node.is_double(node.outputs[0]) and not node.is_double(given):
            given = emit.add("Cast", [given], to=11)
        total = emit.sum_over(given, [1, 2], keep=True)
        emit.reshaped(total, node.shape(node.outputs[0]), node.outputs[0])
        self._prove(node)

    def _sums(self, node: NodeView) -> IntegerRange | None:
        _, height, width, _ = node.shape(node.inputs[0])
        given = node.range(node.inputs[0])
        return None if given is None else given.times(height * width)

    def _prove(self, node: NodeView) -> None:
        if (sums := self._sums(node)) is not None:
            node.prove_range(node.outputs[0], sums)


@reads(FINN, "Pool")
def window_pool(node: NodeView) -> WindowPool:
    """Read one; what stays RTL takes windows by groups of PE channels."""
    channels, function = node.needed("Channels"), node.needed("Function")
    if function not in ("MaxPool", "AccPool", "AvgPool", FUNCTION):
        raise Unsupported(f"its function {function!r} is unknown")
    lanes = node.attribute("PE", 1) if node.op_type.endswith("_rtl") else channels
    shift = node.attribute("Size", 0) if function == FUNCTION else 0
    return WindowPool(function, channels, node.shape(node.inputs[0])[-1] // channels, shift, lanes)


@reads(STANDARD, "MaxPool", "AveragePool")
@reads(CHANNELS_LAST, "MaxPool")
@reads(QONNX, "MaxPoolNHWC")
def pool(node: NodeView) -> ImagePool:
    """Read one."""
    last, average = node.family != STANDARD, node.kind == "AveragePool"
    kernel, image = tuple(node.needed("kernel_shape")), space_of(node, node.inputs[0], last)
    geometry = geometry_of(node, image, kernel)
    if not average:
        geometry = geometry.for_windows(space_of(node, node.outputs[0], last), image, kernel)
    return ImagePool(last, kernel, geometry, average)


@reads(QONNX, "QuantAvgPool2d")
def quantised_mean(node: NodeView) -> ShiftedMean:
    """Read one, whose numbers of bits say by how much is shifted."""
    kernel, stride = node.needed("kernel"), node.needed("stride")
    largest = (2 ** node.needed("ibits") - 1) * kernel * kernel
    shift = max(largest.bit_length() - node.needed("obits"), 0)
    geometry = Geometry((stride,) * 2, (1, 1), (0, 0), (0, 0))
    return ShiftedMean(node.attribute("data_layout", "NCHW") == "NHWC", (kernel,) * 2, geometry, shift)


@reads(FINN, "GlobalAccPool")
def sum_image(node: NodeView) -> ImageSum:
    """Read one."""
    shape = node.shape(node.inputs[0])
    if len(shape) != IMAGE:
        raise Unsupported(f"its image must have 4 axes, not shape {shape}")
    return ImageSum()


def _pooled(
    node: ProgramNode, image: str, outputs: Sequence[str] | None, kernel: Shape, geometry: Geometry, average: bool,
    count_padding: bool = False,
) -> str:  # fmt: skip
    """Emit a pool of an image with the channels in the second axis; return what it gives."""
    stated = {"kernel": kernel, "geometry": geometry, "average": average, "count_padding": count_padding}
    return node.emit(windows.pool, [image], outputs, **stated)


def _shifted(emit: Emitter, x: str, bits: int, output: str = "") -> str:
    """Write a shift right by bits, towards minus infinity; exact, because a power of two only moves the exponent."""
    if not bits:
        return emit.add("Identity", [x], output) if output else x
    return emit.add("Floor", [emit.affine(x, 2.0**-bits, 0.0)], output)
