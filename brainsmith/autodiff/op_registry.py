"""The ops of the one registry, by name: listed, run, registered and removed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.calls import run_op
from brainsmith.autodiff.op import Op
from brainsmith.errors import AmbiguousPluginError, DuplicatePluginError, OpError, PluginNotFoundError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.definition import make_record
from brainsmith.plugin.not_found import not_found_message
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.precedence import ADAPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.plugin.info import PluginInfo


def list_custom_ops() -> list[str]:
    """Return the names of all ops that can be run here, sorted; nothing is imported for it."""
    return sorted({info.name for info in get_registry().records("op") if info.framework not in ADAPTED})


def is_custom_op_registered(name: str) -> bool:
    """Tell whether an op of this name can be run."""
    return name in list_custom_ops()


def get_custom_op(name: str) -> Op:
    """Return the op of a name, imported if it was not yet.

    Raises:
        PluginNotFoundError: No op has this name; close names are suggested.
        OpError: What is registered under the name is an operator of QONNX or FINN alone; or the name is not a string.
    """
    if not isinstance(name, str):
        raise OpError(f"an op is looked up by its name, a string, not by {name!r}")
    generation = REGISTRY.generation
    known = _KNOWN.get(name)
    if known is not None and known[0] == generation:
        return known[1]
    registry = get_registry()
    info = registry.resolve("op", name)
    if info.framework in ADAPTED:
        raise OpError(f"{info.qualified} is an operator of {info.framework}; it runs in a graph alone")
    op = _as_op(info, registry.load(info))
    _KNOWN[name] = (generation, op)  # not a later one: the name may mean another op since
    return op


_KNOWN: dict[str, tuple[int, Op]] = {}
"""Ops by the names that were asked for, with the generation of the registry in which that was so."""


def _as_op(info: PluginInfo, obj: Any) -> Op:
    if isinstance(obj, Op):
        return obj
    if not issubclass(obj, Op):
        raise OpError(f"{info.qualified} is a class of QONNX's nodes; it runs in a graph alone")
    made = _INSTANCES.get(obj)
    if made is None:
        made = obj()
        made.name = info.name
        made.version = info.version or made.version
        made.num_inputs = info.get("num_inputs", made.num_inputs)
        _INSTANCES[obj] = made
    return made


_INSTANCES: dict[Any, Op] = {}
"""The one instance of each class of ops."""


def execute_custom_op(name: str, inputs: Sequence[Any], **attributes: Any) -> Any:
    """Run an op on arrays, numbers, nested lists or Tensors; with a Tensor the result is one, and the tape goes on.

    Returns:
        An array (or a Tensor), or a tuple of them for an op with several outputs.

    Raises:
        PluginNotFoundError: No op has this name.
        OpError: The inputs are not what the op takes.
    """
    op = get_custom_op(name)
    while True:
        try:
            return run_op(op, inputs, attributes)
        except OpError:
            successor = _successor(name, op) if op.unloaded else None
            if successor is None:
                raise
            op = successor


def _successor(name: str, op: Op) -> Op | None:
    """Return the op that has the name of one that was unloaded before its call began; None if none has it."""
    try:
        found = get_custom_op(name)
    except (PluginNotFoundError, AmbiguousPluginError, OpError):  # nobody has it now, or QONNX and FINN alone
        return None
    return None if found is op else found


def register_custom_op(op: Op, *, framework: str = "project") -> PluginInfo:
    """Enter an op that was made at run time in the one registry.

    Returns:
        Its record.

    Raises:
        DuplicatePluginError: An op of this name exists, wherever it comes from.
    """
    if not isinstance(op, Op):
        raise OpError(f"only an Op can be registered, such as CustomOpBuilder(...).build(); got {op!r}")
    frame = sys._getframe(1)
    origin = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    reference = f"{frame.f_globals.get('__name__', '?')}:{op.name}"
    info = make_record("op", {"name": op.name, "version": op.version}, op.name, framework, reference, origin)
    rivals = [r for r in get_registry().records("op") if r.name == op.name and r.framework not in ADAPTED]
    if rivals:
        raise DuplicatePluginError(exists_already(info, rivals[0]))
    REGISTRY.register(info, op)
    return info


def exists_already(info: PluginInfo, rival: PluginInfo) -> str:
    """Return the message of a name that another plugin has, of whatever framework: both places are named."""
    return (
        f"the {info.type} {info.name!r} exists already:\n"
        f"  {rival.qualified} at {rival.origin}\n  {info.qualified} at {info.origin}"
    )


def unregister_custom_op(name: str) -> None:
    """Remove an op that was registered at run time.

    Raises:
        PluginNotFoundError: None of this name was.
    """
    if not is_custom_op_registered(name):
        raise PluginNotFoundError(not_found_message(get_registry(), "op", name))
    REGISTRY.unregister("op", name)
