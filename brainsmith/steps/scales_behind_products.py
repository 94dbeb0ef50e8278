"""Products of integers: scales that FINN's Streamline leaves before forks move after the products there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.steps.branches import scales_past_forks
from brainsmith.steps.own_transforms import own_transform

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper


def integer_products(model: ModelWrapper) -> ModelWrapper:
    """Move scales into branches where they keep a matrix product with integer weights from being one of integers.

    The step `streamline` leaves none; FINN's Streamline alone does. Layer normalisations become kernels of floats
    before, since one reads its input in two places, and a scale in each of these would hide what it is.
    """
    if not any(_waits_for_integers(model, node) for node in model.graph.node):
        return model
    model = model.transform(own_transform("InferLayerNorm")(fraction_bits=None))
    return scales_past_forks(model)


def _waits_for_integers(model: ModelWrapper, node: NodeProto) -> bool:
    """Tell whether a product with integer weights reads a scaled tensor that others read too."""
    if node.op_type != "MatMul" or not model.get_tensor_datatype(node.input[1]).is_integer():
        return False
    scale = model.find_producer(node.input[0])
    return (
        scale is not None
        and scale.op_type == "Mul"
        and model.is_fork_node(scale)
        and any(model.get_initializer(name) is not None for name in scale.input)
        and any(model.get_tensor_datatype(name).is_integer() for name in scale.input)
    )
