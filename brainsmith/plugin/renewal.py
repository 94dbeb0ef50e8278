"""Let what changed since it was imported be loaded anew, or refuse it: the old class never runs under the new record.

The modules of a plugin folder are imported through the hub alone, under names that nobody else knows. So they can be
loaded anew: all of a folder together, so that no old module meets a new one, and with them those of other folders that
hold something of theirs. Who holds an old class or instance goes on using it. Any other module may be held by anybody,
and is not loaded anew: the error says to restart Python.
"""

from __future__ import annotations

import sys
from types import ModuleType
from weakref import WeakSet

from brainsmith.errors import PluginLoadError
from brainsmith.plugin.imported_packages import packages_named, packages_read
from brainsmith.plugin.loading import FOLDER_PREFIX, plugin_mounts, unmount
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.remembered import forget, remembers_what_changed
from brainsmith.plugin.remembered import top_name as _top
from brainsmith.store.imported import has_changed, is_installed
from brainsmith.store.reads import Reads
from brainsmith.store.sources import sources_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from brainsmith.store.sources import Sources

_READS: dict[str, Reads] = {}
"""What the modules of a folder or package read from outside while they were imported, by its name."""


_HIDING: dict[str, str] = {}
"""What modules did while they were imported that hides what they read, by their names."""
_PACKAGES: dict[str, Reads] = {}
"""The installed packages that they import, as they were then."""
_ASKED: WeakSet[ModuleType] = WeakSet()
"""The modules of which it is known which packages they import."""
_IMPORTED: set[str] = set()
"""The modules that plugins have imported and that are not installed, also by names that stand in no source."""


def note_imported(module_names: Iterable[str]) -> None:
    """Note which modules plugins have imported while they ran or were imported themselves."""
    new = {name for name in module_names if not name.startswith(FOLDER_PREFIX)} & set(sys.modules)
    installed = {name for name in new if is_installed(str(getattr(sys.modules[name], "__file__", "")))}
    _IMPORTED.update(new - installed)
    packages = {top: sys.modules[top] for top in map(_top, installed) if top in sys.modules}
    for top, module in packages.items():
        if module not in _ASKED:
            _ASKED.add(module)
            _PACKAGES[top] = packages_named([top])


def note_reads(module_name: str, reads: Reads, hiding: Mapping[str, str]) -> None:
    """Note what a module read from outside while it was imported, and which installed packages it imports.

    Args:
        module_name: Of it.
        reads: What it read.
        hiding: What hid what was read, such as starting a program, by the names of the modules that did it.
    """
    _HIDING.update(hiding)
    if reads:
        _READS.setdefault(_top(module_name), Reads()).add(reads)
    own = _top(module_name)
    new = {
        name: module
        for name, module in list(sys.modules.items())
        if _top(name) == own and module not in _ASKED
    }
    _ASKED.update(new.values())
    _PACKAGES.setdefault(own, Reads()).add(packages_read(new))


def reads_at_import() -> Reads:
    """Return what all plugins read from outside while they were imported: any of them may be in use."""
    found = Reads()
    for top, reads in (*list(_PACKAGES.items()), *list(_READS.items())):
        if top in sys.modules:
            found.add(reads)
    return found


def hidden_at_import(module_name: str) -> str:
    """Return what a module, or one that it imports, did while it was imported that hides what it read; empty if nothing."""
    if not _HIDING:
        return ""
    modules = {module_name, *sources_of([module_name], without=FRAMEWORKS).digests}
    return next((what for name, what in list(_HIDING.items()) if name in modules), "")


def renew() -> None:
    """Forget the modules of each plugin folder in which anything changed; their objects are loaded anew when asked for.

    Objects of other modules that changed are forgotten too: asking for them says to restart.
    """
    from brainsmith.plugin.registry import REGISTRY

    tops = plugin_mounts()
    mounted = {
        name: module
        for name, module in list(sys.modules.items())
        if name.startswith(FOLDER_PREFIX) and _top(name) in tops
    }
    changed = {_top(name) for name in mounted if has_changed(name)}
    changed |= {top for top, reads in list(_READS.items()) if top in tops and reads.has_changed()}
    changed |= {top for top in tops if remembers_what_changed(top)}
    size = -1
    while size != len(changed):
        size = len(changed)
        changed |= {_top(name) for name, module in mounted.items() if _holds(module, changed)}
    present = {_top(name) for name in mounted}
    for top in changed:
        if top in present:
            unmount(top)
        _READS.pop(top, None)
        for name in [name for name in list(_HIDING) if _top(name) == top]:
            _HIDING.pop(name, None)
        _PACKAGES.pop(top, None)
        forget(top)
    REGISTRY.forget(
        {name for name in REGISTRY.loaded_modules() if _top(name) in changed or has_changed(name)}
    )


def refuse_changed(module_names: Iterable[str] | None = None) -> None:
    """Raise if modules that plugins may use changed since they were imported and cannot be loaded anew.

    Args:
        module_names: Those to look at; by default all of the frameworks, of packages with plugins, and what plugins import.

    Raises:
        PluginLoadError: One did; all are named.
    """
    names = sorted(_used() if module_names is None else module_names)
    places = [str(getattr(sys.modules[name], "__file__", name)) for name in names if has_changed(name)]
    if places:
        raise PluginLoadError(
            f"{', '.join(places)} changed since this process imported {'it' if len(places) == 1 else 'them'}, "
            "and may be in use: restart Python"
        )
    if module_names is not None:
        return
    for top, reads in (*list(_PACKAGES.items()), *list(_READS.items())):
        changes = reads.changes() if top in sys.modules else []
        if changes:
            raise PluginLoadError(
                f"{', '.join(changes)} since this process imported plugins that use it: restart Python"
            )


def imported_helpers() -> dict[str, str]:
    """Return digests of the modules that plugins import and that lie in no package of theirs, by their files."""
    own = {*plugin_mounts(), *_packages()}
    found = _sources().digests.items()
    files = {name: getattr(sys.modules.get(name), "__file__", None) for name, _ in found}
    return {str(files[name]): digest for name, digest in found if files[name] and _top(name) not in own}


def _sources() -> Sources:
    """Return the imported modules of plugins, and what they import, but for the frameworks."""
    own = {*plugin_mounts(), *_packages()}
    roots = [name for name in list(sys.modules) if _top(name) in own or name in _IMPORTED]
    return sources_of(roots, without=FRAMEWORKS)


def _packages() -> set[str]:
    """Return the packages with plugins that are imported and no frameworks."""
    from brainsmith.plugin.registry import REGISTRY

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
