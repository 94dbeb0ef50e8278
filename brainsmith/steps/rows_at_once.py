"""Products that FINN's matrix-vector unit cannot take at once: a smaller folding, or another backend."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.steps.backend_choice import chosen_again
from brainsmith.steps.stated_parallelism import raise_attribute, set_lanes

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

ROWS = {"MVAU_rtl": "MH", "VVAU_rtl": "Channels"}
"""Layers that are FINN's matrix-vector unit, and the attribute that limits their PE."""


def avoid_whole_rows(model: ModelWrapper, cfg: Any, cycles: int) -> ModelWrapper:
    """Give units whose SIMD is all that a result needs the next smaller one and more PE, or another RTL backend.

    Another backend takes the place of a layer that would be slower than the target, if one can and may.

    Args:
        model: Folded.
        cfg: Says the part and which backends are allowed, and where the report is.
        cycles: Of a frame at the target rate.
    """
    from qonnx.custom_op.registry import getCustomOp

    for at, node in enumerate(model.graph.node):
        layer = getCustomOp(node) if node.op_type in ROWS else None
        if layer is None or not _takes_all(layer):
            continue
        simd, pe, before = layer.get_nodeattr("SIMD"), layer.get_nodeattr("PE"), layer.get_exp_cycles()
        after = _lower(layer, cycles)
        if after <= max(cycles, before):
            continue
        lower = layer.get_nodeattr("SIMD"), layer.get_nodeattr("PE")
        set_lanes(layer, simd, pe)
        try:
            model = chosen_again(model, cfg, [at])
        except BuildError:
            set_lanes(layer, *lower)
            logging.getLogger(__name__).warning(
                "%s takes %d cycles per frame, and the target is %d: in RTL it cannot take a whole row at once",
                node.name, after, cycles,
            )  # fmt: skip
    return model


def _takes_all(layer: Any) -> bool:
    from brainsmith.rtl.cores.finn_choice import dot_length

    return bool(1 < layer.get_nodeattr("SIMD") == dot_length(layer))


def _lower(layer: Any, cycles: int) -> int:
    """Lower SIMD, raise PE, and return the cycles of a frame."""
    width = layer.get_nodeattr("SIMD")
    layer.set_nodeattr("SIMD", max(d for d in range(1, width) if width % d == 0))
    raise_attribute(layer, "PE", layer.get_nodeattr(ROWS[layer.onnx_node.op_type]), cycles)
    return int(layer.get_exp_cycles())
