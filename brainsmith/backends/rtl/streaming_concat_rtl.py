"""StreamingConcatRTL: FINN's StreamingConcat kernel in RTL."""

from __future__ import annotations

from math import ceil, gcd
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.concat import StreamingConcat

from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.cores.support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.turns import multiplexer_luts, packed, turn_resources
from brainsmith.rtl.cores.wrapper import CoreStream
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    name="StreamingConcatRTL",
    kernel="finn:StreamingConcat",
    backend_type="rtl",
    description="Streams joined along their last axis, one beat per cycle",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
    domain="finn.custom_op.fpgadataflow.rtl",
    op_type="StreamingConcat_rtl",
)
class StreamingConcatRTL(CoreBackend, StreamingConcat):
    """The join behind parallel branches: `SIMD` values a beat, each input in its turn."""

    core = "streaming_concat_core"
    parts = ("turns_in_order.sv",)

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether all inputs are integers in two's complement."""
        found = super().supports(node, part)
        if not found:
            return found
        kinds = node.get_nodeattr("inputDataTypes")
        if "BIPOLAR" in kinds:
            at = kinds.index("BIPOLAR")
            return unsupported(
                f"input {at} is BIPOLAR, and the output's {node.get_output_datatype().name} is not"
            )
        return SUPPORTED

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return lanes, and for each input its beats of a vector and its datatype."""
        kinds = [self.get_input_datatype(at) for at in range(self.get_n_inputs())]
        simd = self.get_nodeattr("SIMD")
        return {
            "SIMD": simd,
            "COUNT": len(kinds),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "IN_BITS": sum(kind.bitwidth() for kind in kinds) * simd,
            "BEATS": packed(self._beats()),
            "BITS": packed([kind.bitwidth() for kind in kinds]),
            "SIGNED": sum(kind.signed() << at for at, kind in enumerate(kinds)),
        }

    def core_streams(self) -> tuple[CoreStream, ...]:
        """Return all inputs as one vector, and the output."""
        count = self.get_n_inputs()
        widths = tuple(self.get_instream_width(at) for at in range(count))
        ends = tuple(f"in{at}_V" for at in range(count))
        given = CoreStream("out", ("out0_V",), self.get_outstream_width(), fed=False)
        return CoreStream("in", ends, widths[0], fed=True, each=widths), given

    def core_resources(self) -> Resources:
        """Return a multiplexer of the inputs for each bit that is given, and the turns."""
        count = self.get_n_inputs()
        bits = self.get_outstream_width() + 1
        return Resources(lut=ceil(bits * multiplexer_luts(count)) + count) + turn_resources(self._beats())

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, which divides the channels of every input."""
        return (Parallelism("SIMD", divisors(gcd(*self.get_nodeattr("ChannelsPerStream")))),)

    def _beats(self) -> list[int]:
        return [count // self.get_nodeattr("SIMD") for count in self.get_nodeattr("ChannelsPerStream")]
