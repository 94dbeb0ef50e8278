"""The decorators, and the one registry that they fill.

    from brainsmith.plugin.core import transform

    @transform(name="ExpandNorms", stage="topology_opt", description="Expand normalisation operations")
    class ExpandNorms(Transformation):
        ...

A decorator checks its arguments, enters the object in the registry and returns it unchanged. Discovery reads the
same decorators from the source without running them, so their arguments must be literals.
"""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import DuplicatePluginError, PluginDefinitionError
from brainsmith.plugin.definition import check_kind, make_record
from brainsmith.plugin.manager import get_registry as get_registry
from brainsmith.plugin.node_claims import enter_operator
from brainsmith.plugin.plugin_registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol, TypeVar, overload

    from brainsmith.plugin.info import PluginInfo

    T = TypeVar("T")

    class Decorator(Protocol):
        """A decorator of one plugin type, with or without arguments."""

        @overload
        def __call__(self, obj: T, /) -> T: ...
        @overload
        def __call__(self, /, **values: Any) -> Callable[[T], T]: ...


def _decorator(plugin_type: str) -> Decorator:
    def decorate(*args: Any, **values: Any) -> Any:
        frame = sys._getframe(1)
        origin = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not args:
            return lambda obj: _enter(plugin_type, obj, values, origin)
        if len(args) == 1 and not values and callable(args[0]):
            return _enter(plugin_type, args[0], {}, origin)
        raise PluginDefinitionError(
            f'{origin}: @{plugin_type} takes keywords only, such as @{plugin_type}(name="X"); found {args[0]!r}'
        )

    decorate.__name__ = decorate.__qualname__ = plugin_type
    article = "an" if plugin_type == "op" else "a"
    decorate.__doc__ = f"Register {article} {plugin_type}; see the API reference for its keywords."
    return decorate


def _enter(plugin_type: str, obj: Any, values: dict[str, Any], origin: str) -> Any:
    name = getattr(obj, "__name__", type(obj).__name__)
    reference = f"{getattr(obj, '__module__', '?')}:{getattr(obj, '__qualname__', name)}"
    info = make_record(plugin_type, values, name, _framework(plugin_type, reference), reference, origin)
    check_kind(plugin_type, obj, origin)
    enter(info, obj, override=bool(values.get("override")))
    if "domain" in info.extra:
        enter_operator(info, obj)
    return obj


def enter(info: PluginInfo, obj: Any, *, override: bool = False) -> PluginInfo:
    """Register an object under its record; return that, with the framework that the object comes from.

    Args:
        info: Its record; the framework that it states is a guess.
        obj: The object; None if it is imported when it is first used.
        override: Take the place of another object of this name.

    Raises:
        DuplicatePluginError: Another object of its framework has this name.
    """
    try:
        REGISTRY.register(info, obj, override=override)
    except DuplicatePluginError:
        get_registry()  # discovery knows which distribution an object comes from; without it all seem one
        framework = _framework(info.type, info.reference)
        if framework == info.framework:
            raise
        info = info.replace(framework=framework)
        REGISTRY.register(info, obj, override=override)
    return info


def _framework(plugin_type: str, reference: str) -> str:
    scanned = REGISTRY.scanned(plugin_type, reference)
    if scanned:
        return scanned.framework
    return "brainsmith" if reference.startswith("brainsmith.") else "project"


transform = _decorator("transform")
kernel = _decorator("kernel")
backend = _decorator("backend")
step = _decorator("step")
op = _decorator("op")
target = _decorator("target")
bundle = _decorator("bundle")
