"""RoundThresholds: thresholds of integers become whole, and stay exact beyond 2^24."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


class RoundThresholds(Transformation):
    """Round and clip thresholds as FINN does, and keep those in float64, of which FINN makes float32.

    FINN clips to the integers that come in and the next one. Thresholds in float64 are whole already: it is what the
    step `integer` writes where sums are beyond 2^24.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Round all of them; the flag is always False."""
        import numpy as np
        from finn.transformation.streamline.round_thresholds import RoundAndClipThresholds

        wide = {}
        for node in model.graph.node:
            rows = model.get_initializer(node.input[1]) if node.op_type.startswith("Thresholding") else None
            kind = model.get_tensor_datatype(node.input[0])
            if rows is not None and rows.dtype == np.float64 and kind.is_integer():
                wide[node.input[1]] = np.clip(np.ceil(rows), int(kind.min()), int(kind.max()) + 1)
        model = model.transform(RoundAndClipThresholds())
        for name, rows in wide.items():
            model.set_initializer(name, rows)
        return model, False
