"""The figures that FINN asks a backend for, of what the backend states as a whole."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.rtl.synthesis.cells import Resources


class EstimatedBackend:
    """A backend that says what its layer needs of a part: put it before FINN's base among the bases."""

    @abstractmethod
    def core_resources(self) -> Resources:
        """Return what the core, or the function in C++, needs of a part, by the formula that its page states."""

    def lut_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated LUTs."""
        return self.core_resources().lut

    def bram_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated block RAMs of 18 Kbit."""
        return self.core_resources().bram18

    def uram_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated UltraRAMs."""
        return self.core_resources().uram

    def dsp_estimation(self, fpgapart: str = "") -> int:
        """Return the estimated DSP slices."""
        return self.core_resources().dsp
