"""Pooling in QONNX and FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.quantised_average import FUNCTION
from brainsmith.execution.standard_onnx.emitter import FLOAT_LIMIT
from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

TO_FIRST, TO_LAST = [0, 3, 1, 2], [0, 2, 3, 1]
"""Of images: channels from last to first, and back."""


@rewrites(QONNX, "QuantAvgPool2d")
def rewrite_quant_average(view: NodeView, emit: Emitter) -> None:
    """Write the sum of each window, as QONNX gets it from the mean, shifted right.

    Source: `QuantAvgPool2d.execute_node` of QONNX.
    """
    kernel, stride = view.attribute("kernel", 1), view.attribute("stride", 1)
    largest = (2 ** view.attribute("ibits", 1) - 1) * kernel * kernel
    shift = max(0, largest.bit_length() - view.attribute("obits", 1))
    last = view.attribute("data_layout", "NCHW") == "NHWC"
    x = view.inputs[0]
    x = emit.add("Transpose", [x], perm=TO_FIRST) if last else x
    x = emit.add("AveragePool", [x], kernel_shape=[kernel, kernel], strides=[stride, stride])
    x = emit.add("Round", [emit.affine(x, float(kernel * kernel), 0.0)])
    x = emit_shift(emit, x, shift, "" if last else view.outputs[0])
    if last:
        emit.add("Transpose", [x], view.outputs[0], perm=TO_LAST)
    if (span := view.span(view.inputs[0])) is not None:
        low, high = (end * kernel * kernel / 2**shift for end in span)
        view.prove(view.outputs[0], low, high)


@rewrites(QONNX, "MaxPoolNHWC")
def rewrite_max_pool(view: NodeView, emit: Emitter) -> None:
    """Write a MaxPool between two transposes."""
    names = ("kernel_shape", "pads", "strides", "ceil_mode")
    stated = {name: view.attribute(name) for name in names if view.attribute(name) is not None}
    first = emit.add("Transpose", [view.inputs[0]], perm=TO_FIRST)
    pooled = emit.add("MaxPool", [first], **stated)
    emit.add("Transpose", [pooled], view.outputs[0], perm=TO_LAST)
    view.prove_moved()


@rewrites(FINN, "Pool")
def rewrite_pool(view: NodeView, emit: Emitter) -> None:
    """Write the maximum, sum, mean or shifted sum of windows that lie beside each other.

    A mean that is shifted is what the hardware computes, which FINN's own Python model is not
    (`quantised_average`).

    Raises:
        Unsupported: The function is unknown, or its sums are too large for float32.
    """
    function = view.attribute("Function", "MaxPool")
    channels, kernel = view.needed("Channels"), view.needed("KernelSize")
    window = kernel[0] * kernel[1]
    shape, output = view.shape(view.inputs[0]), view.outputs[0]
    span = view.span(view.inputs[0])
    axes = [len(shape) - 1]
    parts = _apart(view, emit, (*shape[:-1], window, channels))
    if function == "MaxPool":
        result = emit.maximum_over(parts, axes, keep=False)
    elif function in ("AccPool", "AvgPool", FUNCTION):
        if span is not None and max(map(abs, span)) * window >= FLOAT_LIMIT:
            raise Unsupported(f"its sums of {window} may reach {FLOAT_LIMIT}, where float32 is not exact")
        result = emit.sum_over(parts, axes, keep=False)
    else:
        raise Unsupported(f"its function {function!r} is unknown")
    if function == "AvgPool":
        result = emit.add("Div", [result, emit.constant(window, "scalar")])
    if function == FUNCTION:
        result = emit_shift(emit, result, view.attribute("Size", 0))
    emit.reshaped(result, view.shape(output), output)
    if span is not None and function != "AvgPool":
        ends = [end if function == "MaxPool" else end * window for end in span]
        shift = view.attribute("Size", 0) if function == FUNCTION else 0
        view.prove(output, ends[0] / 2**shift, ends[1] / 2**shift)


@rewrites(FINN, "GlobalAccPool")
def rewrite_global_sum(view: NodeView, emit: Emitter) -> None:
    """Write the sums over the pixels of (N, H, W, C)."""
    shape, output = view.shape(view.inputs[0]), view.outputs[0]
    if len(shape) != 4:
        raise Unsupported(f"its image must have 4 axes, not shape {shape}")
    total = emit.sum_over(view.inputs[0], [1, 2], keep=True)
    emit.reshaped(total, view.shape(output), output)
    if (span := view.span(view.inputs[0])) is not None:
        low, high = (end * shape[1] * shape[2] for end in span)
        view.prove(output, low, high)


def emit_shift(emit: Emitter, x: str, bits: int, output: str = "") -> str:
    """Write a shift right by bits, towards minus infinity; exact, because a power of two only moves the exponent."""
    if not bits:
        return emit.add("Identity", [x], output) if output else x
    return emit.add("Floor", [emit.affine(x, 2.0**-bits, 0.0)], output)


def _apart(view: NodeView, emit: Emitter, shape: tuple[int, ...]) -> str:
    """Return windows as (..., positions, channels); what stays RTL takes them by groups of PE channels."""
    *outer, window, channels = shape
    lanes = view.attribute("PE", 1)
    if not view.node.op_type.endswith("_rtl") or lanes == channels:
        return emit.reshaped(view.inputs[0], shape)
    folds = emit.reshaped(view.inputs[0], (*outer, channels // lanes, window, lanes))
    rank = len(outer) + 3
    moved = emit.add("Transpose", [folds], perm=[*range(rank - 3), rank - 2, rank - 3, rank - 1])
    return emit.reshaped(moved, shape)
