"""CropRTL: the Crop kernel in RTL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from brainsmith.backends.rtl.window_backend import WindowBackend
from brainsmith.kernels.crop import CropKernel
from brainsmith.plugin.core import backend
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="Crop",
    backend_type="rtl",
    description="Beats outside the window dropped as they come",
)
class CropRTL(WindowBackend, CropKernel):
    """The input is counted, and the beats of the window are the output."""

    core = "crop_window_core"

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the width of a beat, and the window."""
        return {"BITS": self.get_instream_width(), **super().core_parameters()}

    def beat_schedule(self) -> BeatSchedule:
        """Return that a beat is taken in each turn, and given at once if it is in the window."""
        (taken,), _ = self.frame_beats()
        return BeatSchedule(taken, (Taking(np.arange(taken)),), (Giving(self.inside(), 0),))
