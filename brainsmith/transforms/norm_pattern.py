"""How a normalisation looks in a graph of primitive operators, in every form that exporters write."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from brainsmith.transforms.graph_view import GraphView, attribute, is_standard, value_of_one

if TYPE_CHECKING:
    from onnx import NodeProto


class NormPattern(NamedTuple):
    """`centred / sqrt(mean(centred ** 2) + epsilon)`, found in a graph.

    Attributes:
        node: The last node: it gives the normalised tensor.
        centred: The tensor that is divided: `x - mean(x)` for LayerNorm, `x` for RMSNorm.
        axes: The axes of the reduction, counted from the back, in rising order.
        epsilon: The constant's tensor.
        shifted: The tensor `mean(centred ** 2) + epsilon`.
        square_is_canonical: The square is `Pow(centred, 2)`, of this very tensor.
        canonical: All of it has the form that ExpandNorms writes.
        source: For LayerNorm the tensor `x`, empty for RMSNorm.
    """

    node: NodeProto
    centred: str
    axes: tuple[int, ...]
    epsilon: str
    shifted: str
    square_is_canonical: bool
    canonical: bool
    source: str


class Variance(NamedTuple):
    """`mean(of ** 2, axes) + epsilon`."""

    of: str
    axes: tuple[int, ...]
    epsilon: str
    by_power: bool


def find_normalisation(view: GraphView, node: NodeProto) -> NormPattern | None:
    """Return the normalisation that ends in this node (before scale and bias), or None."""
    for centred, shifted, by_reciprocal in _quotients(view, node):
        variance = read_variance(view, shifted)
        if variance is None or not _same_value(view, variance.of, centred):
            continue
        by_power = variance.by_power and variance.of == centred
        return NormPattern(
            node=node,
            centred=centred,
            axes=variance.axes,
            epsilon=variance.epsilon,
            shifted=shifted,
            square_is_canonical=by_power,
            canonical=by_power and by_reciprocal,
            source=_centred_source(view, centred, variance.axes),
        )
    return None


def _quotients(view: GraphView, node: NodeProto) -> list[tuple[str, str, bool]]:
    """Read a node as `centred / sqrt(shifted)`; the flag says that it is Mul by a Reciprocal of a Sqrt."""
    if is_standard(node, "Div"):
        shifted = _under_root(view, node.input[1])
        return [(node.input[0], shifted, False)] if shifted else []
    found = []
    if is_standard(node, "Mul"):
        for centred, factor in (tuple(node.input), tuple(reversed(node.input))):
            shifted, by_reciprocal = under_inverse_root(view, factor)
            if shifted:
                found.append((centred, shifted, by_reciprocal))
    return found


def _under_root(view: GraphView, name: str) -> str:
    """Return `v` where the tensor is the square root of `v`, else an empty name."""
    if (root := view.producer(name, "Sqrt")) is not None:
        return str(root.input[0])
    power = view.producer(name, "Pow")
    if power is not None and value_of_one(view.constant(power.input[1])) == 0.5:
        return str(power.input[0])
    return ""


def under_inverse_root(view: GraphView, name: str) -> tuple[str, bool]:
    """Return `v` where the tensor is `1 / sqrt(v)`, and whether it is a Reciprocal of a Sqrt."""
    if (inverse := view.producer(name, "Reciprocal")) is not None:
        root = view.producer(inverse.input[0], "Sqrt")
        return _under_root(view, inverse.input[0]), root is not None
    if (quotient := view.producer(name, "Div")) is not None and _all_equal(view, quotient.input[0], 1.0):
        return _under_root(view, quotient.input[1]), False
    power = view.producer(name, "Pow")
    if power is not None and value_of_one(view.constant(power.input[1])) == -0.5:
        return str(power.input[0]), False
    return "", False


def _all_equal(view: GraphView, name: str, number: float) -> bool:
    return value_of_one(view.constant(name)) == number


def read_variance(view: GraphView, name: str) -> Variance | None:
    """Return what a tensor `mean(of ** 2) + epsilon` is made of, or None if it is something else."""
    added = view.producer(name, "Add")
    if added is None:
        return None
    for mean, epsilon in (tuple(added.input), tuple(reversed(added.input))):
        reduction = view.producer(mean, "ReduceMean")
        if reduction is None or value_of_one(view.constant(epsilon)) is None:
            continue
        axes, square = reduction_axes(view, reduction), _squared(view, reduction.input[0])
        if axes and square is not None:
            return Variance(square[0], axes, epsilon, square[1])
    return None


def _squared(view: GraphView, name: str) -> tuple[str, bool] | None:
    """Return the tensor whose square this is, and whether it is a power (else a product)."""
    product = view.producer(name, "Mul")
    if product is not None and product.input[0] == product.input[1]:
        return product.input[0], False
    power = view.producer(name, "Pow")
    if power is not None and _all_equal(view, power.input[1], 2.0):
        return power.input[0], True
    return None


def reduction_axes(view: GraphView, reduction: NodeProto) -> tuple[int, ...]:
    """Return the axes of a reduction, from the back; empty if not known or if it drops its dimensions."""
    rank = view.rank(reduction.input[0])
    stated = attribute(reduction, "axes")
    if len(reduction.input) > 1 and reduction.input[1]:
        value = view.constant(reduction.input[1])
        if value is None:
            return ()
        stated = value.reshape(-1).tolist()
    if not stated and attribute(reduction, "noop_with_empty_axes", 0):
        return ()
    if attribute(reduction, "keepdims", 1) != 1 or rank is None:
        return ()
    return tuple(sorted(axis if axis < 0 else axis - rank for axis in (stated or range(rank))))


def _same_value(view: GraphView, one: str, other: str) -> bool:
    """Tell whether two tensors are one, or two subtractions of the same."""
    if one == other:
        return True
    first, second = view.producer(one, "Sub"), view.producer(other, "Sub")
    return first is not None and second is not None and list(first.input) == list(second.input)


def _centred_source(view: GraphView, centred: str, axes: tuple[int, ...]) -> str:
    """Return `x` where the tensor is `x - mean(x, axes)`, else an empty name."""
    difference = view.producer(centred, "Sub")
    mean = view.producer(difference.input[1], "ReduceMean") if difference is not None else None
    if difference is None or mean is None or mean.input[0] != difference.input[0]:
        return ""
    return str(difference.input[0]) if reduction_axes(view, mean) == axes else ""
