"""Plugin folders outside of any package, imported as packages whose names nobody else knows."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.forks import lock_of
from brainsmith.store.fingerprint import short_digest

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

FOLDER_PREFIX = "brainsmith_folder_"
"""Such folders are imported below a module of this name and a digest of their path."""

_LOCK = lock_of()
_FOLDERS: dict[str, str] = {}
"""The mounted folders that are packages, by the name of their module."""
_PLUGINS: set[str] = set()
"""The mounted folders of which plugins are imported by their records."""


def folder_module(folder: str) -> str:
    """Return the name of the module below which the files of a folder are imported: the same in every process."""
    return FOLDER_PREFIX + short_digest(folder)


def mount_folder(name: str, folder: str, of_plugins: bool = False) -> None:
    """Make a folder importable as a package, without touching `sys.path`.

    Args:
        name: The package's name (`folder_module`).
        folder: Where it lies.
        of_plugins: Whether plugins are imported from it by their records.
    """
    with _LOCK:
        if of_plugins:
            _PLUGINS.add(name)
        if name in sys.modules or name in _FOLDERS:
            return
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            _FOLDERS[name] = folder
            if _FolderFinder not in sys.meta_path:
                sys.meta_path.append(_FolderFinder)
            return
        sys.modules[name] = _package_of(name, folder)


def _package_of(name: str, folder: str) -> ModuleType:
    """Return a package of a folder without `__init__.py`; `importlib.resources` finds the folder's files by it."""
    from importlib.machinery import ModuleSpec, NamespaceLoader  # a discovery asks for names only
    from types import ModuleType  # so too

    package = ModuleType(name, f"The plugin folder {folder}.")
    package.__path__ = [folder]
    loader = NamespaceLoader(name, [folder], lambda name, path: None)
    package.__spec__ = ModuleSpec(name, loader, is_package=True)
    package.__spec__.submodule_search_locations = [folder]
    return package


def plugin_mounts() -> frozenset[str]:
    """Return the modules below which plugins are imported by their records: nobody else knows these names."""
    return frozenset(_PLUGINS)


def unmount(name: str) -> None:
    """Forget a mounted folder and all modules below it, and that Python knows what is in it."""
    with _LOCK:
        modules = [known for known in list(sys.modules) if known == name or known.startswith(f"{name}.")]
        # Of a folder without `__init__.py` Python asks the module above it, so all are asked before one is forgotten.
        packages = [sys.modules.get(module) for module in modules]
        folders = [folder for package in packages for folder in getattr(package, "__path__", ())]
        for module in modules:
            sys.modules.pop(module, None)
        for folder in folders:
            sys.path_importer_cache.pop(folder, None)


class _FolderFinder:
    """Lets Python's own import run the `__init__.py` of a mounted folder."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how a mounted folder is imported."""
        if name not in _FOLDERS:
            return None
        from importlib.util import spec_from_file_location  # a discovery mounts nothing

        from brainsmith.store.imported_sources import noting  # so too

        folder = _FOLDERS[name]
        init = os.path.join(folder, "__init__.py")
        spec = spec_from_file_location(name, init, submodule_search_locations=[folder])
        return spec and noting(spec)
