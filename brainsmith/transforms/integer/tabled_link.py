"""TabledLink: an operator of one integer tensor that need not rise or fall with it, such as x * sigmoid(x)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.execution.fallback.node_session import open_node
from brainsmith.transforms.graph_view import is_standard
from brainsmith.transforms.lattice.links import ChainLink, by_channel

if TYPE_CHECKING:
    from onnx import NodeProto

    from brainsmith.transforms.graph_view import GraphView
    from brainsmith.transforms.integer.integer_tensor import IntegerTensor
    from brainsmith.transforms.lattice.array_kinds import Singles

FUNCTIONS = (
    "Abs", "Acos", "Asin", "Atan", "Ceil", "Celu", "Cos", "Div", "Erf", "Exp", "Floor", "Gelu", "HardSwish", "LeakyRelu",
    "Log", "Max", "Min", "Mish", "PRelu", "Pow", "Reciprocal", "Round", "Sign", "Sin", "Softsign", "Sqrt",
    "ThresholdedRelu",
)  # fmt: skip
"""Functions of each element alone, with numbers as further operands."""

JOINING = ("Add", "Div", "Max", "Min", "Mul", "Pow", "Sub")
"""What joins two functions of the same integers, element by element."""


@dataclass(frozen=True)
class TabledLink(ChainLink):
    """A function that is computed for every integer that can come in.

    Attributes:
        inputs: The tensors that the node reads, as integers with what is pending before it, by name.
        operands: The constants that it reads: one number, or a column with one for each channel.
        of_operands: Computes what the node makes of its inputs, by name, each (channels or 1, any) float32.
    """

    inputs: Mapping[str, IntegerTensor] = field(default_factory=dict)
    operands: Mapping[str, Any] = field(default_factory=dict)
    of_operands: Callable[[Mapping[str, Singles]], Singles] = field(
        default=lambda _: np.zeros((1, 0), np.float32)
    )


def function_of(view: GraphView, node: NodeProto, given: Mapping[str, Any]) -> TabledLink | None:
    """Return what a node makes of the integers of one tensor; None if it is no such function.

    For example, of `Mul(x, s)` with `s = Sigmoid(x)`, both functions of the same integers n, it is what both make of n.

    Args:
        view: The network.
        node: With one varying input, or two.
        given: Integer tensors, by the name of the input.
    """
    if not is_standard(node, *FUNCTIONS, *JOINING) or len(node.output) != 1:
        return None
    tensors = list(given.values())
    if not all(_same_integers(each, tensors[0]) for each in tensors[1:]):
        return None
    feeds = _operands(view, node, given)
    if feeds is None or node.op_type not in (JOINING if not feeds and len(node.input) == 2 else FUNCTIONS):
        return None
    operands, several = feeds, max((each.size for each in feeds.values()), default=1)
    sessions: list[Any] = []
    opset = next((each.version for each in view.model.model.opset_import if each.domain == ""), 17)

    def of_operands(values: Mapping[str, Singles]) -> Singles:
        if several > 1:
            values = {name: np.repeat(each, several // len(each), axis=0) for name, each in values.items()}
        if not sessions:
            dtypes = {name: value.dtype for name, value in (*values.items(), *operands.items())}
            sessions.append(open_node(node, opset, dtypes, node.output))
        return np.asarray(sessions[0].run(None, {**values, **operands})[0])

    def apply(x: Singles) -> Singles:
        return of_operands({name: tensor.applied(x) for name, tensor in given.items()})

    channels = max(several, *(tensor.told_apart for tensor in tensors))
    axis = tensors[0].axis if channels > 1 else None
    signs = np.ones(channels, np.int64)
    return TabledLink(
        node,
        node.input[0],
        apply,
        signs,
        axis=axis,
        inputs=dict(given),
        operands=operands,
        of_operands=of_operands,
    )


def _operands(
    view: GraphView, node: NodeProto, given: Mapping[str, Any]
) -> dict[str, np.ndarray[Any, Any]] | None:
    """Return a node's constants, one number, or a column with one for each channel; None if one is neither.

    The channels are those of a tensor that has not moved.
    """
    first, tensor = next(iter(given.items()))
    found: dict[str, np.ndarray[Any, Any]] = {}
    for name in node.input:
        if not name or name in given:
            continue
        value = view.constant(name)
        if value is None:
            return None
        if value.size == 1:
            found[name] = value.reshape(())
            continue
        channels = by_channel(view, first, value)
        if channels is None or channels[1] != tensor.axis or view.shape(first) != tensor.shape:
            return None
        found[name] = channels[0][:, None]
    return found


def _same_integers(left: Any, right: Any) -> bool:
    """Tell whether two tensors are functions of the same integers."""
    return (
        left.name == right.name
        and left.shape == right.shape
        and np.array_equal(left.scale, right.scale)
        and np.array_equal(left.offset, right.offset)
    )
