"""The figures that FINN asks a backend for, of what the backend states as a whole."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from brainsmith.rtl.synthesis.fpga_families import family_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.rtl.synthesis.cells import Resources

UNKNOWN = "xcup"
"""The family that is answered for where FINN asks without a part."""


class EstimatedBackend:
    """A backend that says what its layer needs of a part: put it before FINN's base among the bases."""

    @abstractmethod
    def core_resources(self, family: str) -> Resources | None:
        """Return what the core, or the function in C++, needs of a part, by the formula that its page states.

        None says that there is no formula. Then the report names the layer as one without a model, and it is counted by
        synthesis where that is asked for.

        Args:
            family: Of the part: `xc7` (7 series), `xcu` (UltraScale), `xcup` (UltraScale+) or `versal`.
        """

    def lut_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated LUTs."""
        return self._stated(fpgapart, "lut")

    def bram_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated block RAMs of 18 Kbit."""
        return self._stated(fpgapart, "bram18")

    def uram_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated UltraRAMs."""
        return self._stated(fpgapart, "uram")

    def dsp_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated DSP slices."""
        return self._stated(fpgapart, "dsp")

    def _stated(self, part: str, name: str) -> int:
        stated = stated_resources(self, part)
        return 0 if stated is None else int(getattr(stated, name))


def stated_resources(layer: Any, part: str) -> Resources | None:
    """Return what a layer's backend states for a part; None if it has no formula.

    Args:
        layer: QONNX's instance of the node; its class has `core_resources`.
        part: The FPGA; empty if it is not known.

    Raises:
        BuildError: The part is of no known family.
    """
    family = family_of(part).name if part else UNKNOWN
    stated: Resources | None = layer.core_resources(*[family][: _taken(type(layer).core_resources)])
    return stated


@cache
def _taken(statement: Callable[..., Resources | None]) -> int:
    """Return how many arguments a statement takes beside the layer: in a plugin for an earlier version, none."""
    return len(signature(statement).parameters) - 1
