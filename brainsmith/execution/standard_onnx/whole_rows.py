"""This project's LayerNorm and Softmax: of integers by integers, as their hardware, of floats in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.standard_onnx.plans import OURS, rewrites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.execution.standard_onnx.emitter import Emitter
    from brainsmith.execution.standard_onnx.facts import NodeView

FLOAT, LONG, DOUBLE = 1, 7, 11
"""Numbers of ONNX's types."""

_OFF = 4
"""More than an estimate of a root is off by."""


@rewrites(OURS, "Softmax")
def rewrite_softmax(view: NodeView, emit: Emitter) -> None:
    """Write powers divided by their sum; the powers of integers are looked up.

    Raises:
        ModelError: The kernel cannot compute these integers.
    """
    x, output, axis = view.inputs[0], view.outputs[0], [len(view.shape(view.inputs[0])) - 1]
    arithmetic = _arithmetic(view)
    if arithmetic is None:
        wide = emit.add("Cast", [x], to=DOUBLE)
        powers = emit.add("Exp", [emit.add("Sub", [wide, emit.maximum_over(wide, axis, keep=True)])])
        total = emit.sum_over(powers, axis, keep=True)
        emit.add("Cast", [emit.add("Div", [powers, total])], output, to=FLOAT)
        return
    table = np.asarray(arithmetic.table, np.int64)
    below = emit.add("Sub", [emit.maximum_over(x, axis, keep=True), x])
    place = emit.add("Cast", [emit.add("Min", [below, emit.constant(len(table) - 1, "last")])], to=LONG)
    found = emit.looked_up(table, place, view.shape(x))
    total = emit.sum_over(found, axis, keep=True)
    reciprocal = _long(emit, "Div", 1 << arithmetic.shift, total)
    rounded = _rounded_down(
        emit, emit.add("Mul", [found, reciprocal]), arithmetic.shift - arithmetic.fraction_bits
    )
    highest = (1 << arithmetic.output_bits) - 1
    emit.add("Min", [emit.add("Cast", [rounded], to=FLOAT), emit.constant(highest, "most")], output)
    view.facts.note_span(output, 0, highest)


@rewrites(OURS, "LayerNorm")
def rewrite_layer_norm(view: NodeView, emit: Emitter) -> None:
    """Write rows with mean 0 and variance 1; of integers by the greatest whole number below an inverse root.

    Source: `IntegerLayerNorm`; with `n` the size of a row, `s` its sum, `q` that of its squares, the deviation is
        n q - s^2 and a term for epsilon.

    Raises:
        ModelError: The kernel cannot compute these integers.
    """
    x, output, axis = view.inputs[0], view.outputs[0], [len(view.shape(view.inputs[0])) - 1]
    arithmetic = _arithmetic(view)
    if arithmetic is None:
        _normalised_floats(view, emit, axis)
        return
    values = emit.add("Cast", [x], to=LONG)
    total = emit.sum_over(values, axis, keep=True)
    squares = emit.sum_over(emit.add("Mul", [values, values]), axis, keep=True)
    spread = emit.add("Sub", [_long(emit, "Mul", arithmetic.size, squares), emit.add("Mul", [total, total])])
    deviation = _long(emit, "Add", arithmetic.epsilon_term, spread)
    root = _inverse_root(emit, deviation, arithmetic.shift, arithmetic.root_bits)
    centred = emit.add("Sub", [_long(emit, "Mul", arithmetic.size, values), total])
    rounded = _rounded_down(
        emit, emit.add("Mul", [centred, root]), arithmetic.shift - arithmetic.fraction_bits
    )
    limit = 1 << (arithmetic.output_bits - 1)
    ends = [emit.constant(end, "limit") for end in (-limit, limit - 1)]
    emit.add("Clip", [emit.add("Cast", [rounded], to=FLOAT), *ends], output)
    view.facts.note_span(output, -limit, limit - 1)


def _arithmetic(view: NodeView) -> Any | None:
    """Return which integers the kernel computes; None if it computes floats."""
    from qonnx.custom_op.registry import getCustomOp

    operation = getCustomOp(view.node)
    if not operation.is_integer():
        return None
    arithmetic, problem = operation.try_arithmetic()
    span = view.span(view.inputs[0])
    if problem or span is None or not arithmetic.low <= span[0] <= span[1] <= arithmetic.high:
        raise view.refused(problem or "its input may be outside of its datatype")
    return arithmetic


def _normalised_floats(view: NodeView, emit: Emitter, axis: Sequence[int]) -> None:
    from qonnx.custom_op.registry import getCustomOp

    count = emit.constant(view.shape(view.inputs[0])[-1], "count", np.float64)
    epsilon = emit.constant(getCustomOp(view.node).get_nodeattr("epsilon"), "epsilon", np.float64)
    wide = emit.add("Cast", [view.inputs[0]], to=DOUBLE)
    mean = emit.add("Div", [emit.sum_over(wide, axis, keep=True), count])
    centred = emit.add("Sub", [wide, mean])
    squares = emit.sum_over(emit.add("Mul", [centred, centred]), axis, keep=True)
    deviation = emit.add("Sqrt", [emit.add("Add", [emit.add("Div", [squares, count]), epsilon])])
    emit.add("Cast", [emit.add("Div", [centred, deviation])], view.outputs[0], to=FLOAT)


def _long(emit: Emitter, op_type: str, first: int, second: str) -> str:
    return emit.add(op_type, [emit.constant(first, "whole", np.int64), second])


def _rounded_down(emit: Emitter, x: str, bits: int) -> str:
    """Write (x + half) >> bits; the remainder is never negative, so the quotient is rounded towards minus infinity."""
    raised = _long(emit, "Add", 1 << (bits - 1), x)
    divisor = emit.constant(1 << bits, "whole", np.int64)
    whole = emit.add("Sub", [raised, emit.add("Mod", [raised, divisor])])
    return emit.add("Div", [whole, divisor])


def _inverse_root(emit: Emitter, deviation: str, shift: int, root_bits: int) -> str:
    """Write floor(2^shift / sqrt(d)), at most what fits in so many bits; that of 0 is that of 1.

    An estimate in double precision is off by a few at the most. What is left, 4^shift - root^2 d, then tells which
    way: it fits in 64 bits, although its terms need not, so it is computed modulo 2^64.
    """
    most = (1 << root_bits) - 1
    one = int(np.uint64(pow(4, shift, 1 << 64)).view(np.int64))
    zero, up, down = (emit.constant(value, "whole", np.int64) for value in (0, 1, -1))
    d = emit.add("Max", [deviation, up])
    inverse = emit.add("Sqrt", [emit.add("Cast", [d], to=DOUBLE)])
    estimate = emit.add("Floor", [emit.add("Div", [emit.constant(2.0**shift, "power", np.float64), inverse])])
    clipped = emit.add("Greater", [estimate, emit.constant(most + _OFF, "most", np.float64)])
    nearest = emit.add("Min", [estimate, emit.constant(most + _OFF, "most", np.float64)])
    root = emit.add("Cast", [nearest], to=LONG)
    for _ in range(_OFF):
        square = emit.add("Mul", [emit.add("Mul", [root, root]), d])
        left = _long(emit, "Sub", one, square)
        enough = emit.add("Mul", [_long(emit, "Add", 1, _long(emit, "Mul", 2, root)), d])
        rising = emit.add("Where", [emit.at_least(left, enough), up, zero])
        step = emit.add("Where", [emit.add("Less", [left, zero]), down, rising])
        root = emit.add("Add", [root, emit.add("Where", [clipped, zero, step])])
    return emit.add("Min", [root, emit.constant(most, "most", np.int64)])
