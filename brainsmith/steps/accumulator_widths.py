"""How wide the sums of products are: FINN's rule, at least one product, and a bit for those that are always 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qonnx.transformation.base import Transformation

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

BYTE = 8
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
                give_accumulator(model, layer, "UINT", 1)
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
    if kind.bitwidth() < bits and kind.is_integer():
        give_accumulator(model, layer, "INT" if kind.signed() else "UINT", bits)


def give_accumulator(model: ModelWrapper, layer: Any, kind: str, bits: int) -> None:
    """Set the datatype of a layer's sums, and of its output where that is the sums.

    At the end of a network the output has whole bytes, which is FINN's rule.

    Args:
        model: The layer's.
        layer: One with an accumulator.
        kind: INT or UINT.
        bits: What the sums need.
    """
    alone = layer.get_nodeattr("noActivation")
    if alone and not model.find_direct_successors(layer.onnx_node):
        bits = -(-bits // BYTE) * BYTE
    layer.set_nodeattr("accDataType", f"{kind}{bits}")
    if alone:
        layer.set_nodeattr("outputDataType", f"{kind}{bits}")
