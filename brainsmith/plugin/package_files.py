"""Where the files of an installed package or module lie, and of which version it is, without importing it."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.distributions import version_of_package
from brainsmith.plugin.source_files import SourceFile

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


def spec_of(name: str) -> ModuleSpec | None:
    """Return how Python would import a top-level module, without importing it; None if it is not installed."""
    from importlib.util import find_spec  # a cached discovery looks for no package

    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


def package_folders(name: str) -> list[str]:
    """Return the folders of a top-level package, without importing it; empty if it is not installed."""
    module = sys.modules.get(name)
    if module is not None and getattr(module, "__spec__", None) is None:
        return [str(path) for path in getattr(module, "__path__", ())]
    spec = spec_of(name)
    return [str(path) for path in (spec.submodule_search_locations if spec else None) or ()]


def distribution_version(package: str) -> str:
    """Return the version of the distribution that has a package's folder, from the dist-info folders beside it."""
    return version_of_package(package, package_folders(package))


def module_files(module: str) -> tuple[list[SourceFile], str]:
    """Find a module's source without importing anything.

    Returns:
        Its file (as a list, empty if there is none), and its folder if it is a package.
    """
    top, *rest = module.split(".")
    folders = package_folders(top)
    if not folders:
        path = _single_module(top) if not rest else ""
        return ([SourceFile(path, module, False)] if path else []), ""
    for base in folders:
        folder = os.path.join(base, *rest)
        if os.path.isdir(folder):
            init = os.path.join(folder, "__init__.py")
            return [SourceFile(init, module, True)] if os.path.isfile(init) else [], folder
        if os.path.isfile(folder + ".py"):
            return [SourceFile(folder + ".py", module, False)], ""
    return [], ""


def _single_module(name: str) -> str:
    spec = spec_of(name)
    return spec.origin if spec and spec.origin and spec.origin.endswith(".py") else ""
