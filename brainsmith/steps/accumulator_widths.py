"""How wide the sums of products are: FINN's rule, at least one product, and a bit for those that are always 0."""

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
                _hold_a_product(model, layer)
            model = model.transform(InferDataTypes())
        return model, False


def _gives_zeros(model: ModelWrapper, layer: Any) -> bool:
    node = layer.onnx_node
    if node.op_type.partition("_")[0] not in WEIGHTED or layer.get_nodeattr("binaryXnorMode"):
        return False
    weights = model.get_initializer(node.input[1])
    return weights is not None and not weights.any()


def _hold_a_product(model: ModelWrapper, layer: Any) -> None:
    """Widen the accumulator of FINN's cores to the width of one product, which they ask for whatever the weights are."""
    from qonnx.core.datatype import DataType

    node = layer.onnx_node
    if node.op_type.partition("_")[0] not in ("MVAU", "VVAU") or layer.get_nodeattr("binaryXnorMode"):
        return
    weights, inputs = (DataType[layer.get_nodeattr(f"{name}DataType")] for name in ("weight", "input"))
    kind = DataType[layer.get_nodeattr("accDataType")]
    bits = weights.bitwidth() + inputs.bitwidth() - inputs.signed()
    alone = layer.get_nodeattr("noActivation")
    if kind.bitwidth() >= bits or not kind.is_integer():
        return
    if alone and not model.find_direct_successors(node):
        bits = 8 * -(-bits // 8)
    name = f"{'INT' if kind.signed() else 'UINT'}{bits}"
    layer.set_nodeattr("accDataType", name)
    if alone:
        layer.set_nodeattr("outputDataType", name)


def _give_bit(model: ModelWrapper, layer: Any) -> None:
    alone = layer.get_nodeattr("noActivation")
    kind = "UINT1" if model.find_direct_successors(layer.onnx_node) or not alone else "UINT8"
    layer.set_nodeattr("accDataType", kind)
    if alone:
        layer.set_nodeattr("outputDataType", kind)
