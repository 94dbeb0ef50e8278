"""LabelSelectRTL: FINN's LabelSelect kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from finn.custom_op.fpgadataflow.labelselect import LabelSelect

from brainsmith.backends.rtl.embedded_resources import SHIFT_REGISTER
from brainsmith.backends.rtl.label_select_order import order_resources, order_stages
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

if TYPE_CHECKING:
    from collections.abc import Mapping

MUX = (12, 14)
"""LUTs for ten bits that one of the best hands on; of a beat of one value, of more."""


@backend(
    kernel="finn:LabelSelect",
    backend_type="rtl",
    description="The numbers of the greatest values, one frame taken while the last one's result goes out",
    op_type="LabelSelect_rtl",
)
class LabelSelectRTL(CoreBackend, LabelSelect):
    """Arg-max, and the K greatest: `PE` values a beat, the lower number first where values are equal."""

    core = "label_select_core"
    parts = ("label_select_order.sv",)
    parallel: ClassVar[Mapping[str, str]] = {"PE": "Labels"}

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether there are as many labels as are asked for, and whether the output holds their numbers."""
        labels, top = node.get_nodeattr("Labels"), node.get_nodeattr("K")
        if not 1 <= top <= labels:
            return unsupported(f"it asks for {top} of {labels} labels")
        support = super().supports(node, part)
        wanted = node.get_output_datatype()
        if support and (wanted.name == "BIPOLAR" or wanted.max() < labels - 1):
            return unsupported(f"its labels are 0 to {labels - 1}, which {wanted.name} cannot hold")
        return support

    def get_exp_cycles(self) -> int:
        """Return the cycles of a frame, all of its vectors: a result goes out one label a cycle.

        FINN's kernel counts the beats that one vector takes, whatever K and however many vectors there are.
        """
        vectors = prod(self.get_nodeattr("numInputVectors"))
        return int(
            vectors * max(self.get_nodeattr("Labels") // self.get_nodeattr("PE"), self.get_nodeattr("K"))
        )

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return how many labels there are, how many are wanted, and the widths of values and results."""
        given = self.get_input_datatype()
        return {
            "LABELS": self.get_nodeattr("Labels"),
            "PE": self.get_nodeattr("PE"),
            "TOP": self.get_nodeattr("K"),
            "SIGNED": int(given.signed() and given.name != "BIPOLAR"),
            "IN_BITS": given.bitwidth(),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
        }

    def beat_schedule(self) -> BeatSchedule:
        """Return that the labels of a vector come after its last beat, once that is in order, one a cycle.

        Vectors of fewer beats than labels wait for each other somewhere between, which no schedule says.
        """
        (taken,), (given,) = self.frame_beats()
        best = int(self.get_nodeattr("K"))
        each = taken * best // given
        if each < best:
            return super().beat_schedule()
        last, waits = (
            np.repeat(np.arange(1, given // best + 1) * each - 1, best),
            np.tile(np.arange(best), given // best),
        )
        lanes = int(self.get_nodeattr("PE"))
        ordered = len(order_stages(lanes, min(lanes, best)))
        return BeatSchedule(taken, (Taking(np.arange(taken)),), (Giving(last, ordered + 2 * best + waits),))

    def core_resources(self, family: str) -> Resources:
        """Return the network that puts a beat in order, and the best with their numbers, into which it is merged."""
        lanes, top = self.get_nodeattr("PE"), self.get_nodeattr("K")
        bits = self.get_input_datatype().bitwidth()
        label = max((self.get_nodeattr("Labels") - 1).bit_length(), 1)
        come, lane_bits = min(lanes, top), (lanes - 1).bit_length()
        counts = [min(come, top - at) for at in range(top)]  # values that come to each of the best
        compared = sum(counts) * (bits + 1 + int(top > 1))
        on = sum(counts[1:]) * (bits + label + 2)
        numbered = label * come if lanes > 1 else 0
        # What is handed on is held while it is chosen from; the first of the best knows that nothing is older.
        held = sum(count * (bits + label + 3) + bits + label + 2 for count in counts[:-1])
        held -= 2 * come - 1 if top > 1 else 0
        waits = range(
            2, 2 * top, 2
        )  # of the numbers of the best, how many cycles each waits for the last one
        short = sum(wait for wait in waits if wait < SHIFT_REGISTER) * label
        long = sum(wait >= SHIFT_REGISTER for wait in waits) * label
        return order_resources(lanes, come, bits, lane_bits) + Resources(
            lut=2 * label + 6 + compared + (MUX[lanes > 1] * on + 9) // 10 + long + numbered,
            ff=top * (bits + 2 * label + 3) + on + held + short + label + len(order_stages(lanes, come)),
            lutram=long,
        )
