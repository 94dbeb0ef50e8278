"""cleanup: bring an exported model into the form that the other steps expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.own_transforms import own_transform

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
    from qonnx.transformation.general import (
        GiveUniqueNodeNames,
        GiveUniqueParameterTensors,
        RemoveStaticGraphInputs,
    )
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes
    from qonnx.transformation.quant_constant_folding import FoldTransposeIntoQuantInit

    for node in model.graph.node:
        if node.op_type in QUANTISERS and not node.domain.startswith("qonnx"):
            node.domain = "qonnx.custom_op.general"  # older exporters write onnx.brevitas or finn.custom_op
    model = model.transform(own_transform("SortGraph")()).transform(InferShapes())
    for node in model.graph.node:
        _write_out_defaults(model, node)
    transforms = [
        GiveUniqueParameterTensors(),
        own_transform("FoldConstants")(exclude_op_types=[*QUANTISERS, "QuantizeLinear", "DequantizeLinear"]),
        FoldTransposeIntoQuantInit(),
        own_transform("RemoveIdentityOps")(),
        RemoveStaticGraphInputs(),
        own_transform("RemoveUnusedTensors")(),
        InferDataTypes(),
    ]
    for transform in transforms:
        model = model.transform(transform)
    names = [node.name for node in model.graph.node]
    if "" in names or len(set(names)) < len(names):
        model = model.transform(GiveUniqueNodeNames())
        model = model.transform(own_transform("GiveReadableTensorNames")())
    return model


def _write_out_defaults(model: ModelWrapper, node: NodeProto) -> None:
    """Give convolutions and max-pools the attributes that ONNX lets an exporter omit, and that later steps read."""
    from onnx import helper

    present = {attribute.name: attribute for attribute in node.attribute}
    defaults: dict[str, Any]
    if node.op_type == "MaxPool":
        spatial = len(present["kernel_shape"].ints)
        defaults = {"strides": [1] * spatial}
    elif node.op_type in ("Conv", "ConvTranspose"):
        shape = model.get_tensor_shape(node.input[1])
        if shape is None or len(shape) < 3:
            return
        spatial = len(shape) - 2
        ones = [1] * spatial
        defaults = {"kernel_shape": shape[2:], "strides": ones, "dilations": ones, "group": 1}
    else:
        return
    automatic = present.get("auto_pad")
    if automatic is None or automatic.s in (b"NOTSET", b"VALID"):
        defaults["pads"] = [0] * (2 * spatial)
    for name, value in defaults.items():
        if name not in present:
            node.attribute.append(helper.make_attribute(name, value))
