"""streamline: move all floating-point scales into thresholds, and lower convolutions to matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.plugin.core import step
from brainsmith.steps.branches import forks, part_forked_pools, scales_past_forks, transposes_past_forks
from brainsmith.steps.conversion_limits import check_limits, check_sign_products
from brainsmith.steps.depthwise_scales import scales_past_depthwise
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.pool_forms import pools_behind_thresholds, spatial_means_to_pools
from brainsmith.steps.strides import drop_strides_of_single_windows
from brainsmith.steps.window_batches import check_window_batches

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

MOVABLE = ("Add", "BatchNormalization", "Div", "Mul", "Sign", "Sub")
"""What streamlining moves or absorbs. Where none of these is left, its second round, as long as the first, would
change nothing."""


@step(description="Absorb scales and biases into thresholds; lower convolutions to Im2Col and MatMul in NHWC")
def streamline(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Streamline a FINN-ONNX model (Umuroglu and Jahre, arXiv:1709.04060).

    Convolutions become Im2Col and MatMul, in NHWC; bipolar products become XNOR-popcount. What cannot be
    absorbed stays: a last Mul or Add before the output. After a fork each branch has its own scale, and a sum
    of branches with equal scales is one of integers. A mean over all pixels becomes FINN's GlobalAccPool, a sum,
    and its divisor a scale like any other. Thresholds of integers become integers.

    Raises:
        ModelError: A convolution or pool reads several images at once, a padded convolution reads values of a type
            without zero, BIPOLAR inputs of the model meet BIPOLAR weights, or whether a value reaches a threshold
            depends on rounding.
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
        GiveUniqueNodeNames,
    )
    from qonnx.transformation.infer_data_layouts import InferDataLayouts
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.lower_convs_to_matmul import LowerConvsToMatMul

    check_window_batches(model)
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
        own_transform("RemoveIdentityOps")(),
        GiveUniqueNodeNames(),
        own_transform("GiveReadableTensorNames")(),
        InferDataTypes(),
        InferDataLayouts(),
    )
    has_convolutions = any(node.op_type == "Conv" for node in model.graph.node)
    model = pools_behind_thresholds(spatial_means_to_pools(drop_strides_of_single_windows(model)))
    model = transformed(
        model,
        AbsorbScalarBiasIntoMultiThreshold(),
        own_transform("AbsorbPositionsIntoThresholds")(),
        own_transform("MeansToSums")(),
        own_transform("GroupedConvsToDense")(),
    )
    branched = forks(model)
    model = scales_past_forks(model) if branched else model
    scales_past_depthwise(model)
    model = model.transform(Streamline())
    if scales_past_depthwise(model):  # from after a pool, say
        model = model.transform(Streamline())
    model = part_forked_pools(pools_behind_thresholds(model))
    check_limits(model, ("Conv",))
    check_sign_products(model)
    lowered = lowering if has_convolutions else ()
    model = transformed(model, *lowered, ConvertBipolarMatMulToXnorPopcount())
    if branched and has_convolutions:
        model = transposes_past_forks(model)
    model = _global_sums(model)
    again = (Streamline(),) if any(node.op_type in MOVABLE for node in model.graph.node) else tidying
    integers, unused = own_transform("IntegerThresholds")(), own_transform("RemoveUnusedTensors")()
    return transformed(model, *again, AbsorbScalarMulAddIntoTopK(), integers, InferDataLayouts(), unused)


def _global_sums(model: ModelWrapper) -> ModelWrapper:
    """Make means over all pixels sums, whose divisors are scales that can still be moved."""
    if not any(node.op_type == "GlobalAveragePool" for node in model.graph.node):
        return model
    from finn.transformation.fpgadataflow.convert_to_hw.global_acc_pool import InferGlobalAccPoolLayer
    from finn.transformation.streamline.absorb import (
        AbsorbConsecutiveTransposes,
        AbsorbTransposeIntoMultiThreshold,
    )
    from qonnx.transformation.infer_data_layouts import InferDataLayouts
    from qonnx.transformation.infer_datatypes import InferDataTypes

    infer = (InferDataTypes(), InferDataLayouts(), InferGlobalAccPoolLayer())
    return transformed(model, *infer, AbsorbConsecutiveTransposes(), AbsorbTransposeIntoMultiThreshold())
