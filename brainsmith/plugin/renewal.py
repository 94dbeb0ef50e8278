"""Reload plugins whose files changed since they were imported, or refuse them: an old class never runs under a new record.

The modules of a plugin folder are imported through the hub alone, under names that nobody else knows. So they can be
loaded anew: all of a folder together, so that no old module meets a new one, and with them those of other folders that
hold something of theirs. Who holds an old class or instance goes on using it. Any other module may be held by anybody,
and is not loaded anew: the error says to restart Python.
"""

from __future__ import annotations

import sys
from types import ModuleType

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.held_plugins import held_plugins
from brainsmith.plugin.import_reads import (
    forget_imports,
    imported_by_plugins,
    read_what_changed,
    refuse_changed_modules,
    refuse_changed_reads,
)
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX, plugin_mounts, unmount
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.remembered import forget, remembers_what_changed
from brainsmith.plugin.remembered import top_name as _top
from brainsmith.store.code_dependencies import sources_of
from brainsmith.store.imported_sources import has_changed

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.store.code_dependencies import Sources


def renew() -> None:
    """Forget the modules of each plugin folder in which anything changed; their objects are loaded anew when asked for.

    Objects of other modules that changed are forgotten too: asking for them says to restart. Inside of a build nothing is
    forgotten: it ends with what it began with.
    """
    if held_plugins() is not None:
        return
    tops = plugin_mounts()
    mounted = {
        name: module
        for name, module in list(sys.modules.items())
        if name.startswith(FOLDER_PREFIX) and _top(name) in tops
    }
    changed = {_top(name) for name in mounted if has_changed(name)}
    changed |= {top for top in tops if read_what_changed(top) or remembers_what_changed(top)}
    size = -1
    while size != len(changed):
        size = len(changed)
        changed |= {_top(name) for name, module in mounted.items() if _holds(module, changed)}
    present = {_top(name) for name in mounted}
    for top in changed:
        if top in present:
            unmount(top)
        forget_imports(top)
        forget(top)
    loaded = REGISTRY.loaded_modules()
    REGISTRY.forget({name for name in loaded if _top(name) in changed or has_changed(name)})


def refuse_changed() -> None:
    """Raise if anything that plugins may use changed since it was imported and cannot be loaded anew.

    That is: modules of the frameworks, of packages with plugins, and what plugins import; and what they read then.

    Raises:
        PluginLoadError: Something did.
    """
    refuse_changed_modules(_used())
    refuse_changed_reads()


def imported_helpers() -> dict[str, str]:
    """Return digests of the modules that plugins import and that lie in no package of theirs, by their files."""
    own = {*plugin_mounts(), *_packages()}
    found = _sources().digests.items()
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name, _ in found}
    return {str(files[name]): digest for name, digest in found if files[name] and _top(name) not in own}


def _sources() -> Sources:
    """Return the imported modules of plugins, and what they import, but for the frameworks."""
    own = {*plugin_mounts(), *_packages()}
    imported = imported_by_plugins()
    roots = [name for name in list(sys.modules) if _top(name) in own or name in imported]
    return sources_of(roots, without=FRAMEWORKS)


def _packages() -> set[str]:
    """Return the packages with plugins that are imported and no frameworks."""
    tops = {_top(module) for module in REGISTRY.loaded_modules()}
    return {top for top in tops if not top.startswith(FOLDER_PREFIX) and top not in (*FRAMEWORKS, "__main__")}


def _used() -> set[str]:
    """Return the imported modules that plugins may use and that cannot be loaded anew."""
    found = _sources()
    names = {name for name in list(sys.modules) if _top(name) in FRAMEWORKS}
    return names | {name for name in (*found.digests, *found.unknown) if _top(name) not in plugin_mounts()}


def _holds(module: ModuleType, tops: set[str]) -> bool:
    """Tell whether a module has a name for something of one of some folders."""
    return any(_homes(value) & tops for value in list(vars(module).values()))


def _homes(value: Any) -> set[str]:
    """Return the folders and packages that a value is made of."""
    if isinstance(value, ModuleType):
        return {_top(value.__name__)}
    classes = value.__mro__ if isinstance(value, type) else (value, type(value))
    return {_top(str(getattr(part, "__module__", ""))) for part in classes}
