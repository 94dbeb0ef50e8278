"""What FINN itself says of its own backends: whether one can be a layer, and what it leaves for later."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.plugin.info import FINN_RTL
from brainsmith.rtl.cores.node_support import SUPPORTED, Support, unsupported
from brainsmith.rtl.cores.window_faults import why_not_generated, why_wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.plugin.info import PluginInfo

FRAMEWORK = "finn"

STYLE = "preferred_impl_style"
"""The attribute of FINN's layers that asks for `hls` or `rtl`; no backend has it."""

DOTS = {"MVAU": ("MW", "MW"), "VVAU": ("Kernel", "the size of Kernel")}
"""Kernels whose RTL is FINN's matrix-vector unit (`mvu_vvu_axi`), and the attribute that gives the products of one
result: its name, and how messages call it."""

_LATER = ("Shuffle",)
"""FINN folds these kernels as a whole, and takes them apart into others afterwards."""

_NOISE = re.compile(r"There is no \w+ variant (of|for) \S+|.*will automatically be set to \w+ variant")


def dot_length(layer: Any) -> int:
    """Return how many products FINN's matrix-vector unit adds up to one result in a layer; 0 if it is another layer.

    Args:
        layer: QONNX's instance of a node, of the kernel or of its RTL.
    """
    attribute, _ = DOTS.get(layer.onnx_node.op_type.removesuffix("_rtl"), ("", ""))
    return int(np.prod(layer.get_nodeattr(attribute))) if attribute else 0


def waits_for_folding(kernel: PluginInfo) -> bool:
    """Tell whether FINN chooses no backend for a kernel until it is folded."""
    return kernel.framework == FRAMEWORK and kernel.name in _LATER


def finn_supports(model: ModelWrapper, node: NodeProto, backend_type: str, part: str) -> Support:
    """Ask FINN's rules whether its own backend of a type can be a layer; its warning is the reason if not.

    Args:
        model: Holds the node's constants: whether RTL can be a product depends on its weights.
        node: Of a kernel; not changed.
        backend_type: `hls` or `rtl`; FINN has such a backend of the kernel.
        part: The FPGA.
    """
    from finn.transformation.fpgadataflow.specialize_layers import _determine_impl_style
    from finn.util.exception import FINNUserError
    from onnx import NodeProto
    from qonnx.custom_op.registry import getCustomOp

    if backend_type == "rtl" and (reason := _unfit(node)):
        return unsupported(reason)
    asked = NodeProto()
    asked.CopyFrom(node)
    getCustomOp(asked).set_nodeattr(STYLE, backend_type)
    with _captured_log() as warnings:
        try:
            style = _determine_impl_style(asked, part, model)
        except FINNUserError as error:
            return unsupported(f"FINN refuses it: {' '.join(str(error).split())}")
    return SUPPORTED if style == backend_type else unsupported(_reason(warnings))


def takes_all(layer: Any) -> bool:
    """Tell whether a layer takes all that one result needs in one cycle: the unit's output queue is too short then."""
    return bool(layer.get_nodeattr("SIMD") == dot_length(layer))


def _unfit(node: NodeProto) -> str:
    """Return why FINN's circuit of a node would be wrong, of which its own rules know nothing; empty if it would not."""
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    if node.op_type == "Thresholding" and layer.get_nodeattr("inputDataType") == "BIPOLAR":
        return "it would compare the bits of its BIPOLAR input, 0 and 1, in place of -1 and 1"
    if node.op_type in DOTS and takes_all(layer):
        return (
            f"with SIMD equal to {DOTS[node.op_type][1]}, FINN's matrix-vector unit loses results under back-pressure at "
            "its output"
        )
    return _unfit_window(node) if node.op_type == "ConvolutionInputGenerator" else ""


def _unfit_window(node: NodeProto) -> str:
    """Return why FINN cannot generate the circuit of a sliding window; empty if it can, folded or not."""
    from onnx import NodeProto
    from qonnx.custom_op.registry import getCustomOp

    asked = NodeProto()
    asked.CopyFrom(node)
    asked.op_type, asked.domain = f"{node.op_type}_rtl", FINN_RTL
    for entry in [entry for entry in asked.attribute if entry.name == STYLE]:
        asked.attribute.remove(entry)
    window = getCustomOp(asked)
    size, stride, image = (
        "x".join(map(str, window.get_nodeattr(name))) for name in ("ConvKernelDim", "Stride", "IFMDim")
    )
    for simd in {1, int(window.get_nodeattr("IFMChannels"))}:
        window.set_nodeattr("SIMD", simd)
        if said := why_not_generated(window):
            return (
                f"FINN's circuit cannot slide a window of {size} with stride {stride} over an image of {image} ({said}): "
                "change the stride, the padding or the window"
            )
        if why := why_wrong(window):
            return f"FINN's circuit loses values of a window of {size} with stride {stride}, {why}"
    return ""


def _reason(warnings: list[str]) -> str:
    """Return what a warning says beyond that FINN would take another type."""
    sentences = [
        sentence.strip() for warning in warnings for sentence in " ".join(warning.split()).split(". ")
    ]
    said = [sentence.rstrip(".") for sentence in sentences if not _NOISE.fullmatch(sentence)]
    return f"FINN's rules refuse it: {'. '.join(said)}" if said else "FINN's rules refuse it"


@contextmanager
def _captured_log() -> Iterator[list[str]]:
    """Take what FINN logs in the body, so that nothing is logged of backends that are only asked for."""
    from finn.util.logging import log

    lines: list[str] = []

    def keep(record: logging.LogRecord) -> bool:
        lines.append(record.getMessage())
        return False

    log.addFilter(keep)
    try:
        yield lines
    finally:
        log.removeFilter(keep)
