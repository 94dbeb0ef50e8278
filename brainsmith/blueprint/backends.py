"""Which backends a kernel of a blueprint may use: a backend belongs to the kernel that its record states."""

from __future__ import annotations

from brainsmith.blueprint.lookup import Lookup, in_framework
from brainsmith.blueprint.names import did_you_mean
from brainsmith.blueprint.schema import KernelEntry, PluginName
from brainsmith.errors import AmbiguousPluginError, DuplicatePluginError
from brainsmith.plugin.info import BACKEND_TYPES, PluginInfo
from brainsmith.plugin.registry import OURS, Registry, split_name


class BackendTable:
    """The backends of every kernel of a registry, the best first.

    A backend's `kernel` means the kernel of that name in its own framework, or else the one that the bare
    name resolves to. Names are never compared by prefix or suffix: another framework's kernel of the same
    name has backends of its own.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._by_kernel: dict[PluginInfo, list[PluginInfo]] = {}
        for backend in sorted(lookup.registry.records("backend"), key=_rank):
            kernel = kernel_of(lookup.registry, backend)
            if kernel is not None:
                self._by_kernel.setdefault(kernel, []).append(backend)

    def select(self, kernel: PluginInfo, entry: KernelEntry) -> tuple[PluginInfo, ...]:
        """Give the backends that an entry allows, in its order; all of the kernel's where it says nothing."""
        own = self._by_kernel.get(kernel, [])
        if entry.backends is None:
            return tuple(own)
        found: dict[PluginInfo, None] = {}
        missing = []
        for name in entry.backends:
            if _is_type(name):
                of_type = [backend for backend in own if backend.backend_type == name.name.lower()]
                found.update(dict.fromkeys(of_type))
                missing += [] if of_type else [name]
            else:
                backend = self._named(kernel, own, name)
                found.update({backend: None} if backend else {})
        self._note_missing_types(kernel, own, missing, bool(found))
        return tuple(found)

    def _named(self, kernel: PluginInfo, own: list[PluginInfo], name: PluginName) -> PluginInfo | None:
        """Give the kernel's backend of this name, or collect why there is none."""
        same = [b for b in own if b.name.lower() == name.name.lower() and in_framework(b, name.framework)]
        exact = [backend for backend in same if backend.name == name.name] or same
        if exact:
            return exact[0]
        try:
            other = self._lookup.record("backend", name)
        except (AmbiguousPluginError, DuplicatePluginError):
            other = None
        if other is not None:
            whose = kernel_of(self._lookup.registry, other)
            implemented = whose.qualified if whose else other.kernel
            text = f"backend {other.qualified!r} implements {implemented!r}, not {kernel.qualified!r}."
        else:
            hint = did_you_mean(name.name, [backend.name for backend in own])
            text = f"kernel {kernel.qualified!r} has no backend {name.qualified!r}.{hint}"
        text += f" {_listed(own)}"
        if name.optional and other is None:
            self._lookup.skip(name, "backend", text)
        else:
            self._lookup.report(name, text)
        return None

    def _note_missing_types(
        self, kernel: PluginInfo, own: list[PluginInfo], missing: list[PluginName], others: bool
    ) -> None:
        """A type without a backend is an error, unless the entry allows backends that exist."""
        for name in missing:
            text = f"kernel {kernel.qualified!r} has no {name.name.lower()} backend. {_listed(own)}"
            if others or name.optional:
                self._lookup.skipped.append(f"{name.position}: {text}")
            else:
                self._lookup.report(name, text)


def kernel_of(registry: Registry, backend: PluginInfo) -> PluginInfo | None:
    """Give the kernel that a backend implements; None if it is not registered or not clear which is meant."""
    framework, name = split_name(backend.kernel or "")
    kernels = registry.providers("kernel", name)
    wanted = framework or backend.framework
    for kernel in kernels:
        if kernel.framework == wanted:
            return kernel
    if framework or not kernels:
        return None
    try:
        return registry.resolve("kernel", name)
    except AmbiguousPluginError:
        return None


def _is_type(name: PluginName) -> bool:
    return not name.framework and name.name.lower() in BACKEND_TYPES


def _rank(backend: PluginInfo) -> tuple[int, int, str, str]:
    ours = OURS.index(backend.framework) if backend.framework in OURS else len(OURS)
    return -backend.priority, ours, backend.framework, backend.name


def _listed(own: list[PluginInfo]) -> str:
    """List a kernel's backends, for the end of a message."""
    if not own:
        return "It has none."
    return f"It has {', '.join(f'{backend.name} ({backend.backend_type})' for backend in own)}."
