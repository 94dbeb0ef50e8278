"""Which installed packages some modules import: a package counts with the list of its files that its installer wrote."""

from __future__ import annotations

import ast
import sys

from brainsmith.plugin.source import parse
from brainsmith.store.imported import imported_source, is_installed
from brainsmith.store.reads import Reads, file_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTED = ("brainsmith", "qonnx", "finn", "onnx", "onnxruntime", "numpy")
"""Packages whose versions count in any case."""


def packages_read(module_names: Iterable[str]) -> Reads:
    """Return the installed packages that imported modules import, as files that were read: an upgrade changes them.

    Imports are read in the sources, wherever they stand. A distribution's `RECORD` holds a digest of each of its files.
    """
    tops = {top for name in module_names for top in _imports(name)}
    foreign = sorted(
        top for top in tops if top not in (*COUNTED, *sys.stdlib_module_names) and _is_installed(top)
    )
    if not foreign:
        return Reads()
    from importlib import metadata

    distributions = metadata.packages_distributions()
    names = {name for top in foreign for name in distributions.get(top, ())}
    records = [
        str(file.locate())
        for name in sorted(names)
        for file in metadata.distribution(name).files or ()
        if file.name == "RECORD" and file.parent.name.endswith(".dist-info")
    ]
    return Reads({path: file_digest(path) for path in records})


def _imports(module_name: str) -> set[str]:
    """Return the top names of what a module imports."""
    source = imported_source(module_name)
    if source is None:
        return set()
    found = set()
    for node in ast.walk(parse(source.data)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def _is_installed(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        from importlib.util import find_spec

        try:
            spec = find_spec(name)
        except (ImportError, ValueError):
            return False
        file = spec.origin if spec is not None else None
    return isinstance(file, str) and is_installed(file)
