"""Whether the models of resources are those of the Yosys that is installed, and if not, how far they are from it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.figures import plural, share
from brainsmith.rtl.cores.trial import Case, make_design
from brainsmith.rtl.resource_models.resource_model import coefficients
from brainsmith.rtl.synthesis.synthesise import synthesise_layers
from brainsmith.rtl.synthesis.yosys import find_yosys

if TYPE_CHECKING:
    from collections.abc import Mapping

PART = "xczu7ev-ffvc1156-2-e"
"""The layers are synthesised for it."""


def drift_note(tool: str | None = None) -> str:
    """Return a sentence on the version of Yosys that coefficients were made with, and what that matters; or nothing.

    A few fixed layers are synthesised, whose figures by the other version are kept. It takes some seconds, once.

    Args:
        tool: The version that synthesises; that which is installed by default.

    Raises:
        ToolError: pyosys is missing.
    """
    made, tool = coefficients()["tool"], tool or find_yosys()
    if made == tool:
        return ""
    kept, now = coefficients()["fixed layers"], fixed_layers()
    shares = [
        abs(now[name][kind] - figure) / figure
        for name, figures in kept.items()
        for kind, figure in figures.items()
        if figure
    ]
    return (
        f"Estimates were calibrated with {made}, and this is {tool}: of {plural(len(kept), 'fixed layer')} its LUTs and "
        f"flip-flops differ by {share(float(np.median(shares)), 1)} at the median and {share(max(shares), 1)} at most. "
        "`python benchmarks/calibrate.py synthesise` and `fit` calibrate anew"
    )


def fixed_layers() -> dict[str, dict[str, int]]:
    """Return LUTs and flip-flops of a few fixed layers, by their types, as Yosys makes them now."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-drift-") as folder:
        _, design = make_design(_cases(), Path(folder), PART)
        layers = synthesise_layers(design, PART)
    return {layer.kernel: {"lut": layer.used.lut, "ff": layer.used.ff} for layer in layers}


def _cases() -> list[Case]:
    weights = np.random.default_rng(0).integers(-8, 8, (64, 32))
    thresholds = np.sort(np.random.default_rng(1).integers(-2048, 2048, (48, 7)), axis=1)
    image: Mapping[str, Any] = {"inputDataType": "UINT4", "numInputVectors": 1}
    return [
        Case(
            "MVAU_rtl",
            [((1, 64), "UINT4")],
            {"MW": 64, "MH": 32, "SIMD": 8, "PE": 4, "inputDataType": "UINT4", "weightDataType": "INT4",
             "outputDataType": "INT14", "accDataType": "INT14", "noActivation": 1, "numInputVectors": [1],
             "mem_mode": "internal_decoupled", "resType": "dsp"},
            constants=[(weights, "INT4")],
        ),
        Case(
            "Thresholding_rtl",
            [((1, 8, 8, 48), "INT12")],
            {"NumChannels": 48, "PE": 4, "numSteps": 7, "inputDataType": "INT12", "weightDataType": "INT12",
             "outputDataType": "UINT3", "ActVal": 0, "numInputVectors": [1, 8, 8]},
            constants=[(thresholds, "INT12")],
        ),
        Case(
            "ConvolutionInputGenerator_rtl",
            [((1, 16, 16, 8), "UINT4")],
            {"ConvKernelDim": [3, 3], "IFMChannels": 8, "IFMDim": [16, 16], "OFMDim": [14, 14], "SIMD": 4,
             "Stride": [1, 1], "Dilation": [1, 1], "depthwise": 0, "parallel_window": 0, "inputDataType": "UINT4",
             "outputDataType": "UINT4"},
        ),
        Case(
            "FMPadding_rtl",
            [((1, 16, 16, 8), "UINT4")],
            {"ImgDim": [16, 16], "Padding": [1, 1, 1, 1], "NumChannels": 8, "SIMD": 4, **image},
        ),
    ]  # fmt: skip
