"""Whether anything here can run a node's operator: a Python model, ONNX's own operators, or ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, PluginNotFoundError
from brainsmith.execution.fallback.node_session import open_node
from brainsmith.execution.foreign_failures import first_line_of, foreign_call
from brainsmith.graph.well_formed import all_graphs, graphs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

_ONNX = {"": "", "ai.onnx": "", "ai.onnx.ml": "ai.onnx.ml"}
"""ONNX's own domains, as the package onnx names them."""


def require_operator(node: Any, opset: int, dtype: Callable[[str], np.dtype[Any] | None]) -> None:
    """Raise if a node's operator is not known to anything that could run it.

    ONNX Runtime is asked only about operators that neither a Python model nor the package onnx knows, and only where
    the types of all that it reads are known.

    Args:
        node: Of a model.
        opset: The version of its domain in the model.
        dtype: Gives a tensor's NumPy type; None if it is not known.

    Raises:
        MissingOpError: It is an op that is not registered; the message says which bundles have it.
        BuildError: Nothing knows it.
    """
    if has_python_model(node):
        _require_op(node, opset)
        return
    unknown = next((each for each in _with_inner(node) if not _is_in_onnx(each, node.domain, opset)), None)
    if unknown is None:
        return
    dtypes = {name: dtype(name) for name in dict.fromkeys((*node.input, *_read_inside(node))) if name}
    known = {name: found for name, found in dtypes.items() if found is not None}
    if len(known) < len(dtypes):
        return
    text = f"{_unknown_text(unknown, opset)}; ONNX Runtime refuses it: "
    with foreign_call(lambda error: BuildError(text + first_line_of(error))):
        open_node(node, opset, known, [name for name in node.output if name])


def has_python_model(node: Any) -> bool:
    """Tell whether QONNX finds a class for a node, the plugin that defines it imported where that is needed.

    A node of the domain `brainsmith.ops` always has one, which says what is missing when it is made.
    """
    from qonnx.custom_op.registry import is_custom_op

    return bool(is_custom_op(node.domain, node.op_type)) or _load_operation(node)


def _load_operation(node: Any) -> bool:
    """Import the plugin that defines a node's operation; some register themselves only when imported."""
    from qonnx.custom_op.registry import is_custom_op

    from brainsmith.plugin import get_plugin_manager

    if node.domain in _ONNX:
        return False
    registry, _ = get_plugin_manager().all_records()
    framework = node.domain.partition(".")[0]
    for kind in ("kernel", "backend", "op"):
        try:
            registry.resolve(kind, f"{framework}:{node.op_type}").load()
        except PluginNotFoundError:
            continue
        if is_custom_op(node.domain, node.op_type):
            return True
    return False


def _require_op(node: Any, opset: int) -> None:
    from qonnx.custom_op.registry import getCustomOp

    from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN

    if node.domain == OPS_DOMAIN:
        getCustomOp(node, onnx_opset_version=opset)


def _is_in_onnx(node: Any, outer: str, opset: int) -> bool:
    """Tell whether onnx has an operator, or cannot tell: inside of a node only the versions of its own domain are known."""
    from onnx import defs

    if node.domain not in _ONNX:
        return bool(node.domain != outer)
    if _ONNX[node.domain] != _ONNX.get(outer):
        return True
    return bool(defs.has(node.op_type, opset, _ONNX[node.domain]))


def _with_inner(node: Any) -> Iterator[Any]:
    """Yield a node, and those of the graphs in its attributes."""
    yield node
    for graph in graphs_of(node):
        for inner in all_graphs(graph):
            yield from inner.node


def _read_inside(node: Any) -> list[str]:
    """Return the tensors from outside that the graphs in a node's attributes read."""
    names = []
    for graph in graphs_of(node):
        own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        own |= {name for inner in graph.node for name in inner.output}
        read = [name for inner in graph.node for name in (*inner.input, *_read_inside(inner))]
        read += [value.name for value in graph.output]
        names += [name for name in read if name not in own]
    return names


def _unknown_text(node: Any, opset: int) -> str:
    if node.domain in _ONNX:
        return f"opset {opset} of domain {node.domain or 'ai.onnx'!r} has no operator {node.op_type!r}"
    from brainsmith.plugin import get_plugin_manager
    from brainsmith.plugin.not_found import not_used_elsewhere

    reason = not_used_elsewhere(get_plugin_manager().all_records()[0], node.op_type)
    operator = f"operator {node.op_type!r} of domain {node.domain!r}"
    return (
        f"{operator} is defined by neither QONNX, FINN nor a plugin that was found{reason and f'; {reason}'}"
    )
