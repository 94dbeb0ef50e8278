"""cleanup: bring an exported model into the form that the other steps expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.execution.fixed_batch import fix_batch
from brainsmith.graph.operator_names import QONNX
from brainsmith.plugin.core import step
from brainsmith.steps.cast_inputs import cast_inputs_to_floats
from brainsmith.steps.operator_set import with_new_operators
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.unread_results import drop_unread_results
from brainsmith.steps.window_defaults import write_out_defaults

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

QUANTISERS = ("Quant", "IntQuant", "BipolarQuant", "Trunc", "FloatQuant")


@step(
    description="Infer shapes and datatypes, fold constants, write out what the exporter left to defaults",
    requires=("qonnx",),
)
def cleanup(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Infer all shapes and datatypes, fold constants, and name every node and tensor.

    Quantisers of constants are kept: they carry the datatypes of the weights. The names of nodes are kept
    where each has one of its own, so that later messages name what the user knows. An open batch is 1. An input of ONNX's
    integers that is cast to floats is one of floats, annotated with those integers. Nodes that nothing reads go.
    Operators are those of ONNX's version 13 or later. Sums and extremes of several
    tensors are written as operators of two. Twice is the same as once.
    """
    from qonnx.transformation.general import (
        GiveUniqueNodeNames,
        GiveUniqueParameterTensors,
        RemoveStaticGraphInputs,
    )
    from qonnx.transformation.infer_shapes import InferShapes
    from qonnx.transformation.quant_constant_folding import FoldTransposeIntoQuantInit

    fix_batch(model)
    cast_inputs_to_floats(model)
    for node in model.graph.node:
        if node.op_type in QUANTISERS and not node.domain.startswith("qonnx"):
            node.domain = QONNX  # older exporters write onnx.brevitas or finn.custom_op
            if QONNX not in model.get_opset_imports():
                model.model.opset_import.add(domain=QONNX, version=1)
    model = transformed(model, own_transform("SortGraph")(), InferShapes())
    if any(node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in model.graph.node):
        # Shapes after ONNX Runtime's own nodes are not known before.
        model = transformed(model, own_transform("QuantizeLinearToQuant")(), InferShapes())
    model = with_new_operators(model)
    drop_unread_results(model)
    write_out_defaults(model)
    if any(node.op_type in ("Max", "Mean", "Min", "Sum") for node in model.graph.node):
        model = transformed(model, own_transform("PairOperands")(), InferShapes())
    if any(node.op_type == "Gemm" for node in model.graph.node):
        model = transformed(model, own_transform("PlainGemm")(), InferShapes())
    model = transformed(
        model,
        GiveUniqueParameterTensors(),
        own_transform("FoldConstants")(exclude_op_types=QUANTISERS),
        FoldTransposeIntoQuantInit(),
        own_transform("RemoveIdentityOps")(),
        RemoveStaticGraphInputs(),
        own_transform("RemoveUnusedTensors")(),
        own_transform("InferDataTypes")(),
    )
    names = [node.name for node in model.graph.node]
    if "" in names or len(set(names)) < len(names):
        model = transformed(model, GiveUniqueNodeNames(), own_transform("GiveReadableTensorNames")())
    return model
