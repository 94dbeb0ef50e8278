"""Pooling of images: Pool and GlobalAccPool of FINN, MaxPoolNHWC and QuantAvgPool2d of QONNX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.execution.lowering.hardware import emit_reshaped
from brainsmith.execution.lowering.products import FLOAT32_END, type_of_bound
from brainsmith.execution.operators.registry import Apart, reads
from brainsmith.execution.operators.windows import IMAGE
from brainsmith.execution.program.functions import images, reductions, shapes, windows
from brainsmith.execution.quantised_average import FUNCTION
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.lowering.program_node import ProgramNode
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

Pair = tuple[int, int]

TO_FIRST, TO_LAST = (0, 3, 1, 2), (0, 2, 3, 1)
"""Of images: channels from last to first, and back."""

EXACT_MEANS = 1 << 22
"""Sums below this are what their mean, rounded to float32, times the count is rounded to."""


@dataclass(frozen=True)
class WindowPool(Apart):
    """The maximum, sum, mean or shifted sum of windows that lie beside each other.

    A mean that is shifted is what the hardware computes, which FINN's own Python model is not (`quantised_average`).

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
        made = node.emit(images.pool_windows, [source], channels=self.channels, kind=kind, shift=shift)
        emit_reshaped(node, made)
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Reduce each window.

        Raises:
            Unsupported: Its sums are too large for float32.
        """
        shape, output = node.shape(node.inputs[0]), node.outputs[0]
        span, axes = node.span(node.inputs[0]), [len(shape) - 1]
        parts = self._apart(node, emit, shape[:-1])
        if self.function == "MaxPool":
            result = emit.maximum_over(parts, axes, keep=False)
        elif span is not None and max(map(abs, span)) * self.window >= FLOAT32_END:
            reach = f"its sums of {self.window} may reach {FLOAT32_END}"
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
        span = node.span(node.inputs[0])
        if self.function == "MaxPool":
            node.prove_moved()
        elif span is not None and self.function != "AvgPool":
            low, high = (end * self.window >> self.shift for end in span)
            node.prove(node.outputs[0], low, high)


@dataclass(frozen=True)
class ImageMaximum(Apart):
    """The greatest value of each window of (N, H, W, C).

    Attributes:
        kernel: Height and width of a window; as all that follow, rows first.
        strides: Between windows.
        pads: Rows above, columns to the left, rows below, columns to the right.
        ceil: Whether windows may reach beyond the end.
    """

    kernel: Pair
    strides: Pair
    pads: tuple[int, ...]
    ceil: int

    def to_program(self, node: ProgramNode) -> None:
        """Pool, with as much padding as the stated size needs."""
        given, wanted = node.shape(node.inputs[0])[1:3], node.shape(node.outputs[0])[1:3]
        reach = [
            (n - 1) * step + size for n, step, size in zip(wanted, self.strides, self.kernel, strict=True)
        ]
        before = self.pads[:2]
        after = tuple(max(r - n - p, 0) for r, n, p in zip(reach, given, before, strict=True))
        moved = node.emit(shapes.transpose, node.inputs, order=TO_FIRST)
        pooled = _pooled(node, moved, self.kernel, self.strides, before, after)
        node.emit(shapes.transpose, [pooled], node.outputs, order=TO_LAST)
        node.prove_moved()
        if (
            node.span(node.inputs[0]) is None
        ):  # of whole numbers only a zero's sign is other, and QONNX takes long
            node.treats_ends_differently()

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a MaxPool between two transposes."""
        first = emit.add("Transpose", node.inputs, perm=TO_FIRST)
        stated: dict[str, Any] = {"pads": self.pads, "strides": self.strides, "ceil_mode": self.ceil}
        pooled = emit.add("MaxPool", [first], "", kernel_shape=self.kernel, **stated)
        emit.add("Transpose", [pooled], node.outputs[0], perm=TO_LAST)
        node.prove_moved()


@dataclass(frozen=True)
class ShiftedMean(Apart):
    """The sum of each square window, as QONNX gets it from the mean, shifted right.

    Source: `QuantAvgPool2d.execute_node` of QONNX.

    Attributes:
        kernel: Pixels of a window's side.
        stride: Between windows.
        shift: Bits.
        last: Whether the channels lie in the last axis.
    """

    kernel: int
    stride: int
    shift: int
    last: bool

    def to_program(self, node: ProgramNode) -> None:
        """Take means, and of these sums.

        Raises:
            Unsupported: The sums may not be exact.
        """
        span, count = node.span(node.inputs[0]), self.kernel**2
        if span is None or count * max(map(abs, span)) >= EXACT_MEANS:
            raise Unsupported("its sums may not be exact")
        source = node.emit(shapes.transpose, node.inputs, order=TO_FIRST) if self.last else node.inputs[0]
        means = _pooled(node, source, (self.kernel,) * 2, (self.stride,) * 2, (0, 0), (0, 0), average=True)
        if self.last:
            means = node.emit(shapes.transpose, [means], order=TO_LAST)
        node.emit(images.shift_sums, [means], node.outputs, count=count, shift=self.shift)
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write means, and of these sums."""
        x = emit.add("Transpose", node.inputs, perm=TO_FIRST) if self.last else node.inputs[0]
        x = emit.add("AveragePool", [x], kernel_shape=[self.kernel] * 2, strides=[self.stride] * 2)
        x = emit.add("Round", [emit.affine(x, float(self.kernel**2), 0.0)])
        x = _shifted(emit, x, self.shift, "" if self.last else node.outputs[0])
        if self.last:
            emit.add("Transpose", [x], node.outputs[0], perm=TO_LAST)
        self._prove(node)

    def _prove(self, node: NodeView) -> None:
        if (span := node.span(node.inputs[0])) is not None:
            low, high = (end * self.kernel**2 >> self.shift for end in span)
            node.prove(node.outputs[0], low, high)


@dataclass(frozen=True)
class ImageSum(Apart):
    """The sums over the pixels of (N, H, W, C)."""

    def to_program(self, node: ProgramNode) -> None:
        """Sum rows, then columns."""
        span = node.span(node.inputs[0])
        bound = 0 if span is None else self._count(node) * max(map(abs, span))
        made, exact = node.inputs[0], type_of_bound(bound)
        for axis in (1, 2):
            made = node.emit(reductions.reduce, [made], name="Sum", axes=(axis,), keep=True, exact=exact)
        emit_reshaped(node, made)
        self._prove(node)

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Write a sum."""
        total = emit.sum_over(node.inputs[0], [1, 2], keep=True)
        emit.reshaped(total, node.shape(node.outputs[0]), node.outputs[0])
        self._prove(node)

    def _count(self, node: NodeView) -> int:
        _, height, width, _ = node.shape(node.inputs[0])
        return height * width

    def _prove(self, node: NodeView) -> None:
        if (span := node.span(node.inputs[0])) is not None:
            low, high = (end * self._count(node) for end in span)
            node.prove(node.outputs[0], low, high)


@reads(FINN, "Pool")
def pool(node: NodeView) -> WindowPool:
    """Read one; what stays RTL takes windows by groups of PE channels."""
    channels, function = node.needed("Channels"), node.needed("Function")
    if function not in ("MaxPool", "AccPool", "AvgPool", FUNCTION):
        raise Unsupported(f"its function {function!r} is unknown")
    lanes = node.attribute("PE", 1) if node.op_type.endswith("_rtl") else channels
    shift = node.attribute("Size", 0) if function == FUNCTION else 0
    return WindowPool(function, channels, node.shape(node.inputs[0])[-1] // channels, shift, lanes)


@reads(QONNX, "MaxPoolNHWC")
def max_pool(node: NodeView) -> ImageMaximum:
    """Read one."""
    kernel, strides, pads = (tuple(node.needed(name)) for name in ("kernel_shape", "strides", "pads"))
    return ImageMaximum(kernel, strides, pads, node.attribute("ceil_mode", 0))


@reads(QONNX, "QuantAvgPool2d")
def quantised_mean(node: NodeView) -> ShiftedMean:
    """Read one, whose numbers of bits say by how much is shifted."""
    kernel = node.needed("kernel")
    largest = (2 ** node.needed("ibits") - 1) * kernel * kernel
    shift = max(largest.bit_length() - node.needed("obits"), 0)
    return ShiftedMean(kernel, node.needed("stride"), shift, node.attribute("data_layout", "NCHW") == "NHWC")


@reads(FINN, "GlobalAccPool")
def sum_image(node: NodeView) -> ImageSum:
    """Read one."""
    shape = node.shape(node.inputs[0])
    if len(shape) != IMAGE:
        raise Unsupported(f"its image must have 4 axes, not shape {shape}")
    return ImageSum()


def _pooled(
    node: ProgramNode, source: str, kernel: Pair, strides: Pair, before: tuple[int, ...], after: tuple[int, ...],
    average: bool = False,
) -> str:  # fmt: skip
    return node.emit(
        windows.pool, [source],
        kernel=kernel, strides=strides, dilations=(1, 1), before=before, after=after, average=average,
        count_padding=False,
    )  # fmt: skip


def _shifted(emit: Emitter, x: str, bits: int, output: str = "") -> str:
    """Write a shift right by bits, towards minus infinity; exact, because a power of two only moves the exponent."""
    if not bits:
        return emit.add("Identity", [x], output) if output else x
    return emit.add("Floor", [emit.affine(x, 2.0**-bits, 0.0)], output)
