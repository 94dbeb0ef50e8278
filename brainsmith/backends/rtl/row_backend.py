"""The base of RTL backends that take whole rows of integers, with one serial unit a row."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.cores.backend import CoreBackend
from brainsmith.rtl.cores.node_support import Support, unsupported
from brainsmith.rtl.cores.parallelism import Parallelism, divisors
from brainsmith.rtl.timing.beat_schedule import BeatSchedule, Giving, Taking, row_by_row

if TYPE_CHECKING:
    from collections.abc import Mapping


class RowBackend(CoreBackend):
    """A core whose kernel says its integers (`arithmetic()`), or why they do not fit (`try_arithmetic`)."""

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether the node computes integers, and these fit."""
        if not node.is_integer():
            return unsupported("its output is FLOAT32, but its core computes with integers only")
        return Support(node.try_arithmetic()[1]) and super().supports(node, part)

    def core_parameters(self) -> Mapping[str, int | str]:
        """Return the sizes of a row, and the widths of the integers."""
        arithmetic, taken = self.arithmetic(), self.get_input_datatype()
        return {
            "SIZE": arithmetic.size,
            "SIMD": self.get_nodeattr("SIMD"),
            "IN_BITS": taken.bitwidth(),
            "IN_SIGNED": int(taken.signed()),
            "OUT_BITS": arithmetic.output_bits,
            **{name.upper(): value for name, value in arithmetic.widths().items()},
        }

    rows_ahead: int
    """Rows that are taken, and not yet in the serial unit, at most: it has room for so many whole ones."""

    @abstractmethod
    def row_delay(self) -> int:
        """Return the cycles from a row's last beat to its first result, where no row waits for another."""

    @abstractmethod
    def serial_delay(self) -> int:
        """Return those of them behind the cycle in which the serial unit takes the row."""

    def beat_schedule(self) -> BeatSchedule:
        """Return that a row's results come one a cycle, some time after its last beat.

        Where the serial unit takes longer than a row's beats, it takes a row in its first turn. How far beats before it go
        meanwhile depends on when they come; all of a row are taken once there is room for whole rows. If these are in time
        for the unit nevertheless, all that counts is the unit. Else it is left to the slowest schedule there is.
        """
        beats, each = self.frame_beats()[0][0], self.arithmetic().size // self.get_nodeattr("SIMD")
        serial, ahead = self.arithmetic().serial_cycles, self.rows_ahead
        if each >= serial:
            return row_by_row(beats, each, self.row_delay())
        wait = self.row_delay() - self.serial_delay()
        if each + wait + 1 > ahead * serial:
            return super().beat_schedule()
        row, place = np.divmod(np.arange(beats), each)
        taken = Taking(row * serial, (row - ahead) * serial, wait=wait, sooner=True)
        return BeatSchedule(
            beats // each * serial, (taken,), (Giving(row * serial, self.serial_delay() + place),)
        )

    def lanes(self) -> Mapping[str, int]:
        """Return a row, which SIMD divides, also where fewer lanes are as fast."""
        return {"SIMD": self.arithmetic().size}

    def parallelism(self) -> tuple[Parallelism, ...]:
        """Return SIMD, up to the first with which a row's beats take no longer than the serial unit."""
        size, serial = self.arithmetic().size, self.arithmetic().serial_cycles
        lanes = divisors(size)
        slower = sum(size // simd > serial for simd in lanes)
        return (Parallelism("SIMD", lanes[: slower + 1]),)
