"""What is wrong with the circuit that FINN generates of a sliding window, as it is folded."""

from __future__ import annotations

from math import prod
from typing import Any

LEAST_DELAY = 2
"""Elements that FINN's line buffer (`swg_ram_buffer`) must hold: with fewer its addresses have no bits."""


def why_not_generated(window: Any) -> str:
    """Return what FINN says when it generates no circuit of a sliding window; empty if it does.

    Args:
        window: QONNX's instance of a `ConvolutionInputGenerator_rtl`.
    """
    try:
        style = window.select_impl_style()
        window.prepare_codegen_parallel() if style == "parallel" else window.prepare_codegen_default()
    except (AssertionError, ValueError) as error:
        return str(error).removeprefix("ERROR: ")
    return ""


def why_wrong(window: Any) -> str:
    """Return why FINN's circuit of a sliding window loses values; empty if it does not.

    Args:
        window: QONNX's instance of a `ConvolutionInputGenerator_rtl`, of which FINN generates a circuit.
    """
    taps, steps = (list(window.get_nodeattr(name)) for name in ("ConvKernelDim", "Stride"))
    if window.select_impl_style() == "default":
        beyond = any(step > count for step, count in zip(steps, taps, strict=True))
        if beyond:
            return "which steps beyond its taps: change the stride or the window"
        return (
            "of which it never reads the second of two beats: fold it less, or pad the image"
            if _beats(window) == 2
            else ""
        )
    if _delay(window) < LEAST_DELAY:
        return (
            "which it gives in one beat from rows that are hardly longer than it: set parallel_window = 0, or make the "
            "image wider"
        )
    return ""


def _beats(window: Any) -> int:
    """Return the beats of an image."""
    return int(
        prod(window.get_nodeattr("IFMDim"))
        * window.get_nodeattr("IFMChannels")
        // window.get_nodeattr("SIMD")
    )


def _delay(window: Any) -> int:
    """Return how many elements each of its line buffers holds; enough where it has none."""
    channels, (_, wide), _, (tall, broad), _, (by_row, by_column) = window.get_1d_conv_attrs_normalized()
    span = (broad - 1) * by_column + 1
    folds = channels // window.get_nodeattr("SIMD")
    return LEAST_DELAY if tall == 1 else int((wide - span + wide * (by_row - 1)) * folds)
