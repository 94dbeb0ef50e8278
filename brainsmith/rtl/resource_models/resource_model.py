"""What FINN's RTL layers need of a part, from their parameters and calibrated coefficients."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.rtl.resource_models.finn_cores import CORES
from brainsmith.rtl.synthesis.compute_core import KERNELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.resource_models.makings import Makings, Parameters, Weighed

FILE = Path(__file__).with_name("coefficients.json")
"""Coefficients by the type of the node and `lut` or `ff`; `benchmarks/calibrate.py` makes them."""

SIX_INPUTS = ("xc7", "xcu", "xcup", "versal")
"""Families that share coefficients: their LUTs have six inputs, and Yosys maps logic to them alike."""

OTHER_SLICES = "versal"
"""The family whose DSP slice makes other cores of matrix-vector units, with coefficients of their own."""


class Needs(NamedTuple):
    """What layers need: whole numbers, or arrays of them for arrays of parameters."""

    lut: Any
    ff: Any
    bram18: Any
    dsp: Any
    uram: Any = 0


@cache
def coefficients() -> dict[str, Any]:
    """Return what is kept in `FILE`: `tool`, and `layers` by the type of the node, then `lut` and `ff`, then the size."""
    return dict(json.loads(FILE.read_text("utf-8")))


def calibrated_as(op_type: str, family: str) -> str:
    """Return under which name a kernel's coefficients for a family are kept."""
    return f"{op_type} {family}" if op_type in KERNELS and family == OTHER_SLICES else op_type


def has_model(op_type: str, family: str) -> bool:
    """Tell whether there is a model of a type of node for a family of parts."""
    return family in SIX_INPUTS and calibrated_as(op_type, family) in coefficients()["layers"]


def needs(op_type: str, parameters: Parameters, family: str) -> Needs:
    """Return what layers of one type need.

    Args:
        op_type: Of their nodes; `has_model` is true of it.
        parameters: Of a layer (`finn_parameters`); for many foldings of one, what folding changes is an array of whole
            numbers, (foldings,).
        family: Of the part.
    """
    arrays = {name: value for name, value in parameters.items() if isinstance(value, np.ndarray)}
    by = coefficients()["layers"][calibrated_as(op_type, family)]
    if not arrays:
        return weighed(CORES[op_type](parameters, family), by)
    # A layer has few foldings, however often each is asked for.
    first, back = distinct(list(arrays.values()))
    few = {**parameters, **{name: values[first] for name, values in arrays.items()}}
    found = weighed(CORES[op_type](few, family), by)
    return Needs(*(np.broadcast_to(each, first.shape)[back] for each in found))


def distinct(arrays: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each combination of values of some arrays stands first, and which of these each entry is.

    Args:
        arrays: Of whole numbers, none below 0, all of one length.
    """
    key = np.zeros_like(arrays[0])
    for values in arrays:
        key = key * (int(values.max()) + 1) + values
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    return first, back


def weighed(makings: Makings, by: dict[str, dict[str, float]]) -> Needs:
    """Return what layers need, from what they are made of and the coefficients of their kernel."""
    memory = makings.memory
    lut = memory.lut + _sum(makings.lut, by["lut"])
    ff = memory.ff + _sum(makings.ff, by["ff"])
    return Needs(
        np.rint(lut).astype(np.int64), np.rint(ff).astype(np.int64), memory.bram18, makings.dsp, memory.uram
    )


def _sum(sizes: Weighed, by: dict[str, float]) -> Any:
    return sum(by.get(name, 0.0) * size for name, size in sizes.items())
