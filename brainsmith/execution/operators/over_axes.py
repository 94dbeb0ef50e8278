"""Operators that combine values along axes: reductions, greatest values and their places, softmax, normalisation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from brainsmith.execution.operators.one_instruction import AlongAxes, LayerOfRuns
from brainsmith.execution.operators.operator import Apart
from brainsmith.execution.operators.readers import reads
from brainsmith.execution.program.exact_products import type_of_bound
from brainsmith.execution.program.functions import reductions, whole_rows
from brainsmith.graph.integer_range import IntegerRange, within
from brainsmith.graph.node_view import Unsupported
from brainsmith.graph.operator_names import FINN, STANDARD

if TYPE_CHECKING:
    from brainsmith.execution.onnx.emitter import Emitter
    from brainsmith.graph.node_view import NodeView

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


class ReducedAxes(AlongAxes):
    """One that makes each value of many; without axes, it leaves them as they are."""

    def mixes_runs(self, node: NodeView) -> str:
        """Return why several runs cannot lie in the first axis."""
        return "it reduces the first axis" if 0 in self.axes else ""


class ExactSum(ReducedAxes):
    """One whose sums are exact in a program."""

    def to_onnx(self, node: NodeView, emit: Emitter) -> None:
        """Copy it, of which nothing is proved: in float32 it may round."""
        emit.copy(node.node)


@reads(STANDARD, *(f"Reduce{name}" for name in _REDUCTIONS))
def reduction(node: NodeView) -> ReducedAxes:
    """Read one; its axes were an attribute until opset 12 or 17."""
    x, name = node.inputs[0], node.kind.removeprefix("Reduce")
    shape, given, exact = node.shape(x), node.range(x), node.dtype(x).name
    listed = node.needed_constant(1, "list of axes") if node.given(1) else node.attribute("axes", ())
    axes = sorted(_axis(node, axis) for axis in listed)
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = [*range(len(shape))]
    sums, extreme = None, name in ("Max", "Min")
    rounds = name in ("Mean", "Prod") or (name == "Sum" and given is None)
    if name == "Sum" and given is not None and exact == "float32":
        found = given.times(prod(shape[axis] for axis in axes))
        exact = type_of_bound(found.magnitude)
        sums = None if exact == "int64" else found
    stated = {"name": name, "axes": tuple(axes), "keep": bool(node.attribute("keepdims", 1)), "exact": exact}
    function = reductions.reduce if name in reductions.REDUCTIONS and axes else None
    kind = ExactSum if name == "Sum" else ReducedAxes
    return kind(function, node.inputs[:1], stated, [sums], rounds, extreme, extreme, axes)


@reads(STANDARD, "GlobalMaxPool", "GlobalAveragePool")
def whole_image(node: NodeView) -> AlongAxes:
    """Read one, which reduces all axes of an image."""
    x, extreme = node.inputs[0], node.kind == "GlobalMaxPool"
    axes = tuple(range(2, len(node.shape(x))))
    stated = {"name": "Max" if extreme else "Mean", "axes": axes, "keep": True, "exact": node.dtype(x).name}
    return AlongAxes(reductions.reduce, [x], stated, [], not extreme, extreme, extreme, axes)


@reads(STANDARD, "ArgMax", "ArgMin")
def place(node: NodeView) -> AlongAxes:
    """Read one, which gives where the greatest or least values are."""
    axis, given = _stated_axis(node, 0), node.range(node.inputs[0])
    stated = {
        "keep": bool(node.attribute("keepdims", 1)),
        "last": bool(node.attribute("select_last_index", 0)),
    }
    return AlongAxes(
        reductions.place_of_extreme, node.inputs, {"axis": axis, **stated, "largest": node.kind == "ArgMax"},
        [_places(node, axis)], other_ends=given is None, axes=[axis],
    )  # fmt: skip


@reads(STANDARD, "TopK")
def top(node: NodeView) -> AlongAxes:
    """Read one; the number of values was an attribute until opset 9."""
    axis, given = _stated_axis(node, -1), node.range(node.inputs[0])
    count = node.needed_constant(1, "number of values").item() if node.given(1) else node.needed("k")
    return AlongAxes(
        reductions.top, node.inputs[:1],
        {"count": int(count), "axis": axis, "largest": bool(node.attribute("largest", 1))},
        [given, _places(node, axis)], other_ends=given is None, axes=[axis],
    )  # fmt: skip


@reads(STANDARD, "Softmax", "LogSoftmax", "Hardmax")
def softmax(node: NodeView) -> AlongAxes:
    """Read one; until opset 12 it took all axes from one on."""
    rank = len(node.shape(node.inputs[0]))
    axes = [_stated_axis(node, -1)] if node.opset >= 13 else [*range(_stated_axis(node, 1), rank)]
    function = None if node.kind == "Hardmax" else reductions.softmax
    stated = {"axes": tuple(axes), "logarithm": node.kind == "LogSoftmax"}
    return AlongAxes(function, node.inputs, stated, rounds=True, axes=axes)


@reads(STANDARD, "LayerNormalization")
def layer_normalisation(node: NodeView) -> AlongAxes:
    """Read one; mean and deviation, and computed parameters, are left to ONNX Runtime."""
    axis = _stated_axis(node, -1)
    left = any(node.outputs[1:]) or node.is_computed(1) or node.is_computed(2)
    stated = {"axis": axis, "epsilon": float(node.attribute("epsilon", 1e-5))}
    given = [*node.inputs, ""][:3]
    return AlongAxes(None if left else reductions.layer_norm, given, stated, rounds=True, axes=[axis])


@reads(STANDARD, "CumSum", "LpNormalization")
def left(node: NodeView) -> AlongAxes:
    """Read one, which is left to ONNX Runtime."""
    axis = node.needed_constant(1, "axis").item() if node.kind == "CumSum" else node.attribute("axis", -1)
    return AlongAxes(None, node.inputs, axes=[_axis(node, axis)])


@reads(STANDARD, "GatherElements")
def chosen(node: NodeView) -> Apart:
    """Read one, which is left to ONNX Runtime."""
    if _stated_axis(node, 0) == 0 or not all(map(node.varies, node.inputs)):
        raise Unsupported("it works along the first axis, or one of its inputs is a constant")
    return Apart()


@reads(FINN, "HWSoftmax")
def row_softmax(node: NodeView) -> LayerOfRuns:
    """Read one, which works along the last axis in float32."""
    return LayerOfRuns(whole_rows.soften_floats, node.inputs, {"wide": False})


@reads(FINN, "LayerNorm")
def row_normalisation(node: NodeView) -> LayerOfRuns:
    """Read one, which works along the last axis."""
    return LayerOfRuns(None, node.inputs)


def _places(node: NodeView, axis: int) -> IntegerRange:
    return within(0, node.shape(node.inputs[0])[axis] - 1)


def _stated_axis(node: NodeView, default: int) -> int:
    return _axis(node, node.attribute("axis", default))


def _axis(node: NodeView, axis: int) -> int:
    rank = len(node.shape(node.inputs[0]))
    if not rank:
        raise Unsupported("its tensor has no axis")
    return int(axis) % rank
