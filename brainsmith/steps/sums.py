"""Give sums of layers, and the constants in them, datatypes that hold them: FINN's rules are a bit short for some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.transformation.base import Transformation

from brainsmith.rtl.cores.integers import integer_datatype, unbipolar_constants

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


class ConstantsOfSums(Transformation):
    """Give constants of element-wise layers a datatype that has 0, where FINN's minimisation made them BIPOLAR.

    The constant of x - 1 is one: FINN looks for the smallest datatype that holds -1.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Change attributes and annotations; the flag is always False."""
        from finn.custom_op.fpgadataflow.elementwise_binary import ElementwiseBinaryOperation
        from qonnx.custom_op.registry import getCustomOp

        for node in model.graph.node:
            if node.op_type.startswith("Elementwise"):
                layer = getCustomOp(node)
                if isinstance(layer, ElementwiseBinaryOperation):
                    unbipolar_constants(model, layer)
        return model, False


class RangesOfSums(Transformation):
    """Widen the outputs of element-wise Add, Sub and Max layers of integers that cannot hold all of their results.

    FINN derives INT5 for INT4 + UINT4, whose sums are -8 to 22: a residual branch with a sign, added to one without.
    What a sum that got wider goes into is inferred again before the next one is looked at.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Widen attributes and annotations in the order of the graph; the flag is always False."""
        from finn.custom_op.fpgadataflow.elementwise_binary import (
            ElementwiseAdd,
            ElementwiseMax,
            ElementwiseSub,
        )
        from qonnx.custom_op.registry import getCustomOp
        from qonnx.transformation.infer_datatypes import InferDataTypes

        for at in range(len(model.graph.node)):
            node = model.graph.node[at]
            if not node.op_type.startswith(("ElementwiseAdd", "ElementwiseSub", "ElementwiseMax")):
                continue
            layer = getCustomOp(node)
            if isinstance(layer, (ElementwiseAdd, ElementwiseSub, ElementwiseMax)) and _widen(model, layer):
                model = model.transform(InferDataTypes())
        return model, False


def _widen(model: ModelWrapper, layer: Any) -> bool:
    """Take the operands' datatypes from the model, and tell whether the output's had to be widened for them."""
    layer.infer_node_datatype(model)
    kinds = layer.lhs_dtype, layer.rhs_dtype
    if not all(kind.is_integer() for kind in kinds):
        return False
    spans = [(int(kind.min()), int(kind.max())) for kind in kinds]
    ends = [int(layer.npy_op(one, other)) for one in spans[0] for other in spans[1]]
    low, high = min(ends), max(ends)
    if layer.out_dtype.min() <= low and high <= layer.out_dtype.max():
        return False
    datatype = integer_datatype(low, high)
    layer.set_nodeattr("out_dtype", datatype.name)
    model.set_tensor_datatype(layer.onnx_node.output[0], datatype)
    return True


class RangesOfPools(Transformation):
    """Widen the outputs of pools that add and cannot hold all of their sums.

    FINN looks at the end of the larger magnitude, the greatest where both are equal: UINT3 for 4 values from -1 to 1.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Widen attributes and annotations; the flag is always False."""
        from math import prod

        from qonnx.custom_op.registry import getCustomOp

        for node in model.graph.node:
            if node.op_type.partition("_")[0] != "Pool":
                continue
            layer = getCustomOp(node)
            given, wanted = layer.get_input_datatype(), layer.get_output_datatype()
            if layer.get_nodeattr("Function") != "AccPool" or not given.is_integer():
                continue
            size = prod(int(side) for side in layer.get_nodeattr("KernelSize"))
            low, high = size * int(given.min()), size * int(given.max())
            if wanted.name == "BIPOLAR" or low < wanted.min() or high > wanted.max():
                datatype = integer_datatype(low, high)
                layer.set_nodeattr("OutputDataType", datatype.name)
                model.set_tensor_datatype(node.output[0], datatype)
        return model, False
