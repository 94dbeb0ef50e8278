"""Fold a layer by what its backend states (`parallelism()`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.rtl.cores.frame_cycles import WINDOW, frame_cycles
from brainsmith.rtl.cores.parallelism import PARALLEL_WINDOW
from brainsmith.steps.hardware_nodes import has_backend, is_layer

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.cores.parallelism import Parallelism


def states_parallelism(node: NodeProto) -> bool:
    """Tell whether a node's backend states what makes it faster."""
    from qonnx.custom_op.registry import getCustomOp

    return has_backend(node) and hasattr(getCustomOp(node), "parallelism")


def fold_as_stated(model: ModelWrapper, node: NodeProto, cycles: int) -> None:
    """Raise what a layer states, one attribute after the other, until it and the window in front are fast enough.

    What an attribute may be can depend on those before it, so the layer is asked again for each.
    """
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    window = window_in_front(model, node)
    stated = layer.parallelism()
    for one in reversed(stated):
        if _may_change(one, window):
            _set(layer, window, one, one.values[0])
    for at in range(len(stated)):
        one = layer.parallelism()[at]
        if not _may_change(one, window):
            continue
        for before, value in zip((None, *one.values), one.values, strict=False):
            _set(layer, window, one, value)
            if before is not None and one.window and _is_wrong(window):
                _set(layer, window, one, before)
                break
            followed = window if one.window else None
            if max(frame_cycles(each) for each in (layer, followed) if each is not None) <= cycles:
                return


def set_lanes(layer: Any, simd: int, pe: int) -> None:
    """Set both lanes of a product."""
    layer.set_nodeattr("SIMD", simd)
    layer.set_nodeattr("PE", pe)


def raise_attribute(layer: Any, name: str, limit: int, cycles: int) -> None:
    """Raise an attribute through the divisors of its limit until the layer is fast enough."""
    for value in range(max(1, layer.get_nodeattr(name)), limit + 1):
        if limit % value == 0:
            layer.set_nodeattr(name, value)
            if layer.get_exp_cycles() <= cycles:
                return


def _may_change(one: Parallelism, window: Any) -> bool:
    """Tell whether an attribute is free: without a window in front, one that goes with it stays as it was inferred."""
    return window is not None or not one.window


def _set(layer: Any, window: Any, one: Parallelism, value: int) -> None:
    """Set an attribute of a layer, and what goes with it in the window in front."""
    layer.set_nodeattr(one.attribute, value)
    if not one.window or window is None:
        return
    if one.window != PARALLEL_WINDOW:
        window.set_nodeattr(one.window, value)
    if PARALLEL_WINDOW in window.get_nodeattr_types():
        window.set_nodeattr(PARALLEL_WINDOW, int(one.window == PARALLEL_WINDOW and value > 1))


def _is_wrong(window: Any) -> bool:
    """Tell whether FINN's circuit of a sliding window, as it is folded, loses values."""
    from brainsmith.rtl.cores.window_faults import why_wrong

    return window is not None and window.onnx_node.op_type == WINDOW and bool(why_wrong(window))


def window_in_front(model: ModelWrapper, node: NodeProto) -> Any:
    """Return the sliding window that gives a layer its channels one after the other; None if there is none."""
    from qonnx.custom_op.registry import getCustomOp

    producer = model.find_producer(node.input[0])
    if producer is None or not is_layer(producer):
        return None
    window = getCustomOp(producer)
    depthwise = "depthwise" in window.get_nodeattr_types() and window.get_nodeattr("depthwise")
    return window if depthwise else None
