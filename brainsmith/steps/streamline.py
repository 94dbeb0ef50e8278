"""streamline: move all floating-point scales into thresholds, and lower convolutions to matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

MOVABLE = ("Add", "BatchNormalization", "Div", "Mul", "Sign", "Sub")
"""What streamlining moves or absorbs. Where none of these is left, its second round, as long as the first, would
change nothing."""


@step(
    name="streamline",
    description="Absorb scales and biases into thresholds; lower convolutions to Im2Col and MatMul in NHWC",
    author="BrainSmith",
    version="0.1.0",
    requires=("finn-plus",),
)
def streamline(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Streamline a FINN-ONNX model (Umuroglu and Jahre, arXiv:1709.04060).

    Convolutions become Im2Col and MatMul, in NHWC; bipolar products become XNOR-popcount. What cannot be
    absorbed stays: a last Mul or Add in front of the output, or one behind a fork.
    """
    from finn.transformation.streamline import Streamline
    from finn.transformation.streamline.absorb import (
        AbsorbConsecutiveTransposes,
        AbsorbScalarBiasIntoMultiThreshold,
        AbsorbScalarMulAddIntoTopK,
        AbsorbTransposeIntoMultiThreshold,
    )
    from finn.transformation.streamline.reorder import MakeMaxPoolNHWC, MakeScaleResizeNHWC
    from qonnx.transformation.bipolar_to_xnor import ConvertBipolarMatMulToXnorPopcount
    from qonnx.transformation.general import (
        GiveReadableTensorNames,
        GiveUniqueNodeNames,
        RemoveUnusedTensors,
    )
    from qonnx.transformation.infer_data_layouts import InferDataLayouts
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.lower_convs_to_matmul import LowerConvsToMatMul
    from qonnx.transformation.remove import RemoveIdentityOps

    lowering = (
        LowerConvsToMatMul(),
        MakeMaxPoolNHWC(),
        AbsorbTransposeIntoMultiThreshold(),
        MakeMaxPoolNHWC(),
        MakeScaleResizeNHWC(),
        AbsorbTransposeIntoMultiThreshold(),
        AbsorbConsecutiveTransposes(),
    )
    tidying = (
        RemoveIdentityOps(),
        GiveUniqueNodeNames(),
        GiveReadableTensorNames(),
        InferDataTypes(),
        InferDataLayouts(),
    )
    has_convolutions = any(node.op_type == "Conv" for node in model.graph.node)
    first = (AbsorbScalarBiasIntoMultiThreshold(), Streamline(), *(lowering if has_convolutions else ()))
    for transform in (*first, ConvertBipolarMatMulToXnorPopcount()):
        model = model.transform(transform)
    again = (Streamline(),) if any(node.op_type in MOVABLE for node in model.graph.node) else tidying
    for transform in (*again, AbsorbScalarMulAddIntoTopK(), InferDataLayouts(), RemoveUnusedTensors()):
        model = model.transform(transform)
    return model
