"""Which installed packages some modules import: a package counts with the list of its files that its installer wrote."""

from __future__ import annotations

import os
import sys
from functools import cache

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.distributions import environment
from brainsmith.plugin.package_files import spec_of
from brainsmith.store.code_dependencies import imports_in
from brainsmith.store.imported_sources import imported_source, is_installed
from brainsmith.store.reads import Reads, file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED = ("brainsmith", "qonnx", "finn", "onnx", "onnxruntime", "numpy")
"""Packages whose versions count in any case."""


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

    distributions = _distributions(environment(()))
    names = {name for top in foreign for name in distributions.get(top, ())}
    records = [
        str(file.locate())
        for name in sorted(names)
        for file in metadata.distribution(name).files or ()
        if file.name == "RECORD" and file.parent.name.endswith(".dist-info")
    ]
    return Reads({path: file_digest(path) for path in records})


@cache
def _distributions(installed: tuple[tuple[str, ...], ...]) -> dict[str, list[str]]:
    """Return which distributions have a package, by its name.

    Args:
        installed: What that depends on (`environment`), so that it is only looked up again where something was installed.
    """
    from importlib import metadata  # reads mail headers: only for packages that are not known yet

    return dict(metadata.packages_distributions())


def _imports(module_name: str) -> set[str]:
    """Return the top names of what a module imports."""
    source = imported_source(module_name)
    if source is None:
        return set()
    is_package = os.path.basename(source.path) == "__init__.py"
    return {name.partition(".")[0] for name in imports_in(source.data, module_name, is_package)}


def _is_installed(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None and (spec := spec_of(name)) is not None:
        file = spec.origin
    return isinstance(file, str) and is_installed(file)
