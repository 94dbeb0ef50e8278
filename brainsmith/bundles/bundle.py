"""A bundle: its metadata, and the functions that are called when it is registered and removed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.bundles.modules import drop, restore
from brainsmith.errors import BundleDefinitionError
from brainsmith.plugin.adapters.plugin_json_keys import check_name, disagreements
from brainsmith.plugin.version import Version, VersionRange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from brainsmith.plugin.plugin_registry import Registry

    OnRegistry = Callable[[Registry], object]
    Plugin = tuple[str, object, dict[str, Any]]


@dataclass(frozen=True)
class BundleInfo:
    """What a bundle states about itself; it prints as `name v1.0.0`.

    Attributes:
        name: A Python identifier; the framework of all plugins that the bundle brings.
        version: Its own.
        min_brainsmith_version: The oldest host that it works with; the host's major number must be this one's.
        max_brainsmith_version: The newest one; None for any.
        description: One line.
        author: Who wrote it.
        depends_on: The bundles that it needs, by name, each with the versions that will do.
        license: An SPDX expression; of its plugins too, where they state none.

    Raises:
        BundleDefinitionError: A value is invalid.
    """

    name: str
    version: Version
    min_brainsmith_version: Version
    max_brainsmith_version: Version | None = None
    description: str = ""
    author: str = ""
    depends_on: tuple[tuple[str, VersionRange], ...] = ()
    license: str = ""

    def __post_init__(self) -> None:
        check_name(self.name)
        for _, text in disagreements(vars(self)):
            raise BundleDefinitionError(f"bundle '{self}': {text}")

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Bundle:
    """A package of ops and other plugins, whose functions are called when it is registered and removed.

    Attributes:
        info: What it states about itself.
        origin: Where it was made: `file:line`, or the path of its file.
        module: The module that it was loaded from; None where it was not loaded from a Python file.
        before: The module of the same name that it replaced; None if there was none.
        helpers: The modules from beside its file that running it imported first, by name.
    """

    def __init__(self, info: BundleInfo, origin: str = "") -> None:
        self.info = info
        self.origin = origin
        self.module: ModuleType | None = None
        self.before: ModuleType | None = None
        self.helpers: dict[str, ModuleType] = {}
        self.initialize_fn: OnRegistry | None = None
        self.cleanup_fn: OnRegistry | None = None
        self.custom_operations_fn: Callable[[], Iterable[Any]] | None = None
        self.plugins_fn: Callable[[], Iterable[Plugin]] | None = None

    def set_initialize_fn(self, function: OnRegistry) -> Bundle:
        """Have a function called once when the bundle is registered, before its ops and plugins are asked for.

        It is given the one registry. What it registers there, in whatever way, belongs to the bundle.
        """
        self.initialize_fn = self._callable("set_initialize_fn", function)
        return self

    def set_cleanup_fn(self, function: OnRegistry) -> Bundle:
        """Have a function called once when the bundle is removed, while its ops are still there.

        It is given the one registry. It is called as well where registering fails after initialise has run.
        """
        self.cleanup_fn = self._callable("set_cleanup_fn", function)
        return self

    def set_custom_operations_fn(self, function: Callable[[], Iterable[Any]]) -> Bundle:
        """State the ops that the bundle brings: a function that returns a list of `Op` objects or classes."""
        self.custom_operations_fn = self._callable("set_custom_operations_fn", function)
        return self

    def set_plugins_fn(self, function: Callable[[], Iterable[Plugin]]) -> Bundle:
        """State the plugins of any type that the bundle brings.

        The function returns a list of `(type, object, keywords)`: `("transform", MyTransform, {"stage": "tidy"})`.
        The keywords are those of the type's decorator; the object itself is not decorated.
        """
        self.plugins_fn = self._callable("set_plugins_fn", function)
        return self

    def _callable(self, what: str, function: Any) -> Any:
        if not callable(function):
            raise BundleDefinitionError(f"{what} of bundle '{self}' needs a function, not {function!r}")
        return function

    def close(self) -> None:
        """Release what lies below the bundle's ops, after they were removed: its modules, or a native library."""
        drop(self.helpers)
        if self.module is not None:
            drop({self.module.__name__: self.module})

    def give_way(self) -> None:
        """Close a bundle that could not be registered, and restore the module that its own had replaced."""
        mine = self.module is not None and sys.modules.get(self.module.__name__) is self.module
        self.close()
        if mine and self.before is not None:
            sys.modules[self.before.__name__] = self.before

    def step_aside(self) -> None:
        """Take the helper modules out of `sys.modules`, so that another version imports its own."""
        drop(self.helpers)

    def resume(self) -> None:
        """Put its modules back into `sys.modules`, after another version could not be loaded."""
        restore(self.helpers)
        if self.module is not None:
            sys.modules[self.module.__name__] = self.module

    def __str__(self) -> str:
        return str(self.info)

    def __repr__(self) -> str:
        return f"<bundle {self.info}>"
