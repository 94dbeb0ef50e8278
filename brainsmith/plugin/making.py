"""Create instances of plugins, once for the same arguments, and explain arguments that do not fit."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginArgumentsError

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.instance_cache import InstanceCache

NODE = "onnx_node"
"""The parameter of QONNX's operators, hence of kernels and backends: the node that they stand for."""


def instance_of(
    cache: InstanceCache, info: PluginInfo, plugin: type, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool]:
    """Return the instance of a plugin's class for some arguments, and whether it was there already.

    Arguments that cannot be compared as keys, such as arrays, make a fresh one each time.

    Raises:
        PluginArgumentsError: As `make`.
    """
    names = sorted(kwargs)
    values = (*args, *(kwargs[name] for name in names))  # 1, 1.0 and True are equal, and other arguments
    key = (info.type, info.framework, info.name, plugin, *names, values, tuple(map(type, values)))
    try:
        hash(key)
    except TypeError:
        return make(info, plugin, args, kwargs), False
    return cache.get(key, lambda: make(info, plugin, args, kwargs))


def make(info: PluginInfo, plugin: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return an instance of a plugin's class.

    Raises:
        PluginArgumentsError: Its constructor does not take these arguments. What that itself raises is not touched.
    """
    try:
        return plugin(*args, **kwargs)
    except TypeError as error:
        reason = _why_not_taken(info, plugin, args, kwargs)
        if not reason:
            raise
        raise PluginArgumentsError(reason) from error


def _why_not_taken(info: PluginInfo, plugin: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    from inspect import signature  # only for a message

    try:
        taken = signature(plugin)
    except (TypeError, ValueError):  # a class in C
        return ""
    try:
        taken.bind(*args, **kwargs)
    except TypeError as error:
        if NODE in taken.parameters and not args and NODE not in kwargs:
            return (
                f"{info.type} {info.qualified!r} is created for a node of a graph, and no node was given\n"
                f"  pass one: get_instance({info.type!r}, {info.qualified!r}, node); "
                f"the class alone is get_plugin_manager().registry.get({info.type!r}, {info.qualified!r})"
            )
        return (
            f"{info.type} {info.qualified!r} cannot be created with these arguments: {error}\n"
            f"  it takes {plugin.__name__}{taken}"
        )
    return ""
