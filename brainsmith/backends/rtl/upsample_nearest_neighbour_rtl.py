"""UpsampleNearestNeighbourRTL: FINN's UpsampleNearestNeighbour kernel in RTL."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from finn.custom_op.fpgadataflow.upsampler import UpsampleNearestNeighbour

from brainsmith.backends.rtl.page_memory import in_blocks, page_memory_resources
from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking

if TYPE_CHECKING:
    from collections.abc import Mapping


@backend(
    kernel="finn:UpsampleNearestNeighbour",
    backend_type="rtl",
    description="Images enlarged by whole factors, one row in memory, one output beat per cycle",
    op_type="UpsampleNearestNeighbour_rtl",
)
class UpsampleNearestNeighbourRTL(CoreBackend, UpsampleNearestNeighbour):
    """Copies of each pixel and each row: `SIMD` channels a beat, NHWC."""

    core = "upsample_nearest_neighbour_core"
    parts = ("page_memory.sv",)
    parallel: ClassVar[Mapping[str, str]] = {"SIMD": "NumChannels"}

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether both sides grow by whole factors: what FINN's kernel computes has the output's shape only then."""
        for side in ("H", "W"):
            before, after = node.get_nodeattr(f"{side}I"), node.get_nodeattr(f"{side}O")
            if before < 1 or after < before or after % before:
                return unsupported(f"{side}O is {after}, no whole multiple of {side}I, which is {before}")
        return super().supports(node, part)

    def get_exp_cycles(self) -> int:
        """Return the beats of a frame's output."""
        return int(prod(self.get_folded_output_shape()[:-1]))

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the size of a row, how often pixels and rows are repeated, and the width of a beat."""
        return {
            "BITS": self.get_instream_width(),
            "FOLDS": self._folds(),
            "WIDTH": self.get_nodeattr("WI"),
            "WIDE": self._copies("W"),
            "HIGH": self._copies("H"),
            "BLOCK": int(self.in_blocks()),
        }

    def in_blocks(self) -> bool:
        """Tell whether the row is in block RAM; a single beat is not."""
        row = self._row()
        return row > 1 and in_blocks(row, self.get_instream_width())

    def beat_schedule(self) -> BeatSchedule:
        """Return that a row is stored, whose beats are given as often as they are copied.

        In block RAM a place is free a cycle after it was read for the last time, and beats are given a cycle later.
        """
        (taken,), (given,) = self.frame_beats()
        parameters = self.core_parameters()
        folds, width, wide, high = (int(parameters[name]) for name in ("FOLDS", "WIDTH", "WIDE", "HIGH"))
        row = width * folds
        rows, place = np.divmod(np.arange(taken), row)
        pixel, fold = np.divmod(place, folds)
        first = rows * row * wide * high + pixel * folds * wide + fold
        last = first + (high - 1) * row * wide + (wide - 1) * folds
        block = int(self.in_blocks())
        room = np.concatenate([last[-row:] - given, last[:-row]])
        return BeatSchedule(
            given, (Taking(first, room, freed=block),), (Giving(np.arange(given), 1 + block),)
        )

    def core_resources(self, family: str) -> Resources:
        """Return the memory of a row, the register after it, and the counters of places, copies and beats.

        A bit of a place takes a LUT where it is written; where it is read two, as it may go back; a bit of the copies one.
        The numbers of beats, which go up and down, take as many together whatever their bits.
        """
        bits, row = int(self.get_instream_width()), self._row()
        place = (row - 1).bit_length()
        copies = (self._folds(), self._copies("W"), self._copies("H"))
        stored = page_memory_resources(row, bits, family) if row > 1 else Resources(ff=2 * bits)
        if self.in_blocks():
            stored += Resources(ff=bits + 1)
        count = sum((one - 1).bit_length() for one in copies)
        rest = Resources(lut=14 + 3 * place + count, ff=2 * place + 2 * row.bit_length() + count + 1)
        return stored + rest

    def _folds(self) -> int:
        return int(self.get_nodeattr("NumChannels") // self.get_nodeattr("SIMD"))

    def _row(self) -> int:
        """Return the beats of a row that comes in."""
        return int(self.get_nodeattr("WI") * self._folds())

    def _copies(self, side: str) -> int:
        return int(self.get_nodeattr(f"{side}O") // self.get_nodeattr(f"{side}I"))
