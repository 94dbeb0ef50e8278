"""Standard nodes in the rewritten graph: as they are, except where whole numbers need more digits or a shape is fixed."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.execution.lowering.products import product_bound, product_span
from brainsmith.execution.standard_onnx.emitter import FLOAT_LIMIT
from brainsmith.execution.standard_onnx.products import write_product
from brainsmith.execution.standard_onnx.samples import MOVED
from brainsmith.graph.node_view import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView, Span

_SAME_VALUES = frozenset({
    "Cast", "DepthToSpace", "Dropout", "Expand", "GlobalMaxPool", "Identity", "MaxPool", "ReduceMax", "ReduceMin",
    "Slice", "SpaceToDepth", "Split", "Tile", "Transpose",
}) | MOVED  # fmt: skip
"""Whose results are among the values that they are given."""

_ENDS: dict[str, Callable[[int, int], int]] = {
    "Add": int.__add__,
    "Sub": int.__sub__,
    "Mul": int.__mul__,
    "Max": max,
    "Min": min,
}


def copy_standard(view: NodeView, emit: Emitter) -> None:
    """Write a standard node, and note which whole numbers it gives.

    Raises:
        Unsupported: Whole numbers become too large to be exact.
    """
    output = view.outputs[0]
    weights = view.constant(1)
    if (
        view.kind == "MatMul"
        and weights is not None
        and weights.ndim == 2
        and view.span(view.inputs[0]) is not None
    ):
        product = write_product(view, emit, view.inputs[0], weights, output)
        assert product == output
        return
    shape = view.shape(view.inputs[0]) if view.inputs and view.inputs[0] else ()
    order = view.attribute("perm", list(range(len(shape)))[::-1]) if view.kind == "Transpose" else [0]
    if order[0] != 0:
        emit.transposed(view.inputs[0], shape, order, view.shape(output), output)
    elif view.kind in MOVED and view.kind != "Transpose":
        emit.reshaped(view.inputs[0], view.shape(output), output)
    else:
        emit.copy(view.node)
    span = _span(view)
    if span is not None:
        for name in filter(None, view.outputs[:1] if view.kind in ("MaxPool", "Dropout") else view.outputs):
            view.prove(name, *span)


def _span(view: NodeView) -> Span | None:
    given = view.span(view.inputs[0]) if view.inputs else None
    if view.kind in ("ArgMax", "ArgMin"):
        return 0, max(view.shape(view.inputs[0])) - 1
    if given is None:
        return None
    if view.kind in _SAME_VALUES:
        return given
    if view.kind == "Relu":
        return max(given[0], 0), max(given[1], 0)
    if view.kind == "Pad":
        return _padded(view, given)
    if view.kind in _ENDS and len(view.inputs) == 2:
        return _combined(view, given)
    if view.kind == "Concat":
        return _united(view)
    return _convolved(view, given) if view.kind == "Conv" else None


def _padded(view: NodeView, given: Span) -> Span | None:
    value = view.constant(2)
    least = 0.0 if value is None or not value.size else float(value.reshape(-1)[0])
    return (min(given[0], int(least)), max(given[1], int(least))) if least == int(least) else None


def _combined(view: NodeView, left: Span) -> Span | None:
    right = view.span(view.inputs[1])
    if right is None:
        return None
    ends = [_ENDS[view.kind](first, second) for first, second in itertools.product(left, right)]
    span = (min(ends), max(ends))
    return span if max(map(abs, span)) <= FLOAT_LIMIT else None


def _united(view: NodeView) -> Span | None:
    spans = [span for span in map(view.span, view.inputs) if span is not None]
    if len(spans) < len(view.inputs):
        return None
    return min(low for low, _ in spans), max(high for _, high in spans)


def _convolved(view: NodeView, given: Span) -> Span | None:
    weights, bias = view.constant(1), view.constant(2)
    if weights is None or (bias is not None and not np.array_equal(bias, np.rint(bias))):
        return None
    seen = (min(given[0], 0), max(given[1], 0))  # padding adds zeros
    flat = weights.reshape(len(weights), -1).T
    span = product_span(seen, flat)
    if span is None:
        return None
    low, high, partial = *span, float(product_bound(seen, flat))
    if bias is not None:
        partial += float(np.abs(bias).max())
        low, high = low + int(bias.min()), high + int(bias.max())
    if partial >= FLOAT_LIMIT:
        raise Unsupported(f"its sums may reach {partial:.3g}, beyond 2^24, where float32 is not exact")
    return low, high
