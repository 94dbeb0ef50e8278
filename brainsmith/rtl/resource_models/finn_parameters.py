"""The parameters of FINN's layers, as their resource models take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.resource_models.threshold_tables import ThresholdValues

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from qonnx.core.datatype import BaseDataType

Attribute = Callable[[str], Any]
"""Gives an attribute of a node by its name."""

_TAKEN: dict[str, tuple[str, ...]] = {
    "MVAU_rtl": ("MW", "MH", "SIMD", "PE", "ram_style"),
    "VVAU_rtl": ("Channels", "Kernel", "SIMD", "PE", "ram_style"),
    "Thresholding_rtl": ("NumChannels", "PE", "numSteps", "deep_pipeline"),
    "ConvolutionInputGenerator_rtl": (
        "ConvKernelDim", "IFMDim", "OFMDim", "Stride", "Dilation", "IFMChannels", "SIMD", "depthwise",
        "parallel_window", "ram_style",
    ),
    "FMPadding_rtl": ("ImgDim", "Padding", "NumChannels", "SIMD"),
    "StreamingFIFO_rtl": ("depth",),
    "StreamingDataWidthConverter_rtl": (),
    "Reshape_rtl": (),
}  # fmt: skip
"""Attributes that are parameters, by the type of the node."""

_KNOWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "MVAU_rtl": {
        "mem_mode": ("internal_decoupled",), "ram_style": ("auto", "block", "distributed"), "pumpedCompute": (0,),
        "pumpedMemory": (0,), "noActivation": (1,), "TH": (1,), "mlo_max_iter": (0,),
    },
    "VVAU_rtl": {
        "mem_mode": ("internal_decoupled",), "ram_style": ("auto", "block", "distributed"), "noActivation": (1,),
    },
    "Thresholding_rtl": {
        "runtime_writeable_weights": (0,), "depth_trigger_bram": (0,), "depth_trigger_uram": (0,), "deep_pipeline": (0, 1),
    },
    "ConvolutionInputGenerator_rtl": {"dynamic_mode": (0,), "ram_style": ("auto", "block", "distributed"), "M": (1,)},
    "FMPadding_rtl": {"dynamic_mode": (0,)},
    "StreamingFIFO_rtl": {"ram_style": ("auto",), "impl_style": ("rtl",), "depth_monitor": (0,)},
    "StreamingDataWidthConverter_rtl": {},
    "Reshape_rtl": {},
}  # fmt: skip
"""What attributes must be for a model to hold."""


def parameters_of(
    op_type: str, attribute: Attribute, narrow: bool = False, held: NDArray[Any] | None = None
) -> dict[str, Any] | None:
    """Return the parameters of one layer; None if there is no model of it as it is set.

    Args:
        op_type: Of the node.
        attribute: Gives its attributes; raises AttributeError for those that it does not have.
        narrow: Whether the least weight that its datatype holds does not occur.
        held: Its thresholds, (channels or 1, steps), if they are known.
    """
    if op_type not in _TAKEN or not all(
        _is_one_of(attribute, name, values) for name, values in _KNOWN[op_type].items()
    ):
        return None
    found = {name: attribute(name) for name in _TAKEN[op_type]}
    if op_type == "StreamingFIFO_rtl":
        return found | {"bits": attribute("folded_shape")[-1] * _bits(attribute("dataType"))}
    if op_type == "StreamingDataWidthConverter_rtl":
        return found | {"taken": attribute("inWidth"), "given": attribute("outWidth")}
    if op_type == "Reshape_rtl":
        return found
    found["input_bits"] = _bits(attribute("inputDataType"))
    if op_type in {"MVAU_rtl", "VVAU_rtl", "Thresholding_rtl"}:
        found["weight_bits"] = _bits(attribute("weightDataType"))
    if op_type in {"MVAU_rtl", "VVAU_rtl"}:
        found |= {"sum_bits": _bits(attribute("accDataType")), "narrow": narrow}
    if op_type == "Thresholding_rtl" and held is not None:
        found["thresholds"] = ThresholdValues(np.asarray(held).astype(np.int64))
    return found


def _is_one_of(attribute: Attribute, name: str, values: tuple[Any, ...]) -> bool:
    try:
        return attribute(name) in values
    except AttributeError:
        return True


def _bits(datatype: str) -> int:
    return int(_datatype(datatype).bitwidth())


def _datatype(name: str) -> BaseDataType:
    from qonnx.core.datatype import DataType

    return DataType[name]
