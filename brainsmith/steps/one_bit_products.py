"""Datatypes of matrix products with 1-bit weights, where FINN's own minimisation is not right or not minimal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.transformation.base import Transformation

from brainsmith.steps.accumulator_widths import give_accumulator

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

KERNELS = ("MVAU", "BinaryMVAU", "EmbeddedMVAU")

DEPTHWISE = ("VVAU", "EmbeddedVVAU")


class KeepOneBitWeights(Transformation):
    """Give products whose weights are 1-bit that datatype again, which FINN's minimisation takes for INT2.

    A weight of -1 or 1 is one bit, and FINN looks for the least integer type that holds both. That of the least weight
    alone, where it is -1 and none is above 0, is BIPOLAR by FINN's rule, which holds no 0 and makes BIPOLAR inputs counts;
    other weights are INT2 then.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Set `weightDataType` to that of the tensor if it is 1-bit, and never to BIPOLAR if it is not."""
        for layer in _products(model, (*KERNELS, *DEPTHWISE)):
            kind = model.get_tensor_datatype(layer.onnx_node.input[1])
            if kind.bitwidth() == 1:
                layer.set_nodeattr("weightDataType", kind.name)
            elif layer.get_nodeattr("weightDataType") == "BIPOLAR":
                layer.set_nodeattr("weightDataType", "INT2")
        return model, False


class RangesOfCounts(Transformation):
    """Give XNOR products an accumulator that holds all counts: of MW products, from 0 to MW may be 1.

    FINN's rule computes the range of 0/1 inputs times -1/1 weights, which is another sum: of 784 products it finds
    some 400 at most. Thresholds would then be clipped where counts still go on.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Set the datatypes of the accumulator and, where the node gives it, of the output."""
        for layer in _products(model):
            if layer.get_nodeattr("binaryXnorMode"):
                give_accumulator(model, layer, "UINT", int(layer.get_nodeattr("MW")).bit_length())
        return model, False


def _products(model: ModelWrapper, kernels: tuple[str, ...] = KERNELS) -> list[Any]:
    from qonnx.custom_op.registry import getCustomOp

    found = [node for node in model.graph.node if node.op_type.partition("_")[0] in kernels]
    return [getCustomOp(node) for node in found]
