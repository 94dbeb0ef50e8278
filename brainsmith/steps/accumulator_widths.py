"""How wide the sums of products are: FINN's rule, and a bit for those that are always 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.transformation.base import Transformation

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

WEIGHTED = ("MVAU", "VVAU", "EmbeddedMVAU", "EmbeddedVVAU")


class MinimiseAccumulators(Transformation):
    """Let each layer give its results the least datatype, by its own rule.

    Where all weights are 0, FINN's rule finds 0 bits, or fails: the result gets one bit, or a byte at the model's end.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Change attributes and annotations, in the order of the graph; the flag is always False."""
        from finn.util.fpgadataflow import is_fpgadataflow_node
        from qonnx.custom_op.registry import getCustomOp
        from qonnx.transformation.infer_datatypes import InferDataTypes

        for at in range(len(model.graph.node)):
            node = model.graph.node[at]
            layer = getCustomOp(node) if is_fpgadataflow_node(node) else None
            if layer is None or not hasattr(layer, "minimize_accumulator_width"):
                continue
            if _gives_zeros(model, layer):
                _give_bit(model, layer)
            else:
                layer.minimize_accumulator_width(model)
            model = model.transform(InferDataTypes())
        return model, False


def _gives_zeros(model: ModelWrapper, layer: Any) -> bool:
    node = layer.onnx_node
    if node.op_type.partition("_")[0] not in WEIGHTED or layer.get_nodeattr("binaryXnorMode"):
        return False
    weights = model.get_initializer(node.input[1])
    return weights is not None and not weights.any()


def _give_bit(model: ModelWrapper, layer: Any) -> None:
    alone = layer.get_nodeattr("noActivation")
    kind = "UINT1" if model.find_direct_successors(layer.onnx_node) or not alone else "UINT8"
    layer.set_nodeattr("accDataType", kind)
    if alone:
        layer.set_nodeattr("outputDataType", kind)
