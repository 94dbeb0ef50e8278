"""PadRTL: the Pad kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.backends.rtl.window_backend import WindowBackend
from brainsmith.kernels.pad import PadKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="Pad",
    backend_type="rtl",
    description="A value in place of the beats outside the window that the input is",
)
class PadRTL(WindowBackend, PadKernel):
    """The output is counted, and the beats of its window are the input."""

    core = "pad_core"

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: the output holds the value, and there are enough loops."""
        given, wanted = node.get_input_datatype(), node.get_output_datatype()
        value = node.get_nodeattr("value")
        if not wanted.allowed(value):
            return unsupported(f"it pads with {value}, which {wanted.name} does not hold")
        if given != wanted and given.name == "BIPOLAR":
            return unsupported(f"it takes the bits of BIPOLAR, and gives {wanted.name}")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the widths of a value, the padding's code, and the window of the output that the input gives."""
        given, wanted = self.get_input_datatype(), self.get_output_datatype()
        value, bits = self.get_nodeattr("value"), int(wanted.bitwidth())
        code = (value + 1) // 2 if wanted.name == "BIPOLAR" else value & ((1 << bits) - 1)
        return {
            "SIMD": self.get_nodeattr("SIMD"),
            "IN_BITS": given.bitwidth(),
            "OUT_BITS": bits,
            "SIGNED": int(given.signed() and given.name != "BIPOLAR"),
            "VALUE": code,
            **super().core_parameters(),
        }

    def beat_schedule(self) -> BeatSchedule:
        """Return that a beat is given in each turn, and a tensor of the frame begins when its input does."""
        _, (given,) = self.frame_beats()
        turns = np.arange(given)
        opens = turns[:: prod(loop.size for loop in self.turns())]
        return BeatSchedule(given, (Taking(self.inside(), opens=opens),), (Giving(turns, 0),))

    def core_resources(self, family: str) -> Resources:
        """Return what the window needs, the frame that is open, and a LUT for each bit of a beat.

        Bits of the padding's code that are alike, such as a sign, do not share one.
        """
        padding = Resources(lut=self.get_outstream_width() + 2, ff=1) if self.turns() else Resources()
        return super().core_resources(family) + padding
