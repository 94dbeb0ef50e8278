"""multi_threshold: how many thresholds each value reaches, as QONNX's MultiThreshold defines it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from brainsmith.autodiff.primitives.onnx_form import OnnxForm
from brainsmith.autodiff.primitives.primitive import sum_to
from brainsmith.errors import OpError
from brainsmith.ops.quantiser import QuantiserOp, is_traced
from brainsmith.plugin.core import op

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.autodiff.op import Array, Arrays, Constants
    from brainsmith.autodiff.primitives.onnx_form import OnnxCall
    from brainsmith.execution.program.program_node import ProgramNode

LAYOUTS = {2: "NC", 3: "NWC", 4: "NCHW"}
"""What QONNX takes for the layout of so many axes where none is stated; of more axes the channels are axis 1."""


def channel_axis(rank: int, data_layout: str) -> int:
    """Return which axis holds the channels."""
    layout = data_layout or LAYOUTS.get(rank, "")
    return layout.index("C") if "C" in layout else 1


def datatype_of_levels(levels: int, out_scale: float, out_bias: float) -> str:
    """Return the QONNX datatype of the values `out_scale * level + out_bias`, level being 0 to `levels`.

    That is the least one that holds them if both are whole numbers, and the least one that holds the levels if not.
    """
    scale, bias = (out_scale, out_bias) if _are_whole(out_scale, out_bias) else (1, 0)
    ends = sorted((int(bias), int(scale) * levels + int(bias)))
    if (levels, abs(scale), ends) == (1, 2, [-1, 1]):
        return "BIPOLAR"
    if ends[0] >= 0:
        return f"UINT{ends[1].bit_length()}" if ends[1] > 1 else "BINARY"
    return f"INT{max((-ends[0] - 1).bit_length(), max(ends[1], 0).bit_length()) + 1}"


def _are_whole(out_scale: float, out_bias: float) -> bool:
    return float(out_scale).is_integer() and float(out_bias).is_integer()


def _node_attributes(call: OnnxCall) -> Mapping[str, Any]:
    given = call.attributes
    scale, bias = float(given["out_scale"]), float(given["out_bias"])
    layout = {"data_layout": given["data_layout"]} if given["data_layout"] else {}
    out_dtype = datatype_of_levels(call.shapes[1][1], scale, bias)
    return {"out_dtype": out_dtype, "out_scale": scale, "out_bias": bias, **layout}


@op(
    name="multi_threshold",
    num_inputs=2,
    version="1.0.0",
    description="How many thresholds of its channel a value reaches: QONNX's MultiThreshold",
    tags=("quantiser",),
)
class MultiThreshold(QuantiserOp):
    """out_scale * (how many thresholds are <= x) + out_bias; in every bit what QONNX's MultiThreshold computes.

    Inputs are x (two axes or more) and thresholds (channels or 1, number of thresholds). `data_layout` says with a C
    which axis of x holds the channels; where it is empty it is NC, NWC or NCHW by the number of axes, else axis 1. NaN
    reaches no threshold.

    The gradient is straight through, in the manner of N2UQ (Liu et al., CVPR 2022, arXiv:2111.14826): it is that of the
    line that runs through the middle of each jump of the staircase and, at both ends, half a mean interval on to the
    first and the last level; the width of these ends is held. With one threshold it runs from threshold - 1 to
    threshold + 1. Equally spaced thresholds so give the gradient of int_quant. It is exported as MultiThreshold.
    """

    name = "multi_threshold"
    num_inputs = 2
    attributes: ClassVar[Mapping[str, Any]] = {"out_scale": 1.0, "out_bias": 0.0, "data_layout": ""}
    onnx = OnnxForm("MultiThreshold", domain="qonnx.custom_op.general", attributes=_node_attributes)

    def to_program(self, node: ProgramNode) -> None:
        """Emit what QONNX's MultiThreshold is."""
        from brainsmith.execution.operators.thresholds import multi_threshold  # which training does not need

        multi_threshold(node).to_program(node)

    def forward(self, x: Array, thresholds: Array, **attributes: Any) -> Any:
        """Count, one threshold of all channels after the other."""
        if is_traced(x):
            raise OpError(
                f"operation {self.name!r} cannot be compiled: it counts the thresholds of each value's channel, and a loop "
                "over elements knows no channels; thresholds at equal distances are an int_quant, which can be"
            )
        shape = [1] * x.ndim
        shape[channel_axis(x.ndim, attributes["data_layout"])] = len(thresholds)
        count = np.zeros(x.shape, self.output_dtype([x.dtype]))
        for column in thresholds.T:
            count += x >= column.reshape(shape)
        return attributes["out_scale"] * count + attributes["out_bias"]

    def backward(
        self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any
    ) -> tuple[Array, Array]:
        """Return the gradients of the line for x and for the thresholds."""
        x, thresholds = inputs
        axis, scale = channel_axis(x.ndim, attributes["data_layout"]), attributes["out_scale"]
        values, upstream = np.moveaxis(x, axis, 0), np.moveaxis(np.asarray(grad_output), axis, 0)
        rows = _rows(thresholds, len(values))
        by_x, by_rows = np.empty(values.shape), np.empty(rows.shape)
        for at, row in enumerate(rows):
            by_x[at], by_rows[at] = _Line(row).derivatives(values[at], upstream[at])
        return np.moveaxis(scale * by_x, 0, axis), scale * sum_to(by_rows, thresholds.shape)

    def surrogate(self, x: Array, thresholds: Array, *, at: Arrays, **attributes: Any) -> Any:
        """Follow the line through the middles of the jumps."""
        axis = channel_axis(x.ndim, attributes["data_layout"])
        values = np.moveaxis(x, axis, 0)
        levels = np.empty(values.shape)
        rows, held = _rows(thresholds, len(values)), _rows(at[1], len(values))
        for channel, row in enumerate(rows):
            line = _Line(row, _end_width(held[channel]))
            levels[channel] = np.interp(values[channel], line.knots, line.levels)
        return attributes["out_scale"] * np.moveaxis(levels, 0, axis) + attributes["out_bias"]

    def validate_inputs(self, inputs: Arrays, **attributes: Any) -> None:
        """Refuse shapes and layouts that do not fit each other, and thresholds that are NaN."""
        x, thresholds = inputs
        for what in ("out_scale", "out_bias"):
            given = attributes[what]
            if not isinstance(given, int | float | np.number) or not np.isfinite(given):
                raise OpError(f"{what} of {self.name} must be a finite number, not {given!r}")
        data_layout = attributes["data_layout"]
        if x.ndim < 2 or not isinstance(data_layout, str) or len(data_layout) not in (0, x.ndim):
            raise OpError(
                f"{self.name} takes x of two axes or more, and a data_layout with a letter for each (such as 'NCHW'), "
                f"not shape {x.shape} with {data_layout!r}"
            )
        channels = x.shape[channel_axis(x.ndim, data_layout)]
        if thresholds.ndim != 2 or len(thresholds) not in (1, channels) or not thresholds.shape[1]:
            raise OpError(
                f"thresholds of {self.name} must have the shape (channels or 1, number of thresholds), the channels "
                f"being {channels}, not {thresholds.shape}"
            )
        if np.isnan(thresholds).any():
            raise OpError(f"thresholds of {self.name} must be numbers; at least one is NaN")

    def samples(self, random: np.random.Generator) -> Sequence[Any]:
        """Draw values within and beyond one to five thresholds, of each channel or for all."""
        count, rows = int(random.integers(1, 6)), int(random.choice([1, 3]))
        return [random.normal(0, 2, (2, 3, 2, 2)), random.normal(0, 1.5, (rows, count))]

    def output_datatype_for(self, datatypes: Sequence[str], constants: Constants, **attributes: Any) -> str:
        """Return the least datatype of the levels for a whole scale and bias, FLOAT32 for others."""
        given = {**self.attributes, **attributes}
        thresholds = constants[1]
        if thresholds is None or not _are_whole(given["out_scale"], given["out_bias"]):
            return "FLOAT32"
        return datatype_of_levels(thresholds.shape[1], given["out_scale"], given["out_bias"])


def _rows(thresholds: Array, channels: int) -> Array:
    """Return the thresholds of each channel."""
    return np.broadcast_to(thresholds, (channels, thresholds.shape[1]))


def _end_width(thresholds: Array) -> float:
    """Return how far the line runs beyond the outer thresholds: half the mean interval, 1 where there is none."""
    finite = thresholds[np.isfinite(thresholds)]
    if finite.size < 2 or not np.ptp(finite):
        return 1.0
    return float(np.ptp(finite)) / (finite.size - 1) / 2


class _Line:
    """The line through the middles of the jumps of one channel: knots, and the levels there."""

    def __init__(self, thresholds: Array, end: float | None = None) -> None:
        self.order = np.argsort(thresholds, kind="stable")
        ascending = thresholds[self.order].astype(np.float64)
        end = _end_width(thresholds) if end is None else end
        self.knots = np.concatenate([[ascending[0] - end], ascending, [ascending[-1] + end]])
        self.levels = np.concatenate([[0], np.arange(len(ascending)) + 0.5, [len(ascending)]])

    def derivatives(self, x: Array, upstream: Array) -> tuple[Array, Array]:
        """Return the gradient of each x, and the sums for the thresholds, in their own order."""
        shape, x, upstream = x.shape, x.ravel(), upstream.ravel()
        left = np.searchsorted(self.knots, x, side="right") - 1
        within = (left >= 0) & (left < len(self.knots) - 1)
        left = np.where(within, left, 0)
        start, stop = self.knots[left], self.knots[left + 1]
        width = np.where(within & np.isfinite(stop - start) & (stop > start), stop - start, np.inf)
        by_x = upstream * np.where(within, self.levels[left + 1] - self.levels[left], 0) / width
        share = np.where(np.isfinite(width), x - np.where(np.isfinite(start), start, x), 0) / width
        count = len(self.knots)
        by_knot = np.bincount(left, -by_x * (1 - share), count) + np.bincount(left + 1, -by_x * share, count)
        by_knot[1] += by_knot[0]
        by_knot[-2] += by_knot[-1]
        found = np.empty(count - 2)
        found[self.order] = by_knot[1:-1]
        return by_x.reshape(shape), found
