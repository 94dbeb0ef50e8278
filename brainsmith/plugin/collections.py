"""What users type: `tfm.ExpandNorms`, `tfm.finn.Streamline`, `kn.MatMul`, `steps.cleanup`."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginNotFoundError
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.plugin_registry import REGISTRY, Registry
from brainsmith.plugin.precedence import ADAPTED, OURS, framework_identifier, split_name
from brainsmith.plugin.record_tables import exists
from brainsmith.plugin.records import RecordList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from brainsmith.plugin.info import PluginInfo


class _Completed(type):
    """Lets Python's own completion (TAB in `python -i`) offer plugins without importing them.

    It asks the class of an object whether a name is a property, and looks the attribute up if it is not, which would
    import the plugin. To a class, the names of plugins are properties; instances are not concerned.
    """

    def __getattr__(cls, name: str) -> Any:
        if not name.startswith("_") and any(REGISTRY.knows(kind, name) for kind in PLUGIN_TYPES):
            return property(lambda collection: collection[name])
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class Collection(metaclass=_Completed):
    """The plugins of one type, as attributes: the real classes and functions, imported when first used.

    An attribute is a plugin's name, or the name of a framework, which gives the plugins of that one alone. A
    plugin wins over a framework of the same name; `collection["framework:Name"]` reaches everything.
    """

    def __init__(
        self,
        plugin_type: str,
        registry: Callable[[], Registry],
        framework: str | None = None,
    ) -> None:
        self._type = plugin_type
        self._registry = registry
        self._framework = framework

    def list_plugins(self) -> RecordList:
        """Return the records, without importing anything."""
        return RecordList(self._registry().records(self._type, self._framework))

    def get_plugin(self, name: str) -> Any:
        """Return the object of `Name` or `framework:Name`.

        Raises:
            PluginNotFoundError, AmbiguousPluginError, DuplicatePluginError: The name.
            PluginLoadError: The import failed.
        """
        registry = self._registry()
        return registry.load(self.get_info(name))

    def get_info(self, name: str) -> PluginInfo:
        """Return the record of `Name` or `framework:Name`, without importing anything."""
        if self._framework is not None and split_name(name)[0] is None:
            name = f"{self._framework}:{name}"
        return self._registry().resolve(self._type, name)

    def frameworks(self) -> list[str]:
        """Return the frameworks that have plugins here."""
        return sorted({info.framework for info in self.list_plugins()})

    def __getattr__(self, name: str) -> Any:
        # Tools (notebooks, pytest) ask for such names of whatever they meet; `collection["_X"]` reaches a plugin.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self._framework is None and not self._registry().knows(self._type, name):
            framework = self._framework_named(name)
            if framework is not None:
                return type(self)(self._type, self._registry, framework)
        return self.get_plugin(name)

    def _framework_named(self, name: str) -> str | None:
        """Return the framework whose plugins an attribute gives, if it is one.

        Raises:
            PluginNotFoundError: It is one that an adapter could read, and that has no plugins here.
        """
        for framework in self._registry().framework_names(self._type):
            if framework_identifier(framework) == name:
                return framework
        if name in ADAPTED:
            raise PluginNotFoundError(
                f"framework {name!r} offers no {self._type}s here: {self._why_empty(name)}"
            )
        return None

    def _why_empty(self, framework: str) -> str:
        from brainsmith.plugin.not_found import why_framework_is_missing  # only where a name is wrong

        registry = self._registry()
        missing = why_framework_is_missing(registry, framework)
        return missing or registry.limits.restriction or "it has none"

    def __getitem__(self, name: str) -> Any:
        return self.get_plugin(name)

    def __contains__(self, name: object) -> bool:
        return exists(lambda: self.get_info(str(name)))

    def __iter__(self) -> Iterator[PluginInfo]:
        return iter(self.list_plugins())

    def __len__(self) -> int:
        return len(self.list_plugins())

    def items(self) -> list[tuple[str, PluginInfo]]:
        """Return pairs (name, record), without importing anything: `collection.get_info(name)` is the record."""
        return self.list_plugins().items()

    def values(self) -> list[PluginInfo]:
        """Return the records, without importing anything."""
        return self.list_plugins().values()

    def __dir__(self) -> list[str]:
        """List the attributes: a name that several frameworks have, and none with precedence, is not one."""
        names = set(super().__dir__()) | {name for name, _ in self.items() if name.isidentifier()}
        if self._framework is None:
            names.update(framework_identifier(framework) for framework in self.frameworks())
        return sorted(names)

    def __repr__(self) -> str:
        where = f" of {self._framework}" if self._framework else ""
        from brainsmith.figures import plural  # only who looks at it pays

        return f"<{plural(len(self), self._type)}{where}>"


class Kernels(Collection):
    """The kernels; `backends("MatMul")` lists those of one."""

    def backends(self, kernel: str) -> RecordList:
        """Return the backends that implement a kernel.

        Args:
            kernel: `Name` or `framework:Name`.

        Raises:
            PluginNotFoundError: There is no such kernel.
        """
        return backends_of(self._registry(), self.get_info(kernel))


class Backends(Collection):
    """The backends; `of("MatMul")` lists those of one kernel."""

    def of(self, kernel: str) -> RecordList:
        """Return the backends that implement a kernel (`Name` or `framework:Name`)."""
        registry = self._registry()
        return backends_of(registry, registry.resolve("kernel", kernel))


def backends_of(registry: Registry, kernel: PluginInfo) -> RecordList:
    """Return the backends of a kernel: by what they state, never by their names.

    A backend that states a bare kernel name means its own framework's kernel of that name if there is one, and else
    the one that the bare name resolves to.
    """
    backends = registry.records("backend")
    return RecordList(info for info in backends if means_kernel(registry, info, kernel))


def means_kernel(registry: Registry, info: PluginInfo, kernel: PluginInfo) -> bool:
    """Tell whether the kernel that a backend or transform states is this one."""
    framework, bare = split_name(info.kernel or "")
    if bare != kernel.name:
        return False
    if framework is not None:
        return framework_identifier(framework) == framework_identifier(kernel.framework)
    owners = [owner.framework for owner in registry.providers("kernel", bare)]
    if info.framework in owners:
        return info.framework == kernel.framework
    return bool(owners) and kernel.framework == owners[0]


def ranked(backends: Iterable[PluginInfo]) -> list[PluginInfo]:
    """Return backends in their default order.

    RTL comes before HLS; among those of a type the higher priority, then the project's, this one's, and others'.
    """
    return sorted(backends, key=_rank)


def _rank(backend: PluginInfo) -> tuple[bool, int, int, str, str]:
    ours = OURS.index(backend.framework) if backend.framework in OURS else len(OURS)
    return backend.backend_type != "rtl", -backend.priority, ours, backend.framework, backend.name


CLASSES = {"kernel": Kernels, "backend": Backends}
"""The collections that offer more than the general one, by plugin type."""
