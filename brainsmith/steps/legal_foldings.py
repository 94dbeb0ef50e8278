"""The foldings that a layer may have: what its backend states, or what FINN's folding may choose of FINN's own layers."""

from __future__ import annotations

from itertools import product
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.rtl.cores.finn_choice import dot_length
from brainsmith.rtl.cores.frame_cycles import WINDOW
from brainsmith.rtl.cores.parallelism import PARALLEL_WINDOW, divisors
from brainsmith.rtl.cores.window_faults import why_not_generated, why_wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.rtl.cores.parallelism import Parallelism

WEIGHT_STREAM_BITS = 36
"""The widest weight stream of one processing element, bits (FINN's default)."""

MEMORIES = ("auto", "block", "distributed")
"""What `ram_style` may be: Yosys' choice, block RAM, LUTs."""

WIRES = "Reshape_rtl"
"""FINN's layer that is nothing but wires."""

LUT_WORDS = 1 << 15
"""Deeper memories of weights are not asked for in LUTs: the calibrated ones had fewer words."""

_LANES = {"Thresholding_rtl": ("PE", "NumChannels"), "FMPadding_rtl": ("SIMD", "NumChannels")}
"""FINN's layers with one attribute that divides another."""

_OTHERS = {"SIMD": ("MW", "NumChannels", "ifm_dim"), "PE": ("MH", "NumChannels")}
"""What may be raised in layers of others that do not state it, and the attributes that give the limit."""


class FoldingSettings(NamedTuple):
    """Attributes of a layer, and of the depthwise window before it, which goes with it."""

    own: dict[str, Any]
    window: dict[str, Any]


def legal_foldings(layer: Any, window: Any, weights: int) -> list[FoldingSettings]:
    """Return all foldings of a layer that a build accepts; one, as it is, if nothing is known to be free in it.

    Args:
        layer: QONNX's instance of the node; its attributes are changed.
        window: That of the sliding window that gives it its channels one after the other; None if there is none. Its
            attributes are changed too.
        weights: The widest weight stream of one processing element, bits.
    """
    op_type = layer.onnx_node.op_type
    if hasattr(layer, "parallelism"):
        found = _stated(layer, window)
    elif op_type in _FINNS:
        found = _FINNS[op_type](layer, window, weights)
    else:
        found = _others(layer) if window is None else iter(())
    styles = _styles(window)
    legal = [
        FoldingSettings(one.own, {**one.window, **style})
        for one in found
        if _is_right(window, one.window)
        for style in styles
    ]
    return legal or [FoldingSettings({}, {})]


def set_all(layer: Any, attributes: dict[str, Any]) -> None:
    """Set attributes of a layer."""
    for name, value in attributes.items():
        layer.set_nodeattr(name, value)


def _styles(layer: Any) -> list[dict[str, str]]:
    """Return the memory styles of a layer that has them and leaves them to the tools; nothing to set for others."""
    free = (
        layer is not None
        and "ram_style" in layer.get_nodeattr_types()
        and layer.get_nodeattr("ram_style") == "auto"
    )
    return [{"ram_style": style} for style in MEMORIES] if free else [{}]


def _is_right(window: Any, attributes: dict[str, Any]) -> bool:
    """Tell whether FINN generates a circuit of a sliding window that loses no values."""
    if window is None or window.onnx_node.op_type != WINDOW:
        return True
    set_all(window, attributes)
    return not why_not_generated(window) and not why_wrong(window)


def _stated(layer: Any, window: Any) -> Iterator[FoldingSettings]:
    """Yield what a backend states; what an attribute may be can depend on those before it, so it is asked for each."""
    asked = [one for one in layer.parallelism() if window is not None or not one.window]
    names = list(dict.fromkeys(one.attribute for one in asked))
    set_all(layer, {one.attribute: one.values[0] for one in reversed(asked)})

    def rest(at: int, own: dict[str, Any], beside: dict[str, Any]) -> Iterator[FoldingSettings]:
        if at == len(names):
            yield FoldingSettings(own, beside)
            return
        values = {
            value: one for one in layer.parallelism() if one.attribute == names[at] for value in one.values
        }
        for value, one in sorted(values.items(), key=lambda entry: entry[0]):
            layer.set_nodeattr(names[at], value)
            yield from rest(at + 1, {**own, names[at]: value}, {**beside, **_followed(one, window, value)})

    yield from rest(0, {}, {})


def _followed(one: Parallelism, window: Any, value: int) -> dict[str, Any]:
    """Return what goes with an attribute in the window in front."""
    if not one.window or window is None:
        return {}
    found = {} if one.window == PARALLEL_WINDOW else {one.window: value}
    if PARALLEL_WINDOW in window.get_nodeattr_types():
        found[PARALLEL_WINDOW] = int(one.window == PARALLEL_WINDOW and value > 1)
    return found


def _product(layer: Any, window: Any, weights: int) -> Iterator[FoldingSettings]:
    """Yield foldings of a matrix-vector unit, whose weight stream is not too wide, and that takes no whole row at once."""
    bits = layer.get_input_datatype(1).bitwidth()
    columns = [one for one in divisors(layer.get_nodeattr("MW")) if one == 1 or one * bits <= weights]
    columns = [one for one in columns if one == 1 or one < dot_length(layer)]
    held = layer.get_nodeattr("mem_mode") == "internal_decoupled"
    styles = _styles(layer) if held else [{}]
    size = layer.get_nodeattr("MW") * layer.get_nodeattr("MH")
    for simd, pe in product(columns, divisors(layer.get_nodeattr("MH"))):
        deep = size // (simd * pe) > LUT_WORDS
        for style in styles:
            if not (deep and style.get("ram_style") == "distributed"):
                yield FoldingSettings({"SIMD": simd, "PE": pe, **style}, {})


def _depthwise(layer: Any, window: Any, weights: int) -> Iterator[FoldingSettings]:
    """Yield foldings of FINN's depthwise unit: several products of a window at once only with all channels."""
    channels, size = layer.get_nodeattr("Channels"), int(np.prod(layer.get_nodeattr("Kernel")))
    for pe in divisors(channels):
        for simd in divisors(size) if pe == channels else (1,):
            if simd > 1 and (simd == size or window is None):
                continue
            beside = {} if window is None else {"SIMD": pe, PARALLEL_WINDOW: int(simd > 1)}
            yield FoldingSettings({"PE": pe, "SIMD": simd}, beside)


def _window(layer: Any, window: Any, weights: int) -> Iterator[FoldingSettings]:
    """Yield foldings of a sliding window; it gives all positions in one beat only with all channels."""
    if layer.get_nodeattr("depthwise"):
        return
    channels = layer.get_nodeattr("IFMChannels")
    for simd in divisors(channels):
        for parallel in (0, 1) if simd == channels else (0,):
            found = {"SIMD": simd, PARALLEL_WINDOW: parallel}
            if _is_right(layer, found):
                for style in _styles(layer):
                    yield FoldingSettings({**found, **style}, {})


def _lanes(layer: Any, window: Any, weights: int) -> Iterator[FoldingSettings]:
    name, limit = _LANES[layer.onnx_node.op_type]
    for value in divisors(layer.get_nodeattr(limit)):
        yield FoldingSettings({name: value}, {})


def _reshaped(layer: Any, window: Any, weights: int) -> Iterator[FoldingSettings]:
    for value in divisors(
        gcd(int(layer.get_normal_input_shape()[-1]), int(layer.get_normal_output_shape()[-1]))
    ):
        yield FoldingSettings({"PE": value}, {})


def _others(layer: Any) -> Iterator[FoldingSettings]:
    """Yield foldings of a layer of another framework than FINN that does not state what makes it faster."""
    if layer.onnx_node.domain.startswith("finn."):
        return
    stated = {attribute.name for attribute in layer.onnx_node.attribute}
    values = {}
    for name, limits in _OTHERS.items():
        stating = [layer.get_nodeattr(other) for other in limits if other in stated]
        if name in stated and stating:
            values[name] = divisors(int(stating[0] if isinstance(stating[0], int) else stating[0][-1]))
    for chosen in product(*values.values()):
        yield FoldingSettings(dict(zip(values, chosen, strict=True)), {})


_FINNS = {
    "MVAU_rtl": _product,
    "VVAU_rtl": _depthwise,
    WINDOW: _window,
    WIRES: _reshaped,
    **dict.fromkeys(_LANES, _lanes),
}
"""FINN's layers that may be folded here, by the type of the node."""
