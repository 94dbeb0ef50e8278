"""qonnx_to_finn: replace Quant nodes by integer weights and thresholds."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.graph.well_formed import node_text
from brainsmith.plugin.core import step
from brainsmith.steps.own_transforms import own_transform, transformed
from brainsmith.steps.window_batches import check_window_dimensions
from brainsmith.transforms.graph_view import attribute, value_of_one

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

MOST_THRESHOLD_BITS = 8
"""An activation of more bits stays a Quant node: it would need too many thresholds (FINN's default)."""

QUANTISERS = ("Quant", "IntQuant", "BipolarQuant", "Trunc")


@step(description="Turn Quant nodes into integer weights and MultiThreshold activations")
def qonnx_to_finn(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Convert QONNX quantisers to FINN's form: integer weights, MultiThreshold, and scales as Mul and Add.

    Every rounding mode, scale and whole zero point comes out as QONNX computes it, ties included (transform
    QuantisersToThresholds). A model without quantisers is tidied, and its thresholds are placed between the values that
    reach them. The activations' widest type is `cfg.max_multithreshold_bit_width` where the builder has one, else 8
    bits; wider ones stay Quant nodes.

    Raises:
        ModelError: A quantiser has parameters that integers and thresholds cannot give, or a window slides over something
            else than images.
    """
    from qonnx.transformation.general import (
        GiveUniqueNodeNames,
        RemoveStaticGraphInputs,
    )
    from qonnx.transformation.infer_datatypes import InferDataTypes
    from qonnx.transformation.infer_shapes import InferShapes

    if not model.check_all_tensor_shapes_specified():
        model = model.transform(InferShapes())
    check_window_dimensions(model)
    if any(node.op_type in QUANTISERS for node in model.graph.node):
        model = _integer_weights(model)
    widest = getattr(cfg, "max_multithreshold_bit_width", MOST_THRESHOLD_BITS)
    model = model.transform(own_transform("QuantisersToThresholds")(widest))
    _warn_of_wide(model, widest)
    model = model.transform(own_transform("FitThresholdLayouts")())
    return transformed(
        model,
        InferShapes(),
        own_transform("FoldConstants")(),
        GiveUniqueNodeNames(),
        own_transform("GiveReadableTensorNames")(),
        InferDataTypes(),
        RemoveStaticGraphInputs(),
    )


def _check_truncations(model: ModelWrapper) -> None:
    """Refuse a Trunc after an average of which FINN's pool would drop another number of bits.

    FINN works the bits of the pool's input back from the Trunc's, and those of its sum from these: with windows of
    36 pixels, say, the sum has fewer bits than the Trunc takes it to have.
    """
    for node in [node for node in model.graph.node if node.op_type == "Trunc"]:
        before = model.find_producer(node.input[0])
        if before is not None and before.op_type == "Mul":
            before = model.find_producer(before.input[0])
        if before is None or before.op_type != "AveragePool":
            continue
        window = attribute(before, "kernel_shape")
        given, kept = (value_of_one(model.get_initializer(node.input[at])) for at in (3, len(node.input) - 1))
        if given is None or kept is None:
            continue
        pixels, bits = window[0] * window[-1], int(given)
        sums = ((1 << ((1 << bits) // pixels).bit_length() - 1) - 1) * pixels
        dropped = max(sums.bit_length() - int(kept), 0)
        if dropped != bits - int(kept):
            raise ModelError(
                f"Trunc '{node.name or node.output[0]}' drops {bits - int(kept)} of {bits} bits after an "
                f"average of {pixels} pixels, where FINN's pool drops {dropped}: use a window whose pixels are a power of "
                "two, or a Quant in place of the Trunc"
            )


def _integer_weights(model: ModelWrapper) -> ModelWrapper:
    """Make quantised weights integers with a Mul after their layer, and pooled averages FINN's."""
    from finn.transformation.qonnx.convert_qonnx_to_finn import (
        AvgPoolAndTruncToQuantAvgPool,
        ExtractBiasFromConv,
        FoldQuantWeights,
        FoldTransposeIntoQuantInit,
        GemmToMatMul,
        InferMissingConvKernelShape,
        InferMissingGemmBias,
    )
    from qonnx.transformation.double_to_single_float import DoubleToSingleFloat
    from qonnx.transformation.infer_data_layouts import InferDataLayouts
    from qonnx.transformation.infer_datatypes import InferDataTypes

    _check_truncations(model)
    model = transformed(
        model,
        InferMissingConvKernelShape(),
        ExtractBiasFromConv(),
        InferMissingGemmBias(),
        GemmToMatMul(),
        DoubleToSingleFloat(),  # GemmToMatMul writes alpha and beta in float64, which no operator mixes with float32
        FoldTransposeIntoQuantInit(),
        InferDataTypes(),
        own_transform("FoldConstantQuantisers")(),
        FoldQuantWeights(),
        AvgPoolAndTruncToQuantAvgPool(),
        InferDataLayouts(),
    )
    _check_constant_parameters(model)
    return model


def _check_constant_parameters(model: ModelWrapper) -> None:
    """Refuse a quantiser of weights that stays one because an input of the model changes how it quantises them."""
    for node in model.graph.node:
        if node.op_type not in ("Quant", "IntQuant") or model.get_initializer(node.input[0]) is None:
            continue
        for name, what in zip(node.input[1:], ("scale", "zero point", "bit width"), strict=False):
            if model.get_initializer(name) is None:
                raise ModelError(f"{node_text(node)} has a {what} that is not constant ('{name}')")


def _warn_of_wide(model: ModelWrapper, widest: int) -> None:
    """Say which quantisers stay."""
    for node in model.graph.node:
        bits = model.get_initializer(node.input[3]) if node.op_type in ("Quant", "IntQuant") else None
        if bits is not None and model.get_initializer(node.input[0]) is None:
            logging.getLogger(__name__).warning(
                "%s '%s' stays a quantiser: its bit width of %d is more than the %d that thresholds may have",
                node.op_type, node.name, bits, widest,
            )  # fmt: skip
