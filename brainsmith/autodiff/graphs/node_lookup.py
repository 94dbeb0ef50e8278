"""Which types of nodes the domain `brainsmith.ops` has: the ops of the registry, each imported when it is asked for."""

from __future__ import annotations

from brainsmith.plugin.core import get_registry
from brainsmith.plugin.definition import FUSED as FUSED
from brainsmith.plugin.node_types import NodeType, hidden_attribute, keep_current, keep_name_whole
from brainsmith.plugin.precedence import ADAPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPS_DOMAIN = "brainsmith.ops"
"""The ONNX domain of ops' nodes, and the module in which QONNX looks for them."""


def op_node_types() -> list[NodeType]:
    """Return the types of nodes of all ops, without importing one; QONNX forgets what it knew of other ones."""
    keep_current(OPS_DOMAIN)
    names = {info.name for info in get_registry().records("op") if info.framework not in ADAPTED}
    return [hidden_attribute(name) for name in sorted({*names, FUSED})]


def op_node_class(op_type: str) -> Any:
    """Return the class of a type of node, which QONNX makes an instance of for each node.

    Raises:
        PluginNotFoundError: No op has this name.
        PluginLoadError: Its import failed.
    """
    if op_type == FUSED:
        from brainsmith.autodiff.graphs.fused_node import FusedElementwise

        return FusedElementwise
    from qonnx.custom_op.base import CustomOp

    from brainsmith.autodiff.graphs.nodes import node_class
    from brainsmith.autodiff.registry import get_custom_op

    registry = get_registry()
    found = registry.load(registry.resolve("op", op_type))
    if isinstance(found, type) and issubclass(found, CustomOp):
        return keep_name_whole(found)
    return node_class(get_custom_op(op_type))
