"""Give weights, accumulators and thresholds no more bits than their values need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


def minimise_bit_widths(model: ModelWrapper, cfg: Any) -> ModelWrapper:
    """Tighten the datatypes of hardware layers, and round their thresholds to integers.

    Rounding comes last, when the accumulators' ranges are known; it lets the thresholds need fewer bits
    again. `cfg.minimize_bit_width`, where the builder has it, switches the tightening off.
    """
    from finn.transformation.fpgadataflow.minimize_weight_bit_width import MinimizeWeightBitWidth
    from qonnx.transformation.infer_datatypes import InferDataTypes

    from brainsmith.steps.accumulator_widths import MinimiseAccumulators
    from brainsmith.steps.one_bit_products import KeepOneBitWeights, RangesOfCounts
    from brainsmith.steps.own_transforms import transformed
    from brainsmith.steps.round_thresholds import RoundThresholds
    from brainsmith.steps.sums import ConstantsOfSums, RangesOfPools, RangesOfSums

    rounding = (RoundThresholds(), InferDataTypes())
    if not getattr(cfg, "minimize_bit_width", True):
        return transformed(model, *rounding)
    weights = (MinimizeWeightBitWidth(), KeepOneBitWeights(), ConstantsOfSums())
    products = (MinimiseAccumulators(), RangesOfCounts(), RangesOfPools(), InferDataTypes())
    sums = (RangesOfSums(), InferDataTypes())
    return transformed(model, *weights, *products, *sums, *rounding, *weights, InferDataTypes())
