"""Read what an operator is: a sum, a quantiser, what moves values, or what treats each one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.comparison.float_ties.bounded_operators import (
    SMOOTH,
    Affine,
    BoundedOperator,
    BoundedQuantiser,
    LargestPlaces,
    Move,
    Smooth,
)
from brainsmith.comparison.float_ties.bounded_sums import Pair, Product, Sum
from brainsmith.comparison.float_ties.dyadic_grid import DyadicGrid, grid_of
from brainsmith.comparison.float_ties.float_sums import sum_of
from brainsmith.errors import ModelError
from brainsmith.graph.array_types import Array
from brainsmith.graph.node_view import NodeView
from brainsmith.transforms.graph_view import attribute, is_standard
from brainsmith.transforms.integer.tabled_link import FUNCTIONS, JOINING
from brainsmith.transforms.lattice.links import arithmetic_link, link_of
from brainsmith.transforms.lattice.staircases import is_quantiser, is_thresholds, quantiser_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import NodeProto

    from brainsmith.graph.model_facts import ModelFacts
    from brainsmith.transforms.graph_view import GraphView


MOVES = (
    "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "GlobalMaxPool", "Identity", "MaxPool", "Pad",
    "Reshape", "Resize", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Upsample",
)  # fmt: skip
"""Operators that move values, repeat them or take the largest of some; a Resize only where it takes the nearest."""

_OF_TWO: dict[str, type[BoundedOperator]] = {"Add": Pair, "Mul": Product, "Sub": Pair}
"""Operators of two tensors that vary."""


def operator_of(
    view: GraphView,
    facts: ModelFacts,
    node: NodeProto,
    run: Callable[[Mapping[str, Array]], tuple[Array, ...]],
    inputs: tuple[str, ...],
    reals: Mapping[str, Array],
) -> BoundedOperator:
    """Return what is known of a node.

    Args:
        view: The network; what no input changes is an initialiser there.
        facts: Of its tensors.
        node: The node.
        run: Computes it.
        inputs: Those that vary.
        reals: Constants whose scales have been rounded, without that; float64.
    """
    given = (node, run, inputs)
    if is_quantiser(node) or is_thresholds(node):
        return _quantiser(view, given) or BoundedOperator(*given)
    found = _sum(NodeView(node, facts), given, reals) or (_affine(view, given) if len(inputs) == 1 else None)
    if found is not None:
        return found
    if is_standard(node, *_OF_TWO) and len(inputs) == 2:
        return _OF_TWO[node.op_type](*given)
    if is_standard(node, *MOVES) and _moves_only(node):
        filler = view.number(node, 2, "value", 0.0) if node.op_type == "Pad" else 0.0
        return BoundedOperator(*given) if filler is None else Move(*given, filler=filler)
    if is_standard(node, *SMOOTH):
        return Smooth(*given)
    if is_standard(node, "TopK", "ArgMax") and attribute(node, "largest", 1):
        return LargestPlaces(*given, axis=attribute(node, "axis", -1 if node.op_type == "TopK" else 0))
    return BoundedOperator(*given, elementwise=is_standard(node, *FUNCTIONS, *JOINING))


def _moves_only(node: NodeProto) -> bool:
    if node.op_type == "Resize":
        return bool(attribute(node, "mode", b"nearest") == b"nearest")
    return node.op_type not in ("MaxPool", "Pad") or (
        len(node.output) == 1 and attribute(node, "mode", b"constant") == b"constant"
    )


def _quantiser(view: GraphView, given: Any) -> BoundedQuantiser | None:
    node = given[0]
    if is_thresholds(node):
        scale, bias = attribute(node, "out_scale", 1.0), attribute(node, "out_bias", 0.0)
        rows = view.constant(node.input[1])
        if rows is None or scale <= 0:
            return None
        grid = DyadicGrid(1.0, float(rows.shape[-1])).times(grid_of(scale)).plus(grid_of(bias))
        return BoundedQuantiser(
            *given, unit=np.asarray(scale, np.float64), grid=grid, reserve=np.zeros(()), scaled=None
        )
    try:
        staircase = quantiser_of(view, node)
    except ModelError:
        return None
    scale = np.ones(()) if staircase.scale is None else staircase.scale.astype(np.float64)
    most = max(abs(staircase.low), abs(staircase.high))
    zero = 1.0 if staircase.step == 2 else 0.0
    if len(node.input) > 2:
        zero = abs(float(np.asarray(view.constant(node.input[2])).reshape(-1)[0]))
    grid = DyadicGrid(1.0, float(most)).times(grid_of(scale))
    scaled = np.asarray(scale, np.float32), staircase.step
    return BoundedQuantiser(
        *given, unit=scale * staircase.step, grid=grid, reserve=scale * zero, scaled=scaled
    )


def _sum(node: NodeView, given: Any, reals: Mapping[str, Array]) -> Sum | None:
    found = sum_of(node)
    if found is None:
        return None
    constants = {node.inputs[at]: value for at in (0, 1) if (value := node.constant(at)) is not None}
    first, second, *_ = (*node.inputs, "")
    return Sum(*given, sum=found, names=(first, second), constants=constants, reals=reals)


def _affine(view: GraphView, given: Any) -> Affine | None:
    node = given[0]
    if is_standard(node, "Mul", "Add", "Sub", "Div"):
        return _arithmetic(view, given)
    link = link_of(view, node)
    if link is None:
        return None
    if link.factor is not None and link.added is not None:
        ones = (1,) * (-1 - link.axis if link.axis is not None else 0)
        return Affine(*given, factor=link.factor.reshape(-1, *ones), added=link.added.reshape(-1, *ones))
    if node.op_type == "Relu":
        return Affine(*given, bent=True)
    if node.op_type == "Clip":
        limits = [view.number(node, *end) for end in ((1, "min", -np.inf), (2, "max", np.inf))]
        finite = tuple(limit for limit in limits if limit is not None and np.isfinite(limit))
        return Affine(*given, limits=finite, bent=True)
    return Affine(*given, curved=True)


def _arithmetic(view: GraphView, given: Any) -> Affine | None:
    node, _, (varying,) = given
    at = list(node.input).index(varying)
    operand = view.constant(node.input[1 - at])
    if node.input[0] == node.input[1] or operand is None or not np.isfinite(operand).all():
        return None
    link = arithmetic_link(node, at, np.atleast_1d(operand), None)
    if link is None or link.factor is None or link.added is None:
        return None
    factor, added = (each if operand.ndim else each[0] for each in (link.factor, link.added))
    return Affine(*given, factor=factor, added=added)
