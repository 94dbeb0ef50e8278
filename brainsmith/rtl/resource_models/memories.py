"""What Yosys makes of a memory: LUTs, block RAMs or registers, and how many.

Yosys' `memory_libmap` weighs every shape that a memory may have, and takes the one of the least cost. Here it is the same
sum, over arrays of sizes: the costs are those of its libraries (`brams_xc4v.txt`, `lutrams_xcu.txt`, `lutrams_xc5v.txt`),
they are compared in its order, and the best one so far is rounded down to a whole number, as there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Count = NDArray[np.int64]
    """Whole numbers, one for each of many memories."""

ROM, ONE_PORT, TWO_PORTS = "rom", "one port", "two ports"
"""What reads and writes: nothing writes; reads and writes share their address; each has its own."""

AUTO, BLOCK, DISTRIBUTED, ULTRA = "auto", "block", "distributed", "ultra"
"""What the sources ask for: Yosys' choice, block RAM, LUTs, UltraRAM (block RAM where the family has none)."""

_MUX = 0.5
"""Cost of a bit of a multiplexer after, or of a decoder before, the parts of a memory."""

_EMULATED = 2
"""Cost of a port that shares none with another."""

_ROM_BIT = 1 / 64
"""Cost of a bit of a table in logic; one of a memory that is written costs 1."""

_BYTE = 9
"""Bits of a block RAM that are written together."""


class MemoryCells(NamedTuple):
    """What memories become.

    Attributes:
        lut: LUTs, those that are memory among them. Of a table in logic the most, for contents that share nothing.
        ff: Flip-flops that hold the contents, where nothing else is worth while.
        bram18: Block RAMs of 18 Kbit.
        parts: Into how many a memory is cut by its addresses, with a multiplexer after them; 1 for a table in logic.
        uram: UltraRAMs.
    """

    lut: Count
    ff: Count
    bram18: Count
    parts: Count
    uram: Count


NO_MEMORY = MemoryCells(*(np.zeros((), np.int64) for _ in MemoryCells._fields))


@dataclass(frozen=True)
class _Unit:
    """A primitive in one of its modes.

    Attributes:
        cost: Of Yosys' library.
        scaled: The part of it that goes with the bits in use.
        shapes: Words and bits, the narrowest first.
        luts: LUTs of one, by its words; none if it is block RAM.
        whole: Whether bits that are not used cost LUTs all the same.
        bram18: Block RAMs of one.
        uram: UltraRAMs of one.
    """

    cost: int
    scaled: int
    shapes: tuple[tuple[int, int], ...]
    luts: tuple[int, ...] = ()
    whole: bool = False
    bram18: int = 0
    uram: int = 0

    @property
    def style(self) -> str:
        """Which style asks for it."""
        return DISTRIBUTED if self.luts else ULTRA if self.uram else BLOCK


def _block(bram18: int, address: int, widths: Iterable[int], cost: int) -> _Unit:
    shapes = tuple((1 << address >> at, width) for at, width in enumerate(widths))
    return _Unit(cost, 0, shapes, bram18=bram18)


_NARROW = (1, 2, 4, 9, 18)
_ULTRASCALE = {
    ONE_PORT: (
        _Unit(16, 16, ((32, 16),), (8,), whole=True),
        *(
            _Unit(16, 16, ((1 << bits, width),), (luts,))
            for bits, width, luts in ((6, 8, 1), (7, 4, 2), (8, 2, 4), (9, 1, 8))
        ),
        _block(1, 14, _NARROW, 129),
        _block(2, 15, (*_NARROW, 36), 257),
    ),
    TWO_PORTS: (
        *(_Unit(16, 16, ((1 << bits, width),), (8,), whole=True) for bits, width in ((5, 14), (6, 7))),
        _block(1, 14, (*_NARROW, 36), 129),
        _block(2, 15, (*_NARROW, 36, 72), 257),
    ),
    ROM: (_block(1, 14, (*_NARROW, 36), 129), _block(2, 15, (*_NARROW, 36, 72), 257)),
}
_SERIES_7 = {
    ONE_PORT: (
        _Unit(8, 8, ((32, 8),), (4,), whole=True),
        *(
            _Unit(8, 8, ((1 << bits, width),), (luts,))
            for bits, width, luts in ((6, 4, 1), (7, 2, 2), (8, 1, 4))
        ),
        _block(1, 14, _NARROW, 129),
        _block(2, 15, (*_NARROW, 36), 257),
        _block(4, 16, (1, 2, 4, 9), 513),
    ),
    TWO_PORTS: (
        *(_Unit(8, 7, ((1 << bits, width),), (4,), whole=True) for bits, width in ((5, 6), (6, 3))),
        _block(1, 14, _NARROW, 129),
        _block(2, 15, (*_NARROW, 36), 257),
        _block(4, 16, (1, 2, 4, 9), 513),
        _Unit(129, 0, ((512, 36),), bram18=1),
        _Unit(257, 0, ((512, 72),), bram18=2),
    ),
    ROM: (
        _block(1, 14, _NARROW, 129),
        _block(2, 15, (*_NARROW, 36), 257),
        _block(4, 16, (1, 2, 4, 9), 513),
        _Unit(129, 0, ((512, 36),), bram18=1),
        _Unit(257, 0, ((512, 72),), bram18=2),
    ),
}
_ULTRASCALE_PLUS = _ULTRASCALE | {
    TWO_PORTS: (*_ULTRASCALE[TWO_PORTS], _Unit(1024, 0, ((4096, 72),), uram=1)),
}
_UNITS = {"xc7": _SERIES_7, "xcu": _ULTRASCALE, "xcup": _ULTRASCALE_PLUS, "versal": _ULTRASCALE_PLUS}


def mapped_memory(
    words: Any, bits: Any, ports: str, style: str, family: str, used: Any = None
) -> MemoryCells:
    """Return what memories become.

    Args:
        words: How many each has, an array or one number.
        bits: Of a word.
        ports: `ROM`, `ONE_PORT` or `TWO_PORTS`.
        style: `AUTO`, `BLOCK`, `DISTRIBUTED` or `ULTRA`.
        family: Of the part, such as `xcup`.
        used: Bits of a word that anything reads, if not all are: the others are weighed, and not built.
    """
    given = (np.asarray(each, np.int64) for each in (words, bits, bits if used is None else used))
    words, bits, used = np.broadcast_arrays(*given)
    if style == ULTRA and not any(unit.uram for unit in _UNITS[family][TWO_PORTS]):
        style = BLOCK
    logic = words * bits * (_ROM_BIT if ports == ROM else 1.0)
    best = np.floor(logic) if style == AUTO else np.full(words.shape, np.inf)
    if style == DISTRIBUTED and ports == ROM:
        best = np.zeros(words.shape)  # prune_rom: tables are logic
    found = _in_logic(words, used, ports)
    for kind in (DISTRIBUTED, BLOCK, ULTRA):
        asked = style == kind or (style == AUTO and kind != ULTRA)
        if asked and not (kind == DISTRIBUTED and ports == ROM):
            cost, mapped = _cheapest(words, bits, used, ports, kind, family)
            better = cost < best
            best = np.where(better, np.floor(cost), best)
            found = MemoryCells(*(np.where(better, new, old) for new, old in zip(mapped, found, strict=True)))
    return found


def _in_logic(words: Count, bits: Count, ports: str) -> MemoryCells:
    """Return a memory of logic: a table of LUTs, or registers with a multiplexer after them."""
    none, one = np.zeros_like(words), np.ones_like(words)
    if ports == ROM:
        return MemoryCells(np.where(words > 1, bits * _ceiling(words, 64), 0), none, none, one, none)
    return MemoryCells(bits * _ceiling(words - 1, 3), words * bits, none, one, none)


def _cheapest(
    words: Count, bits: Count, used: Count, ports: str, kind: str, family: str
) -> tuple[NDArray[np.float64], MemoryCells]:
    """Return the least cost of a memory of LUTs, or of block RAM, and what it is then."""
    cost = np.full(words.shape, np.inf)
    found = MemoryCells(*(np.zeros_like(words) for _ in MemoryCells._fields))
    # A memory whose ports share an address may have two ports all the same.
    sorts = (ONE_PORT, TWO_PORTS) if ports == ONE_PORT else (ports,)
    units = [(sort, unit) for sort in sorts for unit in _UNITS[family][sort] if unit.style == kind]
    for sort, unit in units:
        own, mapped = _of_unit(words, bits, used, sort, unit)
        better = own < cost
        cost = np.where(better, own, cost)
        found = MemoryCells(*(np.where(better, new, old) for new, old in zip(mapped, found, strict=True)))
    return cost, found


def _of_unit(
    words: Count, bits: Count, used: Count, ports: str, unit: _Unit
) -> tuple[NDArray[np.float64], MemoryCells]:
    """Return the cost of a memory of one unit in its best shape; the best cost so far is kept as a whole number."""
    best = np.full(words.shape, np.inf)
    cost = np.full(words.shape, np.inf)
    found = MemoryCells(*(np.zeros_like(words) for _ in MemoryCells._fields))
    for depth, width in unit.shapes:
        together = 1 if ports == ROM else width if unit.luts else min(width, _BYTE)
        padded = _ceiling(bits, together) * together
        parts = _ceiling(words, depth)
        count = _ceiling(parts * padded, width)
        own = (unit.cost - unit.scaled) * count + unit.scaled * parts * bits / width
        own = own + _MUX * (parts - 1) * bits
        if ports != ROM:
            own = own + _MUX * np.where(parts > 1, parts, 0)
        own = own + (_EMULATED if ports != ONE_PORT else 0)
        count = np.where(parts == 1, _ceiling(used, width), count)
        if unit.luts:
            luts = unit.luts[0] * (count if unit.whole else parts * used)
        else:
            luts = np.zeros_like(words)
        mapped = MemoryCells(luts, np.zeros_like(words), unit.bram18 * count, parts, unit.uram * count)
        better = own < best
        best, cost = np.where(better, np.floor(own), best), np.where(better, own, cost)
        found = MemoryCells(*(np.where(better, new, old) for new, old in zip(mapped, found, strict=True)))
    return cost, found


def _ceiling(number: Any, by: Any) -> Any:
    """Return a quotient, rounded up."""
    return -(-number // by)
