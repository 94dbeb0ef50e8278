"""FINN's matrix-vector core: how it lays products beside each other in a DSP slice, and how many slices it has."""

from __future__ import annotations

import re
from typing import Any

KERNELS = ("MVAU_rtl", "VVAU_rtl")
"""The layers with that core."""

_PARAMETER = re.compile(r"^\s*parameter\s+(\w+)\s*=\s*(\d+)\s*,", re.MULTILINE)
_NEEDED = (
    "IS_MVU", "VERSION", "PUMPED_COMPUTE", "PE", "SIMD", "ACTIVATION_WIDTH", "WEIGHT_WIDTH", "NARROW_WEIGHTS",
)  # fmt: skip
_INT8_LANES, _INT8_WEIGHT, _INT8_ACTIVATION = 3, 8, 9
_VERSIONS = {"xc7": 1, "xcu": 2, "xcup": 2, "versal": 3}
"""Of the core, by the part's family: for DSP48E1, DSP48E2, DSP58."""


def expected_slices(wrapper: str) -> int | None:
    """Return the DSP slices of a layer.

    Args:
        wrapper: The generated module, with its parameters.

    Returns:
        None if these are not those of the core that is known here.
    """
    values = {name: int(value) for name, value in _PARAMETER.findall(wrapper)}
    if not all(name in values for name in _NEEDED):
        return None
    columns = -(-values["SIMD"] // (2 if values["PUMPED_COMPUTE"] else 1))
    version, narrow = values["VERSION"], bool(values["NARROW_WEIGHTS"])
    given = values["WEIGHT_WIDTH"], values["ACTIVATION_WIDTH"], narrow
    return int(_slices(version, values["PE"], columns, *given, one_input=bool(values["IS_MVU"])))


def dsp_slices(family: str, pe: Any, simd: Any, weight: int, activation: int, narrow: bool) -> Any:
    """Return the DSP slices of a matrix-vector unit: one number, or an array for arrays of `pe` and `simd`.

    Args:
        family: Of the part.
        pe: Rows at once.
        simd: Columns at once.
        weight: Bits of a weight.
        activation: Bits of an input.
        narrow: Whether the least weight that its datatype holds does not occur.
    """
    return _slices(_VERSIONS[family], pe, simd, weight, activation, narrow, one_input=True)


def chains_slices(weight: int, activation: int, narrow: bool) -> bool:
    """Tell whether an MVAU on a Versal chains slices of three products each, in place of the core of all other parts.

    Args:
        weight: Bits of a weight.
        activation: Bits of an input.
        narrow: Whether the least weight that its datatype holds does not occur.
    """
    return bool(_slices(_VERSIONS["versal"], 1, _INT8_LANES, weight, activation, narrow, one_input=True) == 1)


def lanes_of(family: str, weight: int, activation: int, total: int, narrow: bool) -> list[int]:
    """Return the bits of each product's place in a slice, the lowest first.

    A slice multiplies one activation by as many weights as fit beside each other into its wider input, each with the
    bits of a product; what is left over goes to the lowest ones, and the highest one reaches into the accumulator.

    Args:
        family: Of the part.
        weight: Bits of a weight.
        activation: Bits of an input.
        total: Bits of a sum.
        narrow: Whether the least weight does not occur.
    """
    version = _VERSIONS[family]
    count, least = _lanes(version, weight, activation, narrow), weight + activation - 1
    spare = _multiplier_bits(version) - weight - (0 if narrow else 1) - (count - 1) * least
    lanes = []
    for behind in range(count - 1, 0, -1):
        extra = -(-spare // behind)
        lanes.append(least + extra)
        spare -= extra
    return [*lanes, min(total, (58 if version > 2 else 48) - sum(lanes))]


def _multiplier_bits(version: int) -> int:
    return 25 if version == 1 else 27


def _lanes(version: int, weight: int, activation: int, narrow: bool) -> int:
    wide = _multiplier_bits(version)
    return 1 if wide == weight else 1 + (wide - weight - (0 if narrow else 1)) // (weight + activation - 1)


def _slices(
    version: int, rows: Any, columns: Any, weight: int, activation: int, narrow: bool, one_input: bool
) -> Any:
    """Return the slices; the DSP58's INT8 mode adds three products instead (`mvu.sv`, `mvu_vvu_8sx9_dsp58.sv`)."""
    lanes = _lanes(version, weight, activation, narrow)
    fits = weight <= _INT8_WEIGHT and activation <= _INT8_ACTIVATION
    if not one_input or (version > 2 and lanes <= _INT8_LANES and fits):
        return rows * -(-columns // _INT8_LANES)
    return -(-rows // lanes) * columns
