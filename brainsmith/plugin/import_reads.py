"""What the modules of plugins imported and read from outside while they were imported, and whether it changed since."""

from __future__ import annotations

import sys
from weakref import WeakSet

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.imported_packages import packages_named, packages_read
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.remembered import top_name as _top
from brainsmith.store.code_dependencies import sources_of
from brainsmith.store.imported_sources import has_changed, is_installed
from brainsmith.store.reads import Reads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType


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


def read_what_changed(folder_module: str) -> bool:
    """Tell whether the modules of a plugin folder read at import what is no longer as it was."""
    return folder_module in _READS and _READS[folder_module].has_changed()


def forget_imports(folder_module: str) -> None:
    """Note that all modules of a plugin folder are imported anew."""
    _READS.pop(folder_module, None)
    _PACKAGES.pop(folder_module, None)
    for name in [name for name in list(_HIDING) if _top(name) == folder_module]:
        _HIDING.pop(name, None)


def imported_by_plugins() -> frozenset[str]:
    """Return the modules that plugins have imported and that are not installed."""
    return frozenset(_IMPORTED)


def refuse_changed_modules(module_names: Iterable[str]) -> None:
    """Raise if modules changed since they were imported.

    Raises:
        PluginLoadError: One did; all are named.
    """
    places = [
        str(getattr(sys.modules[name], "__file__", name))
        for name in sorted(module_names)
        if has_changed(name)
    ]
    if places:
        raise PluginLoadError(
            f"{', '.join(places)} changed since this process imported {'it' if len(places) == 1 else 'them'}, "
            "and may be in use: restart Python"
        )


def refuse_changed_reads() -> None:
    """Raise if what plugins read from outside while they were imported changed since.

    Raises:
        PluginLoadError: It did.
    """
    for top, reads in (*list(_PACKAGES.items()), *list(_READS.items())):
        changes = reads.changes() if top in sys.modules else []
        if changes:
            raise PluginLoadError(
                f"{', '.join(changes)} since this process imported plugins that use it: restart Python"
            )
