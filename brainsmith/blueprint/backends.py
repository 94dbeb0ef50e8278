"""Which backends a kernel of a blueprint may use: a backend belongs to the kernel that its record states."""

from __future__ import annotations

from brainsmith.blueprint.lookup import Lookup, in_framework
from brainsmith.blueprint.schema import KernelEntry, PluginName
from brainsmith.close_names import did_you_mean
from brainsmith.errors import AmbiguousPluginError, DuplicatePluginError, PluginUnavailableError
from brainsmith.plugin.collections import backends_of, ranked
from brainsmith.plugin.info import BACKEND_TYPES, PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.precedence import split_name
from brainsmith.plugin.requirements import refuse_unusable


class BackendChoice:
    """Chooses the backends that an entry of a blueprint allows.

    Names are never compared by prefix or suffix: another framework's kernel of the same name has backends of
    its own (`backends_of`).
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def select(self, kernel: PluginInfo, entry: KernelEntry) -> tuple[PluginInfo, ...]:
        """Give the backends that an entry allows, in its order; all of the kernel's where it says nothing."""
        of_kernel = backends_of(self._lookup.registry, kernel)
        own = ranked(info for info in of_kernel if self._lookup.limits.allow(info))
        if entry.backends is None:
            return tuple(backend for backend in own if self._is_complete(backend, entry.name))
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
            return self._usable(exact[0], name)
        try:
            other = self._lookup.record("backend", name)
        except (AmbiguousPluginError, DuplicatePluginError, PluginUnavailableError):
            other = None
        if other is not None:
            implemented = _implemented(self._lookup.registry, other)
            text = f"backend {other.qualified!r} implements {implemented}, not {kernel.qualified!r}."
        else:
            hint = did_you_mean(name.name, [backend.name for backend in own]) or "."
            text = f"kernel {kernel.qualified!r} has no backend {name.qualified!r}{hint}"
        text += f" {_listed(own)}"
        if other is None:
            self._lookup.refuse(name, "backend", text)
        else:
            self._lookup.report(name, text)
        return None

    def _is_complete(self, backend: PluginInfo, name: PluginName) -> bool:
        """Tell whether all plugins are here that a backend requires; without them it is left out, which is noted."""
        try:
            self._lookup.require(backend)
        except PluginUnavailableError as error:
            self._lookup.note(name.position, f"backend {backend.qualified!r} is left out: {error}")
            return False
        return True

    def _usable(self, backend: PluginInfo, name: PluginName) -> PluginInfo | None:
        """Give a backend that is named if it can be used here, or collect why it cannot."""
        try:
            refuse_unusable(backend)
            self._lookup.require(backend)
        except PluginUnavailableError as refused:
            try:
                return self._lookup.without_finn(refused)
            except PluginUnavailableError as error:
                self._lookup.refuse(name, "backend", str(error))
                return None
        return backend

    def _note_missing_types(
        self, kernel: PluginInfo, own: list[PluginInfo], missing: list[PluginName], others: bool
    ) -> None:
        """A type without a backend is an error, unless the entry allows backends that exist."""
        for name in missing:
            text = f"kernel {kernel.qualified!r} has no {name.name.lower()} backend. {_listed(own)}"
            if others or name.optional:
                self._lookup.note(name.position, text)
            else:
                self._lookup.report(name, text)


def _implemented(registry: Registry, backend: PluginInfo) -> str:
    """Name the kernel that a backend implements, for a message."""
    for kernel in registry.providers("kernel", split_name(backend.kernel or "")[1]):
        if backend in backends_of(registry, kernel):
            return repr(kernel.qualified)
    return repr(backend.kernel) if backend.kernel else "no kernel"


def _is_type(name: PluginName) -> bool:
    return not name.framework and name.name.lower() in BACKEND_TYPES


def _listed(own: list[PluginInfo]) -> str:
    """List a kernel's backends, for the end of a message."""
    if not own:
        return "It has none."
    return f"It has {', '.join(f'{backend.name} ({backend.backend_type})' for backend in own)}."
