"""Give sums of layers a datatype that holds them: FINN's rule is a bit short for some pairs of operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.transformation.base import Transformation

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


class RangesOfSums(Transformation):
    """Widen the outputs of element-wise Add and Sub layers of integers that cannot hold all of their results.

    FINN derives INT5 for INT4 + UINT4, whose sums are -8 to 22: a residual branch with a sign, added to one without.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Widen attributes and annotations; the flag is always False."""
        from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseAdd, ElementwiseSub
        from qonnx.custom_op.registry import getCustomOp

        for node in model.graph.node:
            if not node.op_type.startswith(("ElementwiseAdd", "ElementwiseSub")):
                continue
            layer = getCustomOp(node)
            if isinstance(layer, (ElementwiseAdd, ElementwiseSub)):
                _widen(model, layer, isinstance(layer, ElementwiseSub))
        return model, False


def _widen(model: ModelWrapper, layer: Any, subtracted: bool) -> None:
    from qonnx.core.datatype import DataType

    first, second = layer.lhs_dtype, layer.rhs_dtype
    if not (first.is_integer() and second.is_integer()):
        return
    ends = sorted((-second.max(), -second.min())) if subtracted else (second.min(), second.max())
    low, high = int(first.min() + ends[0]), int(first.max() + ends[1])
    if layer.out_dtype.min() <= low and high <= layer.out_dtype.max():
        return
    bits = max((~low).bit_length(), high.bit_length()) + 1 if low < 0 else high.bit_length()
    name = f"INT{bits}" if low < 0 else f"UINT{bits}"
    layer.set_nodeattr("out_dtype", name)
    model.set_tensor_datatype(layer.onnx_node.output[0], DataType[name])
