"""How far a build goes: which steps each output takes.

The command line reads this at its start, so nothing is imported here that costs time.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DESIGN = ("rtl_codegen", "rtl_stitch", "rtl_size_fifos")
TAKES: Mapping[str, tuple[str, ...]] = {
    "estimates": (),
    "rtl": (*_DESIGN, "rtl_package"),
    "simulated": (*_DESIGN, "rtl_simulate", "rtl_package"),
    "synthesised": (*_DESIGN, "rtl_simulate", "rtl_synthesise", "rtl_package"),
}
"""By output, the RTL steps that it takes, in the order in which they run."""

OUTPUTS = tuple(TAKES)
"""What a build can produce, each including the one before it."""

RTL_STEPS = TAKES[OUTPUTS[-1]]
"""Every RTL step, in the order in which they run."""


def wrong_output(label: str, shown: str, hint: str) -> str:
    """Say that something is no output, and list those there are."""
    return f"{label} must be one of {', '.join(OUTPUTS)}, not {shown}{hint or '.'}"
