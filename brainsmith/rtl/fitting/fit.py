"""What a circuit is fitted to: a share of a device, a goal, and the least rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.rtl.devices.device import FpgaDevice

REPORT = "report/fit.json"
"""What was chosen for which device, and how far from the best it may be, in the output folder."""

USE = 0.8
"""The share of each resource that may be taken if nobody says; place and route needs some room."""


@dataclass(frozen=True)
class Fit:
    """What a circuit must fit and what is best.

    Attributes:
        device: What there is.
        use: The share of each resource that may be taken, above 0 and up to 1.
        goal: What is best: one of `solve.GOALS`.
        fps: Frames per second that it must reach; None for any rate.
    """

    device: FpgaDevice
    use: float = USE
    goal: str = "fps"
    fps: int | None = None
