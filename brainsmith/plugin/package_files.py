"""Where the files of an installed package or module lie, and of which version it is, without importing it."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.distributions import version_of_package
from brainsmith.plugin.source_files import SourceFile

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from brainsmith.plugin.info import PluginInfo


def spec_of(name: str, folders: list[str] | None = None) -> ModuleSpec | None:
    """Return how Python would import a top-level module, without importing it; None if it is not installed.

    Args:
        name: Of the module.
        folders: Where to look; where this Python looks by default.
    """
    try:
        if folders is not None:
            from importlib.machinery import PathFinder  # a cached discovery looks for no package

            return PathFinder.find_spec(name, folders)
        from importlib.util import find_spec  # so too

        return find_spec(name)
    except (ImportError, ValueError):
        return None


def package_folders(name: str, folders: list[str] | None = None) -> list[str]:
    """Return the folders of a top-level package, without importing it; empty if it is not installed (see `spec_of`)."""
    module = sys.modules.get(name) if folders is None else None
    if module is not None and getattr(module, "__spec__", None) is None:
        return [str(path) for path in getattr(module, "__path__", ())]
    spec = spec_of(name, folders)
    return [str(path) for path in (spec.submodule_search_locations if spec else None) or ()]


def distribution_version(package: str) -> str:
    """Return the version of the distribution that has a package's folder, from the dist-info folders beside it."""
    return version_of_package(package, package_folders(package))


def plugin_file(info: PluginInfo) -> str:
    """Return the file that a plugin is defined in: as its record says, or else that of its module; empty if there is none.

    The record of a plugin that a distribution lists in a table says the entry point in place of a file.
    """
    if info.file or not info.extra.get("entry_point"):
        return info.file
    files, _ = module_files(info.module)
    return files[0].path if files else ""


def module_files(module: str, folders: list[str] | None = None) -> tuple[list[SourceFile], str]:
    """Find a module's source without importing anything.

    Args:
        module: Its name.
        folders: Where to look; where this Python looks by default.

    Returns:
        Its file (as a list, empty if there is none), and its folder if it is a package.
    """
    top, *rest = module.split(".")
    packages = package_folders(top, folders)
    if not packages:
        path = _single_module(top, folders) if not rest else ""
        return ([SourceFile(path, module, False)] if path else []), ""
    for base in packages:
        folder = os.path.join(base, *rest)
        if os.path.isdir(folder):
            init = os.path.join(folder, "__init__.py")
            return [SourceFile(init, module, True)] if os.path.isfile(init) else [], folder
        if os.path.isfile(folder + ".py"):
            return [SourceFile(folder + ".py", module, False)], ""
    return [], ""


def _single_module(name: str, folders: list[str] | None) -> str:
    spec = spec_of(name, folders)
    return spec.origin if spec and spec.origin and spec.origin.endswith(".py") else ""
