"""StreamingSplitRTL: FINN's StreamingSplit kernel in RTL."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from finn.custom_op.fpgadataflow.split import StreamingSplit

from brainsmith.backends.rtl.turn_backend import TurnBackend
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.turns import multiplexer_luts, packed, turn_resources
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="finn:StreamingSplit",
    backend_type="rtl",
    description="A stream split along its last axis, one beat per cycle",
    op_type="StreamingSplit_rtl",
)
class StreamingSplitRTL(TurnBackend, StreamingSplit):
    """The opposite of a concatenation: `SIMD` values a beat, each output in its turn."""

    core = "streaming_split_core"

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the width of a beat, and how many of a vector each output gets."""
        return {
            "COUNT": self.get_n_outputs(),
            "BITS": self.get_instream_width(),
            "BEATS": packed(self.beats()),
        }

    def core_resources(self, family: str) -> Resources:
        """Return a LUT for each output's valid, a multiplexer of their readies, and the turns."""
        count = self.get_n_outputs()
        return Resources(lut=count + ceil(multiplexer_luts(count))) + turn_resources(self.beats())
