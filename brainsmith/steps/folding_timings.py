"""When layers move beats in each of their foldings: what the latency of a choice follows from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.timing.beat_schedule import converted
from brainsmith.steps.beat_flow import schedule_in
from brainsmith.steps.folding_needs import lanes_of
from brainsmith.steps.legal_foldings import FoldingSettings, set_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.fitting.pipeline import Stages
    from brainsmith.rtl.timing.beat_schedule import BeatSchedule


class FoldingTimings:
    """Numbers the foldings of layers by how they move beats, and tells the schedules of a number when it is asked.

    Args:
        model: Holds the layers' constants.
        part: The FPGA.
        clock: The clock's period in ns.
    """

    def __init__(self, model: ModelWrapper, part: str, clock: float) -> None:
        self._model, self._part, self._clock = model, part, clock
        self._numbers: dict[Any, int] = {}
        self._asked: list[tuple[Any, Any, FoldingSettings]] = []
        self._known: dict[int, Stages] = {}

    def numbers(self, layer: Any, window: Any, foldings: Sequence[FoldingSettings]) -> NDArray[np.int64]:
        """Return a number of each folding, (foldings,); memories do not change it.

        Args:
            layer: QONNX's instance of its node.
            window: That of the window that is folded with it; None without one.
            foldings: Of both.
        """
        found = []
        for one in foldings:
            key = id(layer), lanes_of(one.own), lanes_of(one.window)
            if key not in self._numbers:
                self._numbers[key] = len(self._asked)
                self._asked.append((layer, window, one))
            found.append(self._numbers[key])
        return np.array(found, np.int64)

    def stages(self, number: int) -> Stages:
        """Return the schedules of what is folded together: of the window, what stands behind it, and the layer."""
        if number not in self._known:
            self._known[number] = tuple(self._schedules(*self._asked[number]))
        return self._known[number]

    def _schedules(self, layer: Any, window: Any, folding: FoldingSettings) -> list[BeatSchedule]:
        set_all(layer, folding.own)
        own = self._schedule(layer)
        if window is None:
            return [own]
        set_all(window, folding.window)
        front = self._schedule(window)
        given, taken = len(front.given[0].turns), len(own.taken[0].turns)
        return [front, *([] if given == taken else [converted(given, taken)]), own]

    def _schedule(self, layer: Any) -> BeatSchedule:
        return schedule_in(self._model, layer, self._part, self._clock)
