"""How a type of node reaches QONNX whole, and how QONNX forgets a type that was removed.

QONNX looks a node's type up in `__all__` of the module that is its domain. It takes `scale_v2` for the second version
of a type `scale`, in that list and in the names of classes, and keeps what it found for ever. Both would be wrong
here: a name is a name, and plugins come and go. The entries of `__all__` are therefore `NodeType`s, and QONNX's table
of a domain is one that notices when a name of the registry is given up or taken by another.
"""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.plugin_registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, SupportsIndex

_QONNX_REGISTRY = "qonnx.custom_op.registry"
_VERSION_MARK = "_v"
"""What QONNX cuts names at."""


class NodeType(str):
    """The name of an attribute under which a module gives the class of a type of node.

    QONNX cuts it at `_v` if that is in it; it gets the type then, whole.

    Args:
        attribute: The name for `getattr`.
        op_type: The type; the same if it is not given.
    """

    __slots__ = ("op_type",)
    op_type: str

    def __new__(cls, attribute: str, op_type: str | None = None) -> NodeType:  # noqa: D102
        made = super().__new__(cls, attribute)
        made.op_type = attribute if op_type is None else op_type
        return made

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """Give the type in one piece."""
        return [self.op_type]

    rsplit = split

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def hidden_attribute(op_type: str) -> NodeType:
    """Return the entry of a type that must not be taken for one of the module's own names, or one of its submodules."""
    return NodeType(f"node{_VERSION_MARK}:{op_type}", op_type)


def keep_name_whole(cls: Any) -> Any:
    """Return a class whose name QONNX takes as a whole: `Scale_v2` is not version 2 of `Scale`."""
    name = cls.__name__
    if _VERSION_MARK in name and not isinstance(name, NodeType):
        cls.__name__ = NodeType(name)
    return cls


class _CurrentTypes(dict[str, "dict[int, Any]"]):
    """QONNX's table of a domain: classes by version by type of node, looked up again when a name may mean something else.

    What was entered by hand (`add_op_to_domain`) stays.
    """

    def __init__(self, entered: dict[str, dict[int, Any]]) -> None:
        super().__init__(entered)
        self._found: set[str] = set()
        self._redefinitions = REGISTRY.redefinitions

    def __contains__(self, op_type: object) -> bool:
        self._forget()
        return super().__contains__(op_type)

    def __iter__(self) -> Iterator[str]:
        self._forget()
        return super().__iter__()

    def __len__(self) -> int:
        self._forget()
        return super().__len__()

    def __setitem__(self, op_type: str, versions: dict[int, Any]) -> None:
        super().__setitem__(op_type, versions)
        if versions:  # QONNX sets what it found; add_op_to_domain fills an empty dict
            self._found.add(op_type)

    def _forget(self) -> None:
        if self._redefinitions != REGISTRY.redefinitions:
            self._redefinitions = REGISTRY.redefinitions
            for op_type in self._found:
                self.pop(op_type, None)
            self._found.clear()


def keep_current(domain: str) -> None:
    """Have QONNX forget what it found in a domain when names are given up or taken; nothing if QONNX is not imported."""
    qonnx = sys.modules.get(_QONNX_REGISTRY)
    if qonnx is None:
        return
    with qonnx._REGISTRY_LOCK:
        table = qonnx._OP_REGISTRY
        if not isinstance(table.get(domain), _CurrentTypes):
            table[domain] = _CurrentTypes(table.get(domain, {}))


def forget_type(domain: str, op_type: str) -> None:
    """Have QONNX forget one type of a domain, to look for it anew and not to list it; nothing if it does not know it."""
    qonnx = sys.modules.get(_QONNX_REGISTRY)
    if qonnx is not None:
        with qonnx._REGISTRY_LOCK:
            qonnx._OP_REGISTRY.get(domain, {}).pop(op_type, None)


def classes_in_use(domain: str, op_type: str) -> list[type]:
    """Return the classes that QONNX makes nodes of a type of; none where it has not been asked for that type."""
    qonnx = sys.modules.get(_QONNX_REGISTRY)
    if qonnx is None:
        return []
    with qonnx._REGISTRY_LOCK:
        return list(qonnx._OP_REGISTRY.get(domain, {}).get(op_type, {}).values())
