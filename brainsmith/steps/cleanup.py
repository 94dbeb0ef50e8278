"""cleanup: bring an exported model into the form that the other steps expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

QUANTISERS = ("Quant", "IntQuant", "BipolarQuant", "Trunc", "FloatQuant")


@step(
    name="cleanup",
    description="Infer shapes and datatypes, fold constants, write out what the exporter left to defaults",
    author="BrainSmith",
    version="0.1.0",
    requires=("qonnx",),
)
def cleanup(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Infer all shapes and datatypes, fold constants, and name every node and tensor.

    Quantisers of constants are kept: they carry the datatypes of the weights. The names of nodes are kept
    where each has one of its own, so that later messages name what the user knows. Twice is the same as once.
    """
    from qonnx.transformation.fold_constants import FoldConstants
    from qonnx.transformation.general import (
        GiveReadableTensorNames,
        GiveUniqueNodeNames,
        GiveUniqueParameterTensors,
        RemoveStaticGraphInputs,
        RemoveUnusedTensors,
        SortGraph,
    )
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes
    from qonnx.transformation.quant_constant_folding import FoldTransposeIntoQuantInit
    from qonnx.transformation.remove import RemoveIdentityOps

    for node in model.graph.node:
        if node.op_type in QUANTISERS and not node.domain.startswith("qonnx"):
            node.domain = "qonnx.custom_op.general"  # older exporters write onnx.brevitas or finn.custom_op
    model = model.transform(SortGraph()).transform(InferShapes())
    for node in model.graph.node:
        _write_out_defaults(model, node)
    transforms = [
        GiveUniqueParameterTensors(),
        FoldConstants(exclude_op_types=[*QUANTISERS, "QuantizeLinear", "DequantizeLinear"]),
        FoldTransposeIntoQuantInit(),
        RemoveIdentityOps(),
        RemoveStaticGraphInputs(),
        RemoveUnusedTensors(),
        InferDataTypes(),
    ]
    for transform in transforms:
        model = model.transform(transform)
    names = [node.name for node in model.graph.node]
    if "" in names or len(set(names)) < len(names):
        model = model.transform(GiveUniqueNodeNames())
        model = model.transform(GiveReadableTensorNames())
    return model


def _write_out_defaults(model: ModelWrapper, node: NodeProto) -> None:
    """Give a convolution the attributes that ONNX lets an exporter omit, and that QONNX's lowering reads."""
    from onnx import helper

    if node.op_type not in ("Conv", "ConvTranspose"):
        return
    shape = model.get_tensor_shape(node.input[1])
    if shape is None or len(shape) < 3:
        return
    present = {attribute.name: attribute for attribute in node.attribute}
    spatial = len(shape) - 2
    automatic = present.get("auto_pad")
    defaults: dict[str, Any] = {
        "kernel_shape": shape[2:],
        "strides": [1] * spatial,
        "dilations": [1] * spatial,
        "group": 1,
    }
    if automatic is None or automatic.s in (b"NOTSET", b"VALID"):
        defaults["pads"] = [0] * (2 * spatial)
    for name, value in defaults.items():
        if name not in present:
            node.attribute.append(helper.make_attribute(name, value))
