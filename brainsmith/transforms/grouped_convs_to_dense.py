"""GroupedConvsToDense: convolutions over groups of channels as convolutions over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from qonnx.core.datatype import DataType

from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView, attribute, set_attribute
from brainsmith.transforms.node_rewrite import NodeRewrite

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import NodeProto
    from qonnx.core.datatype import BaseDataType


@transform(
    stage="topology_opt",
    description="Give convolutions over groups of channels weights of 0 for the other channels, and one group",
    tags=("streamlining",),
)
class GroupedConvsToDense(NodeRewrite):
    """Make of a Conv with several groups one with a single group, by weights that are 0 between groups.

    The result is the same, exactly where the products are of integers. A matrix product then serves it, which has as
    many times more weights as there were groups: QONNX's LowerConvsToMatMul fails at groups other than those of a
    depthwise convolution, of one channel in and out each, which stay as they are. BIPOLAR weights, which have no 0,
    become TERNARY; those of a depthwise convolution too, because LowerConvsToMatMul puts a 0 between its channels.

    Left alone: weights that are not constant, and a number of input channels that is not known.
    """

    op_types = ("Conv",)

    def rewrite(self, view: GraphView, node: NodeProto) -> bool:
        """Convert a convolution, or let its weights be annotated with a 0."""
        weights, groups = view.constant(node.input[1]), attribute(node, "group", 1)
        if weights is None or groups == 1:
            return False
        if weights.shape[1] * groups == weights.shape[0] == groups:
            return _annotated_with_zero(view, node.input[1])
        _to_dense(view, node, weights, groups)
        return True


def _annotated_with_zero(view: GraphView, name: str) -> bool:
    """Annotate weights so that 0 is one of their values; tell whether that is new."""
    datatype = _with_zero(view, name)
    if datatype == view.model.get_tensor_datatype(name):
        return False
    view.model.set_tensor_datatype(name, datatype)
    return True


def _to_dense(view: GraphView, node: NodeProto, weights: npt.NDArray[np.generic], groups: int) -> None:
    old = node.input[1]
    dense = node.__class__.FromString(node.SerializeToString())
    dense.input[1] = view.add_constant(f"{old}_dense", _dense(weights, groups), _with_zero(view, old))
    set_attribute(dense, "group", 1)
    view.replace(node, [dense], [old])


def _dense(weights: npt.NDArray[np.generic], groups: int) -> npt.NDArray[np.generic]:
    """Return weights (OFM, IFM / groups, ...) as (OFM, IFM, ...)."""
    made, taken = weights.shape[0] // groups, weights.shape[1]
    dense = np.zeros((weights.shape[0], taken * groups, *weights.shape[2:]), weights.dtype)
    for group in range(groups):
        rows = slice(group * made, (group + 1) * made)
        dense[rows, group * taken : (group + 1) * taken] = weights[rows]
    return dense


def _with_zero(view: GraphView, name: str) -> BaseDataType:
    datatype = view.model.get_tensor_datatype(name)
    return datatype if datatype.allowed(0) else DataType["TERNARY"]
