"""WidthConverterRTL: FINN's StreamingDataWidthConverter kernel in RTL, at full rate whatever the ratio."""

from __future__ import annotations

from math import ceil, gcd, prod
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.streamingdatawidthconverter import StreamingDataWidthConverter

from brainsmith.figures import plural
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import AT_ONCE, BeatSchedule, converted

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGIT = 2
"""Bits of a place that choose among four distances at once."""

OTHERS = 1.4
"""LUTs of a bit that is chosen of four in a digit before the last one, as measured: Yosys finds no better circuit."""

PAIR = 2


@backend(
    kernel="finn:StreamingDataWidthConverter",
    backend_type="rtl",
    description="A stream in beats of another width, at the rate of the narrower side for any ratio",
    op_type="StreamingDataWidthConverterAny_rtl",
)
class WidthConverterRTL(CoreBackend, StreamingDataWidthConverter):
    """The converter between layers of different widths: takes or gives a beat in every cycle.

    Its nodes are not called `StreamingDataWidthConverter_rtl`, because FINN has such nodes.
    """

    core = "width_converter_core"
    parts = ("digit_shift.sv", "width_converter_wider.sv", "width_converter_narrower.sv")

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the values are integers, and whole in beats that divide a frame and differ in width."""
        fitting = _fitting(node)
        return fitting and super().supports(node, part)

    def get_exp_cycles(self) -> int:
        """Return the beats of a frame on the narrower side."""
        least = min(self.get_instream_width(), self.get_outstream_width())
        return int(prod(self.get_normal_input_shape()) * self.get_input_datatype().bitwidth() // least)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return what both widths are multiples of, how often each holds it, and in how many cycles a beat is chosen."""
        unit, taken, given = self._widths()
        return {"UNIT": unit, "TAKEN": taken, "GIVEN": given, "STAGED": int(min(taken, given) > AT_ONCE)}

    def beat_schedule(self) -> BeatSchedule:
        """Return that a beat moves on the narrower side in each turn."""
        (before,), (behind,) = self.frame_beats()
        return converted(before, behind)

    def core_resources(self, family: str) -> Resources:
        """Return flip-flops for what is stored and LUTs that move it: to the place where it is given, or taken."""
        unit, taken, given = self._widths()
        return _wider(unit, taken, given) if taken < given else _narrower(unit, taken, given)

    def _widths(self) -> tuple[int, int, int]:
        taken, given = self.get_instream_width(), self.get_outstream_width()
        unit = gcd(taken, given)
        return unit, taken // unit, given // unit


def _far_digits(unit: int, places: int, given: int) -> float:
    """Return the LUTs of all digits of a place but the last: each keeps what the digits behind it can still reach."""
    found, bits = 0.0, (places - 1).bit_length()
    for at in range(DIGIT, bits, DIGIT):
        found += unit * (given + (1 << at) - 1) * (OTHERS if bits - at >= DIGIT else 1)
    return found


def _stage(unit: int, places: int, given: int) -> int:
    """Return the flip-flops before the last digit, where an output beat is chosen in two cycles."""
    return unit * (given + (1 << DIGIT) - 1) + DIGIT + 1 if places > AT_ONCE else 0


def _wider(unit: int, taken: int, given: int) -> Resources:
    """Return what gathers beats: a window for each number of units that may be beyond it, and the beat that waits."""
    count = (given - 1).bit_length()
    moved = unit * (taken + given * (taken > 1)) + ceil(_far_digits(unit, taken, given))
    stored = unit * (given + 2 * taken - 1) + _stage(unit, taken, given)
    return Resources(lut=moved + count + 6, ff=stored + count + 2)


def _narrower(unit: int, taken: int, given: int) -> Resources:
    """Return what serves a beat in parts: it shifts, its rest gets behind the next, and the beat that waits."""
    beats, place = (taken // given + 1).bit_length(), (given - 1).bit_length()
    chosen = 2 if given > PAIR else 1  # a LUT chooses of two, and whether the beat waits
    moved = unit * (taken - 1 + given * chosen) + ceil(_far_digits(unit, given, given))
    stored = unit * (taken + 2 * given - 1) + _stage(unit, given, given)
    return Resources(lut=moved + 3 * beats + 2 * place + 2, ff=stored + beats + place + 1 + int(given > 1))


def _fitting(node: Any) -> Support:
    """Tell whether both widths hold whole values, and whole beats a frame, and are two."""
    bits, shape = node.get_input_datatype().bitwidth(), node.get_normal_input_shape()
    widths = {"inWidth": node.get_instream_width(), "outWidth": node.get_outstream_width()}
    for name, width in widths.items():
        if width < 1 or width % bits:
            return unsupported(f"its {name} is {width}, and its values have {plural(bits, 'bit')}")
        if prod(shape) % (width // bits):
            return unsupported(
                f"its {name} holds {plural(width // bits, 'value')}, which do not divide the {prod(shape)} of a frame"
            )
    if prod(node.get_normal_output_shape()) != prod(shape):
        return unsupported(
            f"its outShape holds {plural(prod(node.get_normal_output_shape()), 'value')}, and its inShape {prod(shape)}"
        )
    if len(set(widths.values())) == 1:
        return unsupported(f"both of its widths are {widths['inWidth']}, so there is nothing to convert")
    return SUPPORTED
