"""FuseElementwise: elementwise operators, standard ones and ops, as one node that runs in one compiled loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper
from qonnx.transformation.base import Transformation

from brainsmith.autodiff.compiling.expression import DTYPES
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.graphs.elementwise_nodes import elementwise_function
from brainsmith.autodiff.graphs.fused_node import ATTRIBUTE
from brainsmith.autodiff.graphs.grouping import Candidate, group
from brainsmith.autodiff.graphs.node_lookup import FUSED, OPS_DOMAIN
from brainsmith.plugin.core import transform
from brainsmith.transforms.graph_view import GraphView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.autodiff.graphs.traceable import TraceableFunction

_KINDS = "fb"
"""Floats and truth values: ONNX's operators on integers are not numpy's."""


@transform(
    stage="execution_opt",
    description="Make chains of elementwise operators and ops one node that runs compiled",
    tags=("ops", "compiled"),
)
class FuseElementwise(Transformation):
    """Make elementwise operators whose results only each other read one node of the domain `brainsmith.ops`.

    Taken are standard ONNX operators on floats, and ops whose forward is elementwise numpy code and that validate
    nothing. A tensor that anything else reads (another operator, a nested graph, the graph's output) stays, as the result
    of the node that ends there. A constant of one element becomes part of the expression, any other one an input that
    broadcasts. What an operator computes in a smaller shape, before it broadcasts, stays a node of its own.

    The node, `fused_elementwise`, holds its expression as text and needs no op any more: the model runs in any process.
    Each function is within the ulps that `brainsmith.autodiff.compiling.functions` states of numpy's, and numpy's within
    a few of ONNX Runtime's. Such nodes are for running models; no compiler makes hardware of them.

    All shapes must be known (InferShapes).
    """

    def apply(self, model: ModelWrapper) -> tuple[ModelWrapper, bool]:
        """Fuse all that can be fused; the flag is True exactly when something was."""
        view = GraphView(model)
        modified = False
        for nodes in _groups(view):
            if len(nodes) > 1:
                _fuse(view, nodes)
                modified = True
        if modified and OPS_DOMAIN not in model.get_opset_imports():
            model.model.opset_import.append(helper.make_opsetid(OPS_DOMAIN, 1))
        return model, modified


class _Group(list["NodeProto"]):
    """Nodes in the order of the graph, of which only the last one's result is read outside.

    Attributes:
        functions: What each computes, by its output.
    """

    functions: dict[str, Callable[..., Any]]


def _groups(view: GraphView) -> list[_Group]:
    """Return the groups of nodes that can be fused."""
    nodes, parts = {}, {}
    for node in view.graph.node:
        part = _part(view, node)
        if part is not None:
            nodes[node.output[0]], parts[node.output[0]] = node, part
    candidates = {
        name: Candidate(node.input, view.readers(name), _shape(view, name), max(parts[name].steps, 1))
        for name, node in nodes.items()
    }
    found = []
    for names in group(candidates):
        taken = _Group(nodes[name] for name in names)
        taken.functions = {name: parts[name].function for name in names}
        found.append(taken)
    return found


def _part(view: GraphView, node: NodeProto) -> TraceableFunction | None:
    """Return what a node computes, if it can be part of an expression."""
    if len(node.output) != 1 or _shape(view, node.output[0]) is None:
        return None
    dtypes = [None if not name else _dtype(view, name) for name in node.input]
    known = all(
        not name or (dtype is not None and dtype.kind in _KINDS)
        for name, dtype in zip(node.input, dtypes, strict=True)
    )
    found = elementwise_function(node, dtypes) if known else None
    shapes = [_shape(view, name) if name else None for name in node.input]
    return found if found is not None and found.gives(shapes, _shape(view, node.output[0])) else None


def _dtype(view: GraphView, name: str) -> np.dtype[Any] | None:
    constant, elem_type = view.constant(name), view.elem_type(name)
    if constant is not None:
        return np.dtype(constant.dtype)
    return np.dtype(helper.tensor_dtype_to_np_dtype(elem_type)) if elem_type else None


def _shape(view: GraphView, name: str) -> tuple[int, ...] | None:
    constant = view.constant(name)
    if constant is not None:
        return constant.shape
    dims = view.dimensions(name)
    return tuple(dim or 0 for dim in dims) if dims is not None and all(dims) else None


def _fuse(view: GraphView, nodes: _Group) -> None:
    """Put one node in place of a group."""
    sink = nodes[-1]
    made = {node.output[0] for node in nodes}
    read = [name for node in nodes for name in node.input if name and name not in made]
    names = list(dict.fromkeys(read))
    constants = _numbers(view, names, _shape(view, sink.output[0]) or ())
    inputs = [name for name in names if name not in constants]
    dtypes = [_dtype(view, name) for name in inputs]
    expression = trace(_as_function(nodes, inputs, constants), dtypes, FUSED)
    new = helper.make_node(
        FUSED, inputs, list(sink.output), name=sink.name, domain=OPS_DOMAIN, **{ATTRIBUTE: expression.text}
    )
    view.replace(sink, [new], [*read, *(name for name in made if name != sink.output[0])])


def _numbers(view: GraphView, names: Sequence[str], shape: tuple[int, ...]) -> dict[str, Any]:
    """Return the constants of one element that an expression can state; none if the shape of the result depends on them."""
    found = {}
    for name in names:
        constant = view.constant(name)
        if constant is not None and constant.size == 1 and constant.dtype.name in DTYPES:
            found[name] = constant.reshape(())[()]
    rest = [_shape(view, name) or () for name in names if name not in found]
    return found if rest and np.broadcast_shapes(*rest) == shape else {}


def _as_function(nodes: _Group, inputs: Sequence[str], constants: dict[str, Any]) -> Callable[..., Any]:
    def function(*arrays: Any) -> Any:
        values: dict[str, Any] = {"": None, **constants, **dict(zip(inputs, arrays, strict=True))}
        for node in nodes:
            values[node.output[0]] = nodes.functions[node.output[0]](*[values[name] for name in node.input])
        return values[nodes[-1].output[0]]

    return function
