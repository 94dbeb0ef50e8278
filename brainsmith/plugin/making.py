"""Make an instance of a plugin, or say why these arguments do not make one."""

from __future__ import annotations

from brainsmith.errors import PluginArgumentsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

NODE = "onnx_node"
"""The parameter of QONNX's operators, hence of kernels and backends: the node that they stand for."""


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
    from inspect import signature

    try:
        taken = signature(plugin)
    except (TypeError, ValueError):  # a class in C
        return ""
    try:
        taken.bind(*args, **kwargs)
    except TypeError as error:
        if NODE in taken.parameters and not args and NODE not in kwargs:
            return (
                f"{info.type} {info.qualified!r} is made for a node of a graph, and no node is given\n"
                f"  give it: get_instance({info.type!r}, {info.qualified!r}, node); "
                f"the class alone is get_plugin_manager().registry.get({info.type!r}, {info.qualified!r})"
            )
        return (
            f"{info.type} {info.qualified!r} cannot be made of these arguments: {error}\n"
            f"  it takes {plugin.__name__}{taken}"
        )
    return ""
