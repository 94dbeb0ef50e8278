"""Clip thresholds below 0 where no input is: FINN refuses them, and they are always reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qonnx.transformation.base import Transformation

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


class ClipThresholdsOfUnsigned(Transformation):
    """Raise the negative thresholds of Thresholding layers with unsigned inputs to 0, which changes no result.

    They come from quantisers with a sign after values without one, such as a mean of activations.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Clip; the flag is always False."""
        import numpy as np
        from qonnx.core.datatype import DataType

        for node in model.graph.node:
            if not node.op_type.startswith("Thresholding"):
                continue
            thresholds, kind = model.get_initializer(node.input[1]), model.get_tensor_datatype(node.input[0])
            if thresholds is None or not kind.is_integer() or kind.signed() or (thresholds >= 0).all():
                continue
            clipped = np.maximum(thresholds, 0)
            datatype = model.get_tensor_datatype(node.input[1])
            readers = sum(list(other.input).count(node.input[1]) for other in model.graph.node)
            if readers > 1:  # others may have inputs with a sign
                node.input[1] = model.make_new_valueinfo_name()
            model.set_initializer(node.input[1], clipped)
            if (clipped == np.rint(clipped)).all():
                datatype = DataType.get_smallest_possible(float(clipped.max()))
            model.set_tensor_datatype(node.input[1], datatype)
        return model, False
