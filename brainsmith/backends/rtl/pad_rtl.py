"""PadRTL: the Pad kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.backends.rtl.window_turns import Turns, window_parameters, window_resources, window_turns
from brainsmith.kernels.pad import PadKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.synthesis.cells import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

LOOPS = 6
"""The loops that the core has."""


@backend(
    kernel="Pad",
    backend_type="rtl",
    description="A value in place of the beats outside the window that the input is",
    requires=("finn-plus",),
    domain="brainsmith.backends.rtl",
)
class PadRTL(CoreBackend, PadKernel):
    """Counters for the axes that are padded, and nothing stored; axes that are not are one counter."""

    core = "pad_core"

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the core can implement a node: the output holds the value, and there are enough loops."""
        loops = len(_turns(node))
        if loops > LOOPS:
            return unsupported(f"its padding needs {loops} nested loops, and the core has {LOOPS}")
        given, wanted = node.get_input_datatype(), node.get_output_datatype()
        value = node.get_nodeattr("value")
        if not wanted.allowed(value):
            return unsupported(f"it pads with {value}, which {wanted.name} does not hold")
        if given != wanted and given.name == "BIPOLAR":
            return unsupported(f"it takes the bits of BIPOLAR, and gives {wanted.name}")
        return super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the widths of a value, the padding's code, and the turns of the loops with those that the input gives."""
        given, wanted = self.get_input_datatype(), self.get_output_datatype()
        value, bits = self.get_nodeattr("value"), int(wanted.bitwidth())
        code = (value + 1) // 2 if wanted.name == "BIPOLAR" else value & ((1 << bits) - 1)
        return {
            "SIMD": self.get_nodeattr("SIMD"),
            "IN_BITS": given.bitwidth(),
            "OUT_BITS": bits,
            "SIGNED": int(given.signed() and given.name != "BIPOLAR"),
            "VALUE": code,
            **window_parameters(_turns(self), LOOPS),
        }

    def core_resources(self) -> Resources:
        """Return the counters, the comparisons with the window, the handshake, the frame, and a LUT for each bit of a beat.

        Bits of the padding's code that are alike, such as a sign, do not share one.
        """
        turns = _turns(self)
        return window_resources(turns) + (
            Resources(lut=self.get_outstream_width() + 2, ff=1) if turns else Resources()
        )

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, for values of the last axis that are padded together."""
        return (Parallelism("SIMD", divisors(self.lanes_limit())),)


def _turns(node: PadKernel) -> tuple[Turns, ...]:
    border = node.movement()
    shape = [
        before + size + after
        for before, size, after in zip(border.before, border.shape, border.after, strict=True)
    ]
    return window_turns(shape, border.before, border.shape, node.get_nodeattr("SIMD"))
