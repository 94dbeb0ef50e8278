"""How many DSP slices FINN's matrix-vector core has: what a synthesis of it must find."""

from __future__ import annotations

import re

KERNELS = ("MVAU_rtl", "VVAU_rtl")
"""The layers with that core."""

_PARAMETER = re.compile(r"^\s*parameter\s+(\w+)\s*=\s*(\d+)\s*,", re.MULTILINE)
_NEEDED = (
    "IS_MVU", "VERSION", "PUMPED_COMPUTE", "PE", "SIMD", "ACTIVATION_WIDTH", "WEIGHT_WIDTH", "NARROW_WEIGHTS",
)  # fmt: skip
_INT8_LANES, _INT8_WEIGHT, _INT8_ACTIVATION = 3, 8, 9


def expected_slices(wrapper: str) -> int | None:
    """Return the DSP slices of a layer.

    A slice multiplies one activation by as many weights as fit beside each other into its wider input, each with the
    bits of a product; the DSP58's INT8 mode adds three products instead (finn-rtllib/mvu, `mvu.sv` and
    `mvu_vvu_8sx9_dsp58.sv`).

    Args:
        wrapper: The generated module, with its parameters.

    Returns:
        None if these are not those of the core that is known here.
    """
    values = {name: int(value) for name, value in _PARAMETER.findall(wrapper)}
    if not all(name in values for name in _NEEDED):
        return None
    version, weight, activation = (values[name] for name in ("VERSION", "WEIGHT_WIDTH", "ACTIVATION_WIDTH"))
    wide = 25 if version == 1 else 27
    spare = wide - weight - (0 if values["NARROW_WEIGHTS"] else 1)
    lanes = 1 if wide == weight else 1 + spare // (weight + activation - 1)
    fits = weight <= _INT8_WEIGHT and activation <= _INT8_ACTIVATION
    rows = values["PE"]
    columns = -(-values["SIMD"] // (2 if values["PUMPED_COMPUTE"] else 1))
    if not values["IS_MVU"] or (version > 2 and lanes <= _INT8_LANES and fits):
        return rows * -(-columns // _INT8_LANES)
    return -(-rows // lanes) * columns
