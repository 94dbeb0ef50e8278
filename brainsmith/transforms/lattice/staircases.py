"""Staircase: a node that brings each value to one of a few levels, be it a QONNX quantiser or a MultiThreshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import ModelError
from brainsmith.transforms.graph_view import attribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.lattice.array_kinds import Singles, Whole


DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
QUANTISERS = ("Quant", "IntQuant", "BipolarQuant")
LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What a MultiThreshold takes its input for if it does not say (QONNX 1.0.0)."""

WIDEST = 32
"""Bits of a quantiser that is followed; a wider one is refused, or stays."""


@dataclass(frozen=True)
class Staircase:
    """What a node does to each value: a level, a whole number, that rises with the value.

    Attributes:
        node: The node.
        levels: The level of values (channels or 1, any).
        low: The least level.
        high: The greatest.
        step: From one level to the next: 2 for a quantiser to -1 and 1.
        datatype: Of the levels.
        scale: What the quantiser multiplies levels by, above 0, in the form in which it broadcasts; None for 1.
        axis: Of the channels, from the last one; None where all are treated alike.
        channels: How many it tells apart; 1 where none.
    """

    node: NodeProto
    levels: Callable[[Singles], Whole]
    low: int
    high: int
    step: int
    datatype: str
    scale: Singles | None
    axis: int | None
    channels: int

    @property
    def reached(self) -> Whole:
        """The levels above the least one, each of which is reached by a step."""
        return np.arange(self.low + self.step, self.high + 1, self.step)


def is_quantiser(node: NodeProto) -> bool:
    """Tell whether a node is one of QONNX's quantisers to integers."""
    return node.op_type in QUANTISERS and node.domain in DOMAINS


def is_thresholds(node: NodeProto) -> bool:
    """Tell whether a node is a MultiThreshold."""
    return node.op_type == "MultiThreshold" and node.domain in DOMAINS


def quantiser_of(view: GraphView, node: NodeProto) -> Staircase:
    """Read a quantiser, whose levels are computed with QONNX's own function.

    Raises:
        ModelError: Integers cannot give its scale, zero point or number of bits.
    """
    bipolar = node.op_type == "BipolarQuant"
    names = ("scale",) if bipolar else ("scale", "zero point", "bit width")
    given = [_parameter(view, node, at, name) for at, name in enumerate(names, start=1)]
    scale = given[0]
    if not np.isfinite(scale).all() or not scale.all():
        raise ModelError(
            f"{_name(node)} has a scale that is 0 or not finite: values divided by it have no level"
        )
    axis = _axis(node, "scale", scale, view.shape(node.input[0]))
    signs = np.sign(scale).astype(np.int64).reshape(-1)
    channels = scale.size
    size = None if (scale == 1).all() else np.abs(scale)
    if bipolar:

        def bipolar_levels(x: Singles) -> Whole:
            upper = np.where(x >= 0, 1, -1)
            return np.asarray(upper * signs[:, None])

        if (signs < 0).any():
            raise ModelError(
                f"{_name(node)} has a negative scale, which thresholds of its input cannot express"
            )
        return Staircase(node, bipolar_levels, -1, 1, 2, "BIPOLAR", size, axis, channels)
    return _of_integers(view, node, given, size, axis, channels, signs)


def _of_integers(
    view: GraphView,
    node: NodeProto,
    given: list[Any],
    size: Any,
    axis: int | None,
    channels: int,
    signs: Whole,
) -> Staircase:
    from qonnx.custom_op.general.intquant import int_quant, max_int, min_int, resolve_rounding_mode

    scale, zero, bits = given
    signed, narrow = bool(attribute(node, "signed", 1)), bool(attribute(node, "narrow", 1))
    mode = attribute(node, "rounding_mode", b"ROUND")
    mode = mode.decode() if isinstance(mode, bytes) else str(mode)
    try:
        resolve_rounding_mode(mode)
    except ValueError:
        raise ModelError(f"{_name(node)} has the rounding mode {mode!r}, which QONNX does not have") from None
    if bits.size != 1 or bits != np.rint(bits) or not 1 <= bits <= WIDEST:
        raise ModelError(
            f"{_name(node)} has {bits.tolist()} bits: one whole number from 1 to {WIDEST} is needed"
        )
    if zero.size != 1 or zero != np.rint(zero) or abs(zero) > 1 << 16:
        raise ModelError(
            f"{_name(node)} has the zero point {zero.tolist()}: one whole number for all channels is needed, for "
            "integers to stay integers"
        )
    width, point = bits.reshape(()), zero.reshape(())
    flat = scale.reshape(-1)[:, None]

    def levels(x: Singles) -> Whole:
        with np.errstate(all="ignore"):
            found = int_quant(x, flat, point, width, signed, narrow, mode) / flat
            if not np.isfinite(found).all():
                found = np.nan_to_num(found)
            return np.asarray(np.rint(found), np.int64) * signs[:, None]

    if width == 1 and signed:
        ends = np.asarray([-1, 1]) - int(point)
        if point == 0 and (signs > 0).all():
            return Staircase(node, levels, -1, 1, 2, "BIPOLAR", size, axis, channels)
    else:
        ends = np.asarray([min_int(signed, narrow, width), max_int(signed, narrow, width)]) - int(point)
    reached = np.concatenate([ends * sign for sign in np.unique(signs)])
    low, high = int(reached.min()), int(reached.max())
    if low == high:
        raise ModelError(f"{_name(node)} has one level only: it gives {low} times its scale for every input")
    kind = _datatype(low, high, signed, int(width))
    return Staircase(node, levels, low, high, 1, kind, size, axis, channels)


def _datatype(low: int, high: int, signed: bool, bits: int) -> str:
    """Return the type that the quantiser states, if it holds all levels; else the least one that does."""
    from qonnx.core.datatype import DataType

    from brainsmith.rtl.cores.integers import integer_datatype

    stated = DataType["BINARY" if bits == 1 and not signed else f"{'INT' if signed else 'UINT'}{bits}"]
    if stated.min() <= low and high <= stated.max():
        return str(stated.name)
    return str(integer_datatype(low, high).name)


def thresholds_of(view: GraphView, node: NodeProto) -> Staircase | None:
    """Read a MultiThreshold; its levels are how many thresholds are reached. None if they are no constants."""
    thresholds = view.constant(node.input[1])
    shape = view.shape(node.input[0])
    if thresholds is None or thresholds.ndim != 2 or not shape or not thresholds.size:
        return None
    rows = np.sort(thresholds, axis=1)
    layout = attribute(node, "data_layout", b"").decode() or LAYOUTS.get(len(shape), "")
    axis = (layout.index("C") if "C" in layout else 1) - len(shape) if len(rows) > 1 else None

    def levels(x: Singles) -> Whole:
        return np.stack([np.searchsorted(rows[at % len(rows)], row, "right") for at, row in enumerate(x)])

    count = rows.shape[1]
    return Staircase(node, levels, 0, count, 1, attribute(node, "out_dtype").decode(), None, axis, len(rows))


def _parameter(view: GraphView, node: NodeProto, at: int, what: str) -> Any:
    value = view.constant(node.input[at]) if at < len(node.input) else None
    if value is None:
        raise ModelError(f"{_name(node)} has a {what} that is not constant")
    return np.asarray(value, np.float32)


def _axis(node: NodeProto, what: str, value: Any, shape: tuple[int, ...]) -> int | None:
    if value.size == 1:
        return None
    axes = [at - value.ndim for at, size in enumerate(value.shape) if size != 1]
    if len(axes) != 1 or value.ndim > len(shape) or shape[axes[0]] != value.size:
        raise ModelError(
            f"{_name(node)} has a {what} of shape {list(value.shape)}: one for all values or one for each channel is "
            "needed"
        )
    return int(axes[0])


def _name(node: NodeProto) -> str:
    return f"{node.op_type} '{node.name or node.output[0]}'"
