"""StreamingSplitRTL: FINN's StreamingSplit kernel in RTL."""

from __future__ import annotations

from math import ceil, gcd
from typing import TYPE_CHECKING

from finn.custom_op.fpgadataflow.split import StreamingSplit

from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.turns import multiplexer_luts, packed, turn_resources
from brainsmith.rtl.cores.wrapper import CoreStream
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    name="StreamingSplitRTL",
    kernel="finn:StreamingSplit",
    backend_type="rtl",
    description="A stream split along its last axis, one beat per cycle",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="finn.custom_op.fpgadataflow.rtl",
    op_type="StreamingSplit_rtl",
)
class StreamingSplitRTL(CoreBackend, StreamingSplit):
    """The opposite of a concatenation: `SIMD` values a beat, each output in its turn."""

    core = "streaming_split_core"
    parts = ("turns_in_order.sv",)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the width of a beat, and how many of a vector each output gets."""
        return {
            "COUNT": self.get_n_outputs(),
            "BITS": self.get_instream_width(),
            "BEATS": packed(self._beats()),
        }

    def core_streams(self) -> tuple[CoreStream, ...]:
        """Return the input, and all outputs as one vector."""
        bits = self.get_instream_width()
        ends = tuple(f"out{at}_V" for at in range(self.get_n_outputs()))
        return CoreStream("in", ("in0_V",), bits, fed=True), CoreStream("out", ends, bits, fed=False)

    def core_resources(self) -> Resources:
        """Return a LUT for each output's valid, a multiplexer of their readies, and the turns."""
        count = self.get_n_outputs()
        return Resources(lut=count + ceil(multiplexer_luts(count))) + turn_resources(self._beats())

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, which divides the channels of every output."""
        return (Parallelism("SIMD", divisors(gcd(*self.get_nodeattr("ChannelsPerStream")))),)

    def _beats(self) -> list[int]:
        return [count // self.get_nodeattr("SIMD") for count in self.get_nodeattr("ChannelsPerStream")]
