"""Which operators are the same: domains that are another's, and hardware backends, which compute what their kernel does."""

from __future__ import annotations

STANDARD = ""
QONNX = "qonnx.custom_op.general"
CHANNELS_LAST = "qonnx.custom_op.channels_last"
FINN = "finn.custom_op.fpgadataflow"

_SAME_DOMAIN = {
    "onnx.brevitas": QONNX,
    "finn.custom_op.general": QONNX,
    "ai.onnx": STANDARD,
    f"{FINN}.hls": FINN,
    f"{FINN}.rtl": FINN,
}
"""Brevitas exports to the first, FINN wrote the second before QONNX was."""


def known_as(domain: str, op_type: str) -> tuple[str, str]:
    """Return the domain and the operator as which a node is known: of a hardware backend, its kernel."""
    known = _SAME_DOMAIN.get(domain, domain)
    if known == FINN and op_type.endswith(("_hls", "_rtl")):
        op_type = op_type[:-4]
    return known, op_type
