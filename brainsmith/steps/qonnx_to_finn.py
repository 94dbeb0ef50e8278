"""qonnx_to_finn: replace Quant nodes by integer weights and thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.own_transforms import own_transform

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

MOST_THRESHOLD_BITS = 8
"""An activation of more bits stays a Quant node: it would need too many thresholds (FINN's default)."""


@step(
    name="qonnx_to_finn",
    description="Turn Quant nodes into integer weights and MultiThreshold activations",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
)
def qonnx_to_finn(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Convert QONNX quantisers to FINN's form: integer weights, MultiThreshold, and scales as Mul and Add.

    A model without quantisers is only tidied. The activations' widest type is
    `cfg.max_multithreshold_bit_width` where the builder has one, else 8 bits; wider ones stay Quant nodes.
    """
    from finn.transformation.qonnx.convert_qonnx_to_finn import ConvertQONNXtoFINN
    from finn.transformation.qonnx.quant_act_to_multithreshold import default_filter_function_generator
    from qonnx.transformation.fold_constants import FoldConstants
    from qonnx.transformation.general import (
        GiveReadableTensorNames,
        GiveUniqueNodeNames,
        RemoveStaticGraphInputs,
    )
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes

    if any(node.op_type in ("Quant", "BipolarQuant", "BinaryQuant", "Trunc") for node in model.graph.node):
        widest = getattr(cfg, "max_multithreshold_bit_width", MOST_THRESHOLD_BITS)
        if not model.check_all_tensor_shapes_specified():
            model = model.transform(InferShapes())
        model = model.transform(ConvertQONNXtoFINN(default_filter_function_generator(widest)))
        model = model.transform(own_transform("FitThresholdLayouts")())
    tidy = (
        InferShapes(),
        FoldConstants(),
        GiveUniqueNodeNames(),
        GiveReadableTensorNames(),
        InferDataTypes(),
        RemoveStaticGraphInputs(),
    )
    for transform in tidy:
        model = model.transform(transform)
    return model
