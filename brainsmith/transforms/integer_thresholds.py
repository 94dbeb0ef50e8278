"""IntegerThresholds: thresholds of whole numbers become whole, where no rounding can have moved one past a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from qonnx.transformation.base import Transformation

from brainsmith.errors import ModelError
from brainsmith.plugin.core import transform
from brainsmith.rtl.cores.integers import integer_datatype

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

MARGIN = 1 / 16
"""How far a threshold must be from every whole number: QuantisersToThresholds places it in the middle, and a quarter
from one where bits are counted in place of signs."""

ROUNDED = 2.0**22
"""From here on float32 does not hold the middle between whole numbers; the float model rounds its sums, too."""


@transform(
    stage="topology_opt",
    description="Round the thresholds of integers up, and refuse those that a value may lie on",
    tags=("quantisation", "streamlining"),
)
class IntegerThresholds(Transformation):
    """Make each threshold of a MultiThreshold of integers the least integer that reaches it.

    Streamlining divides thresholds by scales and subtracts from them, and rounds. One that QuantisersToThresholds
    placed in the middle between two values stays between them, and the integer is right. One at an integer, or near
    it, was not placed: whether that integer reaches the level depends on rounding, so it is refused.

    Raises:
        ModelError: A threshold lies on a whole number, or near one, that the input may hold.
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Round them all; the flag is always False."""
        _count_in_integers(model)
        for node in model.graph.node:
            if node.op_type != "MultiThreshold":
                continue
            thresholds, kind = model.get_initializer(node.input[1]), model.get_tensor_datatype(node.input[0])
            if thresholds is None or not kind.is_integer():
                continue
            _check(node, thresholds, kind)
            whole = np.clip(np.ceil(thresholds), kind.min(), kind.max() + 1).astype(np.float32)
            _state_least_output(model, node, thresholds.shape[1])
            if np.array_equal(whole, thresholds):
                continue
            model.set_initializer(node.input[1], whole)
            model.set_tensor_datatype(
                node.input[1], integer_datatype(int(min(whole.min(), -1)), int(whole.max()))
            )
        return model, False


def _state_least_output(model: ModelWrapper, node: NodeProto, count: int) -> None:
    """Let the node state the least type that holds its levels: the circuit has just as many bits."""
    from qonnx.core.datatype import DataType
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    bias = layer.get_nodeattr("out_bias")
    if layer.get_nodeattr("out_scale") != 1 or bias != np.rint(bias):
        return
    least = integer_datatype(int(bias), int(bias) + count)
    if DataType[layer.get_nodeattr("out_dtype")].bitwidth() != least.bitwidth():
        layer.set_nodeattr("out_dtype", least.name)
        model.set_tensor_datatype(node.output[0], least)


def _count_in_integers(model: ModelWrapper) -> None:
    """Let a BIPOLAR input that thresholds alone read be an INT2: a circuit compares numbers, not signs."""
    from qonnx.core.datatype import DataType

    for value in model.graph.input:
        readers = [node for node in model.graph.node if value.name in node.input]
        if model.get_tensor_datatype(value.name).name != "BIPOLAR" or not readers:
            continue
        if all(node.op_type == "MultiThreshold" for node in readers):
            model.set_tensor_datatype(value.name, DataType["INT2"])


def _check(node: NodeProto, thresholds: Any, kind: Any) -> None:
    finite = np.where(np.isfinite(thresholds), thresholds, 0.5)
    near = np.abs(finite - np.rint(finite)) < MARGIN
    reachable = (finite > kind.min() - 1) & (finite < kind.max() + 1) & (np.abs(finite) < ROUNDED)
    found = np.argwhere(near & reachable)
    if len(found):
        row, at = (int(place) for place in found[0])
        raise ModelError(
            f"MultiThreshold '{node.name}': its threshold {at} of channel {row} is {finite[row, at]:g}, so close to a "
            "whole number that rounding decides which level the value has. The scales before it are not known to have "
            "a common unit: quantise what goes into it with one scale, or give its quantiser a scale of its own in front"
        )
