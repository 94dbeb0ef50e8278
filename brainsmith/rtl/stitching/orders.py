"""When layers give and take values."""

from __future__ import annotations

from typing import Any

_EARLY = ("FMPadding", "Pad1D")
"""FINN's kernels that may begin a frame before their first input beat."""


def is_early(layer: Any) -> bool:
    """Tell whether a layer may give beats of a frame that is not fed; a plugin's says so itself (`early = True`)."""
    return layer.onnx_node.op_type.startswith(_EARLY) or bool(getattr(layer, "early", False))
