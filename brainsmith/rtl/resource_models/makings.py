"""What a layer is made of: memories and DSP slices to the last one, and the sizes of what coefficients weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from brainsmith.rtl.resource_models.circuit_sizes import ceiling
from brainsmith.rtl.resource_models.memories import MemoryCells

Parameters = Mapping[str, Any]
"""What describes a layer, by names: numbers, or arrays of them for many foldings."""

Weighed = Mapping[str, Any]
"""Sizes by what they are of; a coefficient for each says what one costs."""


@dataclass(frozen=True)
class Makings:
    """What a layer is made of.

    Attributes:
        memory: All its memories together.
        dsp: DSP slices.
        lut: Sizes that cost LUTs.
        ff: Sizes that cost flip-flops.
    """

    memory: MemoryCells
    dsp: Any
    lut: Weighed
    ff: Weighed


_SHORTEST = 3
"""Stages of the shortest chain of registers that Yosys makes a shift register of."""

_STAGES = 32
"""Of the longest shift register in one LUT."""


def together(*memories: MemoryCells) -> MemoryCells:
    """Return what several memories become."""
    return MemoryCells(*(np.asarray(sum(values)) for values in zip(*memories, strict=True)))


def shift_registers(bits: Any) -> MemoryCells:
    """Return queues of up to 16 words as shift registers, one LUT for each bit."""
    none = 0 * bits
    return MemoryCells(bits, none, none, none, none)


def delay(stages: Any) -> MemoryCells:
    """Return what a chain of registers of one bit becomes: shift registers of 32 or 16 stages, or registers if it is short.

    One stage more than these have is a register after them.
    """
    none, stages = 0 * np.asarray(stages), np.asarray(stages)
    rest = stages % _STAGES
    luts = np.where(stages < _SHORTEST, none, ceiling(stages, _STAGES) - (rest == 1))
    registers = np.where(stages < _SHORTEST, stages, (rest == 1) | (rest == _STAGES // 2 + 1))
    return MemoryCells(luts, registers, none, none, none)


def times(memory: MemoryCells, count: Any) -> MemoryCells:
    """Return what several equal memories become."""
    return MemoryCells(*(count * value for value in memory))
