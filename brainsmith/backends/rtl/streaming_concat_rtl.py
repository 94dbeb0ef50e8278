"""StreamingConcatRTL: FINN's StreamingConcat kernel in RTL."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from finn.custom_op.fpgadataflow.concat import StreamingConcat

from brainsmith.backends.rtl.turn_backend import TurnBackend
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.turns import multiplexer_luts, packed, turn_resources
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="finn:StreamingConcat",
    backend_type="rtl",
    description="Streams joined along their last axis, one beat per cycle",
    op_type="StreamingConcat_rtl",
)
class StreamingConcatRTL(TurnBackend, StreamingConcat):
    """The join after parallel branches: `SIMD` values a beat, each input in its turn."""

    core = "streaming_concat_core"

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether all inputs are integers in two's complement."""
        found, kinds = super().supports(node, part), node.get_nodeattr("inputDataTypes")
        if found and "BIPOLAR" in kinds:
            given = node.get_output_datatype().name
            return unsupported(f"input {kinds.index('BIPOLAR')} is BIPOLAR, and the output's {given} is not")
        return found

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return lanes, and for each input its beats of a vector and its datatype."""
        kinds = [self.get_input_datatype(at) for at in range(self.get_n_inputs())]
        simd = self.get_nodeattr("SIMD")
        return {
            "SIMD": simd,
            "COUNT": len(kinds),
            "OUT_BITS": self.get_output_datatype().bitwidth(),
            "IN_BITS": sum(kind.bitwidth() for kind in kinds) * simd,
            "BEATS": packed(self.beats()),
            "BITS": packed([kind.bitwidth() for kind in kinds]),
            "SIGNED": sum(kind.signed() << at for at, kind in enumerate(kinds)),
        }

    def core_resources(self, family: str) -> Resources:
        """Return a multiplexer of the inputs for each bit that is given, and the turns."""
        count = self.get_n_inputs()
        bits = self.get_outstream_width() + 1
        return Resources(lut=ceil(bits * multiplexer_luts(count)) + count) + turn_resources(self.beats())
