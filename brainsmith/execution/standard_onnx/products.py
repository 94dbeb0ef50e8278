"""Matrix products of integers: XnorPopcountMatMul of QONNX, MVAU and VVAU of FINN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.operators.thresholds import activation
from brainsmith.execution.standard_onnx.counting import emit_levels
from brainsmith.execution.standard_onnx.emitter import DOUBLE_LIMIT, FLOAT_LIMIT
from brainsmith.execution.standard_onnx.plans import rewrites
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, QONNX

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView, Span

Array = np.ndarray[Any, Any]

_KERNELS_OF_WINDOWS = ("Im2Col", "ConvolutionInputGenerator")


def product_span(weights: Array, span: Span) -> tuple[float, float, float]:
    """Bound the products of rows that hold whole numbers of a span with the columns of a matrix.

    Args:
        weights: (K, N), whole numbers.
        span: Least and greatest of what a row holds.

    Returns:
        Least and greatest product; the largest that any partial sum can be, in size.
    """
    wide = weights.astype(np.float64)
    above, below = np.maximum(wide, 0).sum(axis=0), np.minimum(wide, 0).sum(axis=0)
    low, high = above * span[0] + below * span[1], above * span[1] + below * span[0]
    partial = (above - below) * max(map(abs, span))
    return float(low.min()), float(high.max()), float(partial.max())


def emit_product(view: NodeView, emit: Emitter, x: str, weights: Array, output: str = "") -> str:
    """Write x @ weights: in float32 if that is exact or need not be, else in float64.

    Raises:
        Unsupported: Whole numbers become too large for float64.
    """
    span = view.span(x)
    whole = span is not None and bool(np.array_equal(weights, np.rint(weights)))
    matrix = emit.constant(weights, "weights")
    if not whole or span is None:
        return emit.add("MatMul", [x, matrix], output)
    low, high, partial = product_span(weights, span)
    if partial < FLOAT_LIMIT:
        product = emit.add("MatMul", [x, matrix], output)
    elif partial < DOUBLE_LIMIT:
        wide = emit.add("Cast", [x], to=11)
        exact = emit.add("MatMul", [wide, emit.constant(weights, "weights", np.float64)])
        product = emit.add("Cast", [exact], output, to=1)
    else:
        raise Unsupported(f"its sums may reach {partial:.3g}, beyond 2^53, where float64 is not exact")
    view.prove(product, low, high)
    return product


@rewrites(QONNX, "XnorPopcountMatMul")
def rewrite_xnor(view: NodeView, emit: Emitter) -> None:
    """Write how many bits of a row and a column agree.

    Raises:
        Unsupported: The second matrix changes.
    """
    weights = view.needed_constant(1, "second matrix")
    if weights.ndim != 2:
        raise Unsupported(f"its second matrix must have 2 axes, not shape {weights.shape}")
    _agreements(view, emit, view.inputs[0], weights, view.outputs[0])


def _agreements(view: NodeView, emit: Emitter, x: str, weights: Array, output: str = "") -> str:
    """Write the products of bits read as -1 and 1, of which half of the sum with their number agree."""
    signs = emit.affine(x, 2.0, -1.0)
    if (span := view.span(x)) is not None:
        view.prove(signs, 2 * span[0] - 1, 2 * span[1] - 1)
    product = emit_product(view, emit, signs, np.asarray(2.0 * weights - 1.0, np.float32))
    total = emit.add("Add", [product, emit.constant(len(weights), "scalar")])
    result = emit.add("Mul", [total, emit.constant(0.5, "scalar")], output)
    if view.span(x) in ((0, 1), (0, 0), (1, 1)):
        view.prove(result, 0, len(weights))
    return result


@rewrites(FINN, "MVAU")
def rewrite_mvau(view: NodeView, emit: Emitter) -> None:
    """Write a matrix product, and the thresholds if it has some.

    Source: `MVAU.execute_node` of FINN; two bipolar operands count agreements there.

    Raises:
        Unsupported: The weights or thresholds change, or the sums cannot be exact.
    """
    weights = view.needed_constant(1, "weights")
    vectors = view.attribute("numInputVectors", [1])
    rows = view.shape(view.inputs[0])
    given = (*vectors, view.needed("MW"))
    x = view.inputs[0]
    if rows != given:
        x = emit.reshaped(x, given)
        if (span := view.span(view.inputs[0])) is not None:
            view.prove(x, *span)
    plain = not view.attribute("noActivation", 0)
    bipolar = view.attribute("inputDataType") == view.attribute("weightDataType") == "BIPOLAR"
    result = (*vectors, view.needed("MH"))
    straight = not plain and result == view.shape(view.outputs[0])
    output = view.outputs[0] if straight else ""
    if view.attribute("binaryXnorMode", 0):
        product = _agreements(view, emit, x, weights, output)
    elif bipolar:
        halves = emit.affine(emit.affine(x, 1.0, 1.0), 0.5, 0.0)
        view.prove(halves, 0, 1)
        product = _agreements(view, emit, halves, (weights + 1) / 2, output)
    else:
        product = emit_product(view, emit, x, weights, output)
    if plain:
        _thresholded(view, emit, product, result)
    elif not straight:
        emit.reshaped(product, view.shape(view.outputs[0]), view.outputs[0])
        _pass_span(view, product)


@rewrites(FINN, "VVAU")
def rewrite_vvau(view: NodeView, emit: Emitter) -> None:
    """Write the product of each channel's window with its own weights, and the thresholds if it has some.

    Source: `VVAU.execute_node` of FINN: windows hold groups of PE channels, or of all where they come from the
        kernel of the sliding window.

    Raises:
        Unsupported: The weights or thresholds change, or the sums cannot be exact.
    """
    weights = view.needed_constant(1, "weights")
    channels, (rows, columns) = view.needed("Channels"), view.needed("Kernel")
    _, height, width, _ = view.shape(view.inputs[0])
    window = rows * columns
    position_by_position = view.facts.makers.get(view.inputs[0]) in _KERNELS_OF_WINDOWS
    group = channels if position_by_position else view.attribute("PE", 1)
    apart = emit.reshaped(view.inputs[0], (1, height, width, channels // group, window, group))
    ordered = emit.add("Transpose", [apart], perm=[0, 1, 2, 3, 5, 4])
    each = emit.reshaped(ordered, (1, height, width, channels, window))
    span = view.span(view.inputs[0])
    flat = weights.reshape(channels, window)
    partial = np.inf if span is None else product_span(flat.T, span)[2]
    if span is not None and partial >= FLOAT_LIMIT:
        raise Unsupported(f"its sums may reach {partial:.3g}, beyond 2^24, where float32 is not exact")
    scaled = emit.add("Mul", [each, emit.constant(flat, "weights")])
    product = emit.sum_over(scaled, [4], keep=False)
    if span is not None:
        view.prove(product, *product_span(flat.T, span)[:2])
    if view.attribute("inputDataType") == view.attribute("weightDataType") == "BIPOLAR":
        agreed = emit.affine(emit.affine(product, 1.0, float(window)), 0.5, 0.0)
        view.prove(agreed, 0, window)
        product = agreed
    if not view.attribute("noActivation", 0):
        _thresholded(view, emit, product, (1, height, width, channels))
    else:
        emit.reshaped(product, view.shape(view.outputs[0]), view.outputs[0])
        _pass_span(view, product)


def _thresholded(view: NodeView, emit: Emitter, x: str, shape: tuple[int, ...]) -> None:
    thresholds = view.needed_constant(2, "thresholds")
    output = view.outputs[0]
    threshold = activation(view, thresholds, shape)
    if shape == view.shape(output):
        emit_levels(view, emit, x, threshold.rows, -1, threshold.levels, output)
        return
    counted = emit.fresh(output)
    view.facts.state_shape(counted, shape)
    emit_levels(view, emit, x, threshold.rows, -1, threshold.levels, counted)
    emit.reshaped(counted, view.shape(output), output)
    _pass_span(view, counted)


def _pass_span(view: NodeView, given: str) -> None:
    if (span := view.span(given)) is not None:
        view.prove(view.outputs[0], *span)
