"""Which installed packages some modules import: a package counts with the list of its files that its installer wrote."""

from __future__ import annotations

import ast
import os
import sys
from functools import cache, lru_cache

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.package_files import spec_of
from brainsmith.plugin.syntax import parse
from brainsmith.store.imported_sources import imported_source, is_installed
from brainsmith.store.reads import Reads, file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED = ("brainsmith", "qonnx", "finn", "onnx", "onnxruntime", "numpy")
"""Packages whose versions count in any case."""

_INSTALLED = (".dist-info", ".egg-info")


def packages_read(module_names: Iterable[str]) -> Reads:
    """Return the installed packages that imported modules import, as files that were read: an upgrade changes them.

    Imports are read in the sources, wherever they stand. A distribution's `RECORD` holds a digest of each of its files.
    """
    return packages_named(top for name in module_names for top in _imports(name))


def packages_named(tops: Iterable[str]) -> Reads:
    """Return the installed packages of some top names, as files that were read."""
    foreign = sorted(filter(_is_installed, set(tops) - {*COUNTED, *sys.stdlib_module_names}))
    if not foreign:
        return Reads()
    from importlib import metadata  # reads mail headers: only for packages that are not known yet

    distributions = _distributions(_places())
    names = {name for top in foreign for name in distributions.get(top, ())}
    records = [
        str(file.locate())
        for name in sorted(names)
        for file in metadata.distribution(name).files or ()
        if file.name == "RECORD" and file.parent.name.endswith(".dist-info")
    ]
    return Reads({path: file_digest(path) for path in records})


def _places() -> tuple[tuple[str, int], ...]:
    """Return the folders in which packages are installed, with the time of the last change there."""
    found = []
    for folder in map(os.path.abspath, sys.path):
        try:
            if any(name.endswith(_INSTALLED) for name in os.listdir(folder)):
                found.append((folder, os.stat(folder).st_mtime_ns))
        except OSError:  # Python imports nothing from there either
            continue
    return tuple(found)


@cache
def _distributions(places: tuple[tuple[str, int], ...]) -> dict[str, list[str]]:
    """Return which distributions have a package, by its name.

    Args:
        places: What that depends on, so that it is only looked up again where something was installed.
    """
    from importlib import metadata  # reads mail headers: only for packages that are not known yet

    return dict(metadata.packages_distributions())


def _imports(module_name: str) -> frozenset[str]:
    """Return the top names of what a module imports."""
    source = imported_source(module_name)
    return frozenset() if source is None else _imports_in(source.data)


@lru_cache(maxsize=1024)
def _imports_in(source: bytes) -> frozenset[str]:
    """Return the top names of what is imported anywhere in a source."""
    found = set()
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return frozenset(name.partition(".")[0] for name in found)


def _is_installed(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None and (spec := spec_of(name)) is not None:
        file = spec.origin
    return isinstance(file, str) and is_installed(file)
