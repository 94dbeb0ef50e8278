"""What the tables of FINN's thresholds are made of: as their values are, or as random ones would be.

Each stage of the binary search has a table for each lane. Yosys builds no bit that is the same in all of its words, each
bit that is another's equal once, and what depends on the channel alone once for all lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.forks import cached_property
from brainsmith.rtl.resource_models.circuit_sizes import ceiling, distinct_functions, table_luts
from brainsmith.rtl.resource_models.memories import AUTO, NO_MEMORY, ROM, MemoryCells, mapped_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INPUTS = 64
"""Words of a table that is one LUT."""

_LOOSE = 16
"""Words of a loose table in a LUT."""

_CHOOSING = 6
"""Inputs of a LUT that chooses."""


@dataclass(frozen=True)
class ThresholdTables:
    """Sizes of the tables of all stages and lanes.

    Attributes:
        memory: Block RAMs.
        luts: That hold tables.
        loose: Words of loose tables (`is_loose`), 16 of a bit as one.
        after_loose: LUTs that hold tables of the stages after loose ones.
        registers: Behind the tables that LUTs hold.
        parts: Bits of multiplexers behind memories that are cut by their addresses.
        varying: Bits that are compared with a bit of a table.
        zeros: Bits that are compared with a 0.
        ones: Bits that are compared with a 1.
        fixed: Bits of comparisons with one threshold.
    """

    memory: MemoryCells
    luts: Any = 0
    loose: Any = 0
    after_loose: Any = 0
    registers: Any = 0
    parts: Any = 0
    varying: Any = 0
    zeros: Any = 0
    ones: Any = 0
    fixed: Any = 0

    def __add__(self, other: ThresholdTables) -> ThresholdTables:
        memory = MemoryCells(*(one + two for one, two in zip(self.memory, other.memory, strict=True)))
        rest = (field.name for field in fields(self) if field.name != "memory")
        return ThresholdTables(memory, **{name: getattr(self, name) + getattr(other, name) for name in rest})


@dataclass(frozen=True, eq=False)
class ThresholdValues:
    """The thresholds of a layer.

    Attributes:
        values: (channels or 1, steps), sorted along the last axis.
    """

    values: NDArray[np.int64]

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The thresholds by channels; one row if all channels have the same."""
        alike = (self.values == self.values[:1]).all()
        return self.values[:1] if alike else self.values

    def words(self, stage: int, stages: int) -> NDArray[np.int64]:
        """Return what the tables of a stage hold, (channels, words of a channel); beyond the last step there are zeros."""
        step = 1 << stages - stage
        padded = np.zeros((len(self.rows), 1 << stages), np.int64)
        padded[:, : self.rows.shape[1]] = self.rows
        return padded[:, step // 2 - 1 :: step]


def random_tables(folds: Any, pe: Any, stages: int, bits: int, family: str) -> ThresholdTables:
    """Return the tables of thresholds that share no more than random ones do, for arrays of foldings.

    Args:
        folds: Channels of a lane.
        pe: Lanes.
        stages: Of the search.
        bits: Of a threshold.
        family: Of the part.
    """
    found, loose = ThresholdTables(NO_MEMORY), is_loose(folds)
    for stage in range(stages):
        words = folds << stage
        one = mapped_memory(words, bits, ROM, AUTO, family)
        memory = MemoryCells(*(pe * each for each in one._replace(lut=0 * one.lut)))
        # In the first stage all lanes have one address, in the others each has its own.
        alike = distinct_functions(words, pe * bits) if stage == 0 else pe * distinct_functions(words, bits)
        tables, single = np.where(one.bram18 == 0, alike, 0), words == 1
        same = 2.0 ** (1 - np.minimum(words, 64)) * pe * bits  # with one word, or by chance
        found += ThresholdTables(
            memory,
            **_built(tables, tables * table_luts(words), words, stage, loose),
            parts=pe * (one.parts - 1) * bits,
            varying=np.where(single, 0, pe * bits - same),
            zeros=np.where(single, 0, same / 2),
            ones=np.where(single, 0, same / 2),
            fixed=np.where(single, pe * bits, 0),
        )
    return found


def known_tables(
    known: ThresholdValues, channels: int, pe: Any, stages: int, bits: int, family: str
) -> ThresholdTables:
    """Return the tables of known thresholds.

    Args:
        known: The thresholds.
        channels: Of the layer.
        pe: Lanes, an array for many foldings.
        stages: Of the search.
        bits: Of a threshold.
        family: Of the part.
    """
    each = [_of_folding(known, channels, int(lanes), stages, bits, family) for lanes in np.ravel(pe)]
    names = [field.name for field in fields(ThresholdTables) if field.name != "memory"]
    memory = MemoryCells(
        *(np.reshape([one.memory[at] for one in each], np.shape(pe)) for at in range(len(NO_MEMORY)))
    )
    return ThresholdTables(
        memory, **{name: np.reshape([getattr(one, name) for one in each], np.shape(pe)) for name in names}
    )


def _of_folding(
    known: ThresholdValues, channels: int, pe: int, stages: int, bits: int, family: str
) -> ThresholdTables:
    stored = 1 if len(known.values) == 1 else channels // pe
    folds = 1 if len(known.rows) == 1 else stored
    found = ThresholdTables(NO_MEMORY)
    for stage in range(stages):
        words = known.words(stage, stages)
        # (lanes, folds, words of a channel): channels go round the lanes.
        by_lane = np.broadcast_to(words, (folds * pe, words.shape[1])).reshape(folds, pe, -1).swapaxes(0, 1)
        found += _of_stage(by_lane.reshape(pe, -1), stored // folds, bits, stage, family, is_loose(folds))
    return found


def _of_stage(
    words: NDArray[np.int64], times: int, bits: int, stage: int, family: str, loose: bool
) -> ThresholdTables:
    """Return the tables of a stage.

    Args:
        words: (lanes, words of a table).
        times: How often a table is stored, which Yosys sees in tables of logic, and not in block RAM.
        bits: Of a word.
        stage: Its number.
        family: Of the part.
        loose: Whether tables of the first stage are (`is_loose`).
    """
    lanes, depth = words.shape
    if depth == 1:
        return ThresholdTables(NO_MEMORY, fixed=lanes * bits)
    columns = (words[:, None] >> np.arange(bits)[:, None] & 1).astype(np.uint64)  # lane, bit, word
    ones, zeros = columns.all(-1), ~columns.any(-1)
    varying = ~(ones | zeros)
    cells = mapped_memory(depth * times, varying.sum(1), ROM, AUTO, family)
    in_logic = varying & (cells.bram18 == 0)[:, None]
    # All lanes have one address but for the results so far: what does not depend on these is built once.
    of_channel = columns[..., :: 1 << stage]
    alike = in_logic & (columns == np.repeat(of_channel, 1 << stage, axis=-1)).all(-1)
    counted = [_distinct(of_channel[alike], 0)]
    counted += [_distinct(one[chosen], stage) for one, chosen in zip(columns, in_logic & ~alike, strict=True)]
    luts, tables = (sum(each) for each in zip(*counted, strict=True))
    return ThresholdTables(
        MemoryCells(*(each.sum() for each in cells._replace(lut=0 * cells.lut))),
        **_built(tables, luts, depth, stage, loose),
        parts=int(((cells.parts - 1) * varying.sum(1)).sum()),
        varying=int(varying.sum()),
        zeros=int(zeros.sum()),
        ones=int(ones.sum()),
    )


def _built(tables: Any, luts: Any, words: Any, stage: int, loose: Any) -> dict[str, Any]:
    """Return the sizes of the tables of a stage that LUTs hold, and of the registers after them.

    Args:
        tables: Of one bit.
        luts: That hold them at the best.
        words: Of each.
        stage: Its number.
        loose: Whether tables of the first stage are.
    """
    none = 0 * luts
    return {
        "luts": np.where(loose, none, luts),
        "loose": none if stage else np.where(loose, tables * words / _LOOSE, none),
        "after_loose": np.where(loose, luts, none) if stage else none,
        "registers": tables,
    }


def is_loose(words: Any) -> Any:
    """Tell whether Yosys builds tables of the first stage of many small LUTs.

    The counter that is their address adds 1, or 1 less the number of words to begin anew. If that number is a multiple of
    4, the second bit of its sum is always the exclusive or of the address' two lowest bits. That occurs in most tables too,
    and ABC (`&sweep`) takes it from the counter's carry chain, which cannot be part of a LUT and comes later than the
    address. With up to 32 words a LUT has an input left for it. Longer tables become LUTs of 16 words each, on the longest
    path of all; the stages after them have time to spare, and are not built as small as they could be.
    """
    return (np.asarray(words) > _INPUTS // 2) & (np.asarray(words) % 4 == 0)


def _distinct(columns: NDArray[np.uint64], stage: int) -> tuple[int, int]:
    """Return the LUTs of tables of one bit with one address, and the registers behind them.

    A table that is a bit of its address needs neither: that one has a register too.

    Args:
        columns: (tables, words), zeros and ones.
        stage: Of the search: so many bits of the address, the lowest, are of the results so far, the others of the channel.
    """
    if not len(columns):
        return 0, 0
    full = _apart(columns)[:, _read(columns.shape[1])]
    count, depth = full.shape
    address = np.arange(depth) >> np.arange(max(depth.bit_length() - 1, 1))[:, None] & 1
    registers = count - int((full[:, None] == address).all(-1).any(-1).sum())
    arguments = _arguments(full)
    small = arguments <= _INPUTS.bit_length() - 1
    luts = int((arguments[small] > 1).sum())
    wide = full[~small]
    if not len(wide):
        return luts, registers
    leaves = wide.reshape(-1, _INPUTS)
    in_order = len(_apart(leaves)) + len(wide) * (int(table_luts(depth)) - depth // _INPUTS)
    return luts + min(in_order, _by_channel(wide, stage)), registers


def _by_channel(tables: NDArray[np.uint64], stage: int) -> int:
    """Return the LUTs of tables of one bit that first read tables of the channel alone, then choose by the results so far.

    Thresholds that are evenly spaced have few of these apart, or opposite.

    Args:
        tables: (tables, words), of a power of two of words.
        stage: Of the search.
    """
    leaves = tables.reshape(len(tables), -1, 1 << stage).swapaxes(1, 2)  # table, result, channel
    leaves = leaves ^ leaves[:, :, :1]
    apart = [_apart(each) for each in leaves]
    apart = [each[each.any(1)] for each in apart]
    choosing = sum(
        1 if len(each) + stage <= _CHOOSING else int(ceiling((1 << stage) - 1, 3)) for each in apart
    )
    return len(_apart(np.concatenate(apart))) * max(int(table_luts(leaves.shape[2])), 1) + choosing


def _apart(rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the rows of zeros and ones that differ, each once, in any order."""
    packed = np.packbits(rows.astype(bool), axis=1)
    places = {row.tobytes(): at for at, row in enumerate(packed)}
    return rows[list(places.values())]


def _read(words: int) -> NDArray[np.int64]:
    """Return what each address of a table reads, (power of two,): where both halves would be one, its bit is left out."""
    bits = (words - 1).bit_length()
    found = np.zeros(1 << bits, np.int64)
    for bit in reversed(range(bits)):
        chosen = found | (np.arange(1 << bits) & 1 << bit)
        found = np.where(chosen < words, chosen, found)
    return found


def _arguments(tables: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return on how many bits of their address tables of a power of two of words depend."""
    count, depth = tables.shape
    found = np.zeros(count, np.int64)
    for bit in range(depth.bit_length() - 1):
        halves = tables.reshape(count, -1, 2, 1 << bit)
        found += (halves[:, :, 0] != halves[:, :, 1]).any((1, 2))
    return found
