"""Which types of nodes the domain `brainsmith.ops` has: the ops of the registry, each imported when it is asked for."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.definition import FUSED as FUSED
from brainsmith.plugin.node_types import NodeType, hidden_attribute, keep_current, keep_name_whole
from brainsmith.plugin.precedence import ADAPTED

if TYPE_CHECKING:
    from typing import Any, SupportsIndex

OPS_DOMAIN = "brainsmith.ops"
"""The ONNX domain of ops' nodes, and the module in which QONNX looks for them."""


def op_node_types() -> list[NodeType]:
    """Return the types of nodes of all ops, without importing one; QONNX forgets what it knew of other ones.

    The last entry is equal to every other type: a node whose op is not registered counts as that.
    """
    keep_current(OPS_DOMAIN)
    names = {info.name for info in get_registry().records("op") if info.framework not in ADAPTED}
    names.add(FUSED)
    return [*(hidden_attribute(name) for name in sorted(names)), _OtherTypes(frozenset(names))]


class _OtherTypes(NodeType):
    """The entry of all types that no op has: it takes the type that QONNX looks for, and matches that.

    A list of types is made for each look, so two threads do not share an entry.
    """

    __slots__ = ("known",)
    known: frozenset[str]

    def __new__(cls, known: frozenset[str]) -> _OtherTypes:
        made: Any = super().__new__(cls, hidden_attribute("other"), "")
        made.known = known
        return made  # type: ignore[no-any-return]

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Any]:
        """Give what is equal to any type that is not known."""
        return [_AnyOtherType(self)]


class _AnyOtherType:
    """Stands for the type that it is compared with."""

    __slots__ = ("_entry",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, entry: _OtherTypes) -> None:
        self._entry = entry

    def __eq__(self, op_type: object) -> bool:
        if not isinstance(op_type, str) or op_type in self._entry.known:
            return False
        self._entry.op_type = op_type
        return True


def op_node_class(op_type: str) -> Any:
    """Return the class of a type of node, which QONNX makes an instance of for each node.

    Of a type that no op has it is one whose nodes say so; of none, which a list of all classes asks for, None.

    Raises:
        PluginLoadError: Its import failed.
    """
    if not op_type:
        return None
    if op_type == FUSED:
        from brainsmith.autodiff.graphs.fused_node import FusedElementwise

        return FusedElementwise
    from qonnx.custom_op.base import CustomOp

    from brainsmith.autodiff.graphs.missing_node import MissingOpNode
    from brainsmith.autodiff.graphs.op_node import node_class
    from brainsmith.autodiff.op_registry import get_custom_op, is_custom_op_registered

    if not is_custom_op_registered(op_type):
        return MissingOpNode
    registry = get_registry()
    found = registry.load(registry.resolve("op", op_type))
    if isinstance(found, type) and issubclass(found, CustomOp):
        return keep_name_whole(found)
    return node_class(get_custom_op(op_type))
