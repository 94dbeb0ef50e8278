"""Whether a standard node computes each run by itself when runs lie in the first axis one after the other.

A tensor of one run has shape (A, ...); of n runs (n * A, ...), the runs in their order. A node *keeps runs apart* if
it turns such inputs into such outputs. Where every node does, the whole graph takes any number of runs at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brainsmith.graph.node_view import NodeView

UNARY = frozenset({
    "Abs", "Acos", "Asin", "Atan", "Cast", "Ceil", "Clip", "Cos", "Cosh", "Dropout", "Elu", "Erf", "Exp", "Floor",
    "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log", "Mish", "Neg", "Not",
    "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan",
    "Tanh", "ThresholdedRelu",
})  # fmt: skip
"""Value by value, with parameters that broadcast."""

BROADCAST = frozenset({
    "Add", "And", "BitShift", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min",
    "Mod", "Mul", "Or", "PRelu", "Pow", "Sub", "Sum", "Where", "Xor",
})  # fmt: skip

IMAGES = frozenset({
    "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool", "GlobalLpPool",
    "GlobalMaxPool", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "SpaceToDepth",
})  # fmt: skip
"""Whose first axis is the batch, by definition."""

MOVED = frozenset({"Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Which can be written with reshapes of each run, whatever they do to its first axis."""

_DEFAULT_AXES = {
    "Softmax": -1, "LogSoftmax": -1, "Hardmax": -1, "TopK": -1, "ArgMax": 0, "ArgMin": 0, "Concat": 0, "Split": 0,
    "LayerNormalization": -1, "LpNormalization": -1, "CumSum": 0, "GatherElements": 0,
}  # fmt: skip
_REDUCTIONS = frozenset(f"Reduce{name}" for name in (
    "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare",
))  # fmt: skip

APART = ""
"""The answer of a node that keeps runs apart; any other text says why it does not."""


def mixes_runs(view: NodeView) -> str:
    """Say why a standard node, which a graph's inputs change, does not keep runs apart; empty if it does."""
    if view.kind in UNARY or view.kind in BROADCAST:
        return broadcasts_mix_runs(view)
    if view.kind in MOVED:
        return APART if not view.is_computed(1) else "its shape is computed"
    if view.kind in IMAGES:
        if view.attribute("training_mode", 0):
            return "it trains, over all runs"
        others = any(view.is_computed(at) for at in range(1, len(view.inputs)))
        return "its parameters are computed" if others else APART
    if view.kind in _DEFAULT_AXES:
        return _along_axis(view)
    if view.kind in _REDUCTIONS:
        return _reduction(view)
    rule = _RULES.get(view.kind)
    return rule(view) if rule else "nothing is known of how it treats its first axis"


def broadcasts_mix_runs(view: NodeView) -> str:
    """Say why an operator that works value by value does not keep runs apart; empty if it does."""
    shape = view.shape(view.outputs[0])
    for at, name in enumerate(view.inputs):
        if not name:
            continue
        given = view.shape(name)
        if view.is_computed(at) and (len(given) != len(shape) or given[0] != shape[0]):
            return f"input '{name}' of shape {given} is repeated along the first axis"
        if not view.is_computed(at) and len(given) == len(shape) and given[0] != 1:
            return f"constant '{name}' differs along the first axis"
    return APART


def _along_axis(view: NodeView) -> str:
    rank = len(view.shape(view.inputs[0]))
    default = _DEFAULT_AXES[view.kind]
    if (
        view.kind.endswith(("max", "Softmax"))
        and view.kind in ("Softmax", "LogSoftmax", "Hardmax")
        and view.opset < 13
    ):
        default = 1
    axis = view.attribute("axis", default)
    if view.kind == "CumSum":
        stated = view.constant(1)
        if stated is None:
            return "its axis is computed"
        axis = int(stated.reshape(()))
    if axis % rank == 0:
        return "it works along the first axis"
    if view.kind in ("Concat", "GatherElements"):
        return _all_vary(view)
    return (
        "a parameter is computed" if any(view.is_computed(at) for at in range(1, len(view.inputs))) else APART
    )


def _all_vary(view: NodeView) -> str:
    for at, name in enumerate(view.inputs):
        if not view.is_computed(at):
            return f"constant '{name}' has no runs"
    return APART


def _reduction(view: NodeView) -> str:
    axes = view.attribute("axes")
    if axes is None and len(view.inputs) > 1 and view.inputs[1]:
        stated = view.constant(1)
        if stated is None:
            return "its axes are computed"
        axes = [int(axis) for axis in stated.reshape(-1)]
    rank = len(view.shape(view.inputs[0]))
    if not axes:
        return APART if view.attribute("noop_with_empty_axes", 0) else "it reduces the first axis"
    return "it reduces the first axis" if any(axis % rank == 0 for axis in axes) else APART


def products_mix_runs(view: NodeView) -> str:
    """Say why a product of matrices does not keep runs apart; empty if it does."""
    left, right = view.shape(view.inputs[0]), view.shape(view.inputs[1])
    rank = max(len(left), len(right))
    if not view.is_computed(1):
        shared = len(right) < len(left) or right[0] == 1 or len(right) < 3
        return (
            APART
            if len(left) >= 2 and shared and len(left) == rank
            else "its second matrix has a first axis of its own"
        )
    if len(right) != rank or rank < 3:
        return "its second matrix is the run's own"
    if not view.is_computed(0):
        return APART if len(left) < rank or left[0] == 1 else "its first matrix has a first axis of its own"
    return (
        APART
        if len(left) == rank and left[0] == right[0]
        else "its matrices are repeated along the first axis"
    )


def _gemm(view: NodeView) -> str:
    if view.attribute("transA", 0) or view.is_computed(1) or view.is_computed(2):
        return "more than its first matrix holds runs, or this one is transposed"
    addend = view.constant(2)
    if addend is not None and addend.ndim == 2 and addend.shape[0] != 1:
        return "what it adds differs along the first axis"
    return APART


def _constant_parameters(check: Callable[[NodeView], bool], what: str) -> Callable[[NodeView], str]:
    def rule(view: NodeView) -> str:
        if any(view.is_computed(at) for at in range(1, len(view.inputs))):
            return "a parameter is computed"
        return APART if check(view) else what

    return rule


def _pads_no_runs(view: NodeView) -> bool:
    pads = view.attribute("pads") if view.constant(1) is None else view.constant(1)
    axes = view.constant(3)
    listed: list[Any] = [] if pads is None else list(pads)
    return axes is None and bool(listed) and listed[0] == 0 == listed[len(listed) // 2]


def _slices_no_runs(view: NodeView) -> bool:
    axes = view.attribute("axes") if len(view.inputs) < 2 else view.constant(3)
    rank = len(view.shape(view.inputs[0]))
    return axes is not None and all(int(axis) % rank for axis in axes)


def _resizes_no_runs(view: NodeView) -> bool:
    at = 1 if view.kind == "Upsample" or view.opset < 11 else 2
    scales = view.constant(at)
    return scales is not None and scales.size > 0 and float(scales[0]) == 1.0


def _gathers(view: NodeView) -> str:
    axis = view.attribute("axis", 0) % len(view.shape(view.inputs[0]))
    if view.is_computed(0) and not view.is_computed(1):
        return APART if axis else "it chooses in the first axis"
    return APART if axis == 0 and not view.is_computed(0) else "both of its inputs hold runs"


_RULES: dict[str, Callable[[NodeView], str]] = {
    "MatMul": products_mix_runs,
    "Gemm": _gemm,
    "Gather": _gathers,
    "Pad": _constant_parameters(_pads_no_runs, "it pads the first axis"),
    "Slice": _constant_parameters(_slices_no_runs, "it cuts the first axis"),
    "Resize": _constant_parameters(_resizes_no_runs, "it resizes the first axis, or to a stated size"),
    "Upsample": _constant_parameters(_resizes_no_runs, "it resizes the first axis"),
    "Tile": _constant_parameters(
        lambda view: (times := view.constant(1)) is not None and int(times[0]) == 1, "it repeats the first axis"
    ),
}  # fmt: skip
