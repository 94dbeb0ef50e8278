"""What FINN's analytic models say that a layer needs of the part."""

from __future__ import annotations

from typing import Any

RESOURCES = {"lut": "LUT", "bram18": "BRAM_18K", "dsp": "DSP", "uram": "URAM"}
"""What reports call them, and what FINN does."""


def estimated_resources(layer: Any, part: str) -> dict[str, int]:
    """Return the estimate of one layer by `RESOURCES`; 0 LUTs are FINN's way to say that it has no model of them.

    Args:
        layer: QONNX's instance of the node.
        part: The FPGA.
    """
    used = layer.node_res_estimation(part)
    return {name: round(float(used.get(key, 0))) for name, key in RESOURCES.items()}
