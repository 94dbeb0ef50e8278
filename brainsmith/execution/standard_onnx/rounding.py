"""QONNX's rounding modes in standard operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.execution.standard_onnx.emitter import Emitter

_DIRECT = {"ROUND": "Round", "HALF_EVEN": "Round", "CEIL": "Ceil", "FLOOR": "Floor"}

_AWAY_AND_BACK: dict[str, tuple[float, str]] = {
    "UP": (0.0, "Ceil"), "DOWN": (0.0, "Floor"), "HALF_UP": (0.5, "Floor"), "HALF_DOWN": (-0.5, "Ceil"),
}  # fmt: skip
"""What is added to the size, and how it is rounded then; the sign is put back at the end."""


def emit_rounding(emit: Emitter, x: str, mode: str) -> str:
    """Write a rounding by one of the ROUNDINGS, and return the name of the result.

    Source of the modes: QONNX, `resolve_rounding_mode`.
    """
    if mode in _DIRECT:
        return emit.add(_DIRECT[mode], [x])
    shift, rounded = _AWAY_AND_BACK[mode]
    size = emit.affine(emit.add("Abs", [x]), 1.0, shift)
    return emit.add("Mul", [emit.add("Sign", [x]), emit.add(rounded, [size])])
