"""Check, as far as sources show, that a decorated class descends from the base that its type demands."""

from __future__ import annotations

import ast
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.forks import cached_property
from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.closure import ClassNode, ClassTable
from brainsmith.plugin.definition import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.python_source import PythonSource
    from brainsmith.plugin.top_level import Definition


class KindChecker:
    """Follows the bases of classes through the installed sources; what these do not show is taken to be right."""

    def __init__(self, sources: list[PythonSource]) -> None:
        self._sources = sources

    def problems(self, source: PythonSource, records: list[PluginInfo]) -> Iterator[Problem]:
        """Yield what is of the wrong kind in one file."""
        definitions = {definition.name: definition for definition in source.definitions}
        for info in records:
            definition = definitions[info.reference.partition(":")[2]]
            text = self._class(source, definition, info.type)
            if text:
                yield Problem(source.file.path, info.line, 0, text)

    def _class(self, source: PythonSource, definition: Definition, plugin_type: str) -> str:
        if plugin_type not in KINDS:
            return ""
        wanted, modules, names = KINDS[plugin_type]
        node = self._table.get(f"{source.file.module}.{definition.name}")
        if node is None or not isinstance(definition.node, ast.ClassDef):
            return ""
        if len(definition.bases) < len(definition.node.bases):
            return ""  # a base that is computed
        for base in node.ancestors():
            full_name = base.full_name if isinstance(base, ClassNode) else base
            owner, _, name = full_name.rpartition(".")
            if name in names and f"{owner}.".startswith(modules):
                return ""
            if isinstance(base, str) and base.partition(".")[0] not in sys.stdlib_module_names:
                return ""  # a class of which no source was read
        bases = ", ".join(definition.bases)
        return f"@{plugin_type} needs {wanted}, not the class {definition.name}({bases})"

    @cached_property
    def _table(self) -> ClassTable:
        """The classes of the checked files and of the packages that kinds come from."""
        reading, table = Reading(), ClassTable()
        packages = map(reading.package, ("qonnx", "finn", "brainsmith"))
        for source in (*(one for package in packages if package for one in package.sources), *self._sources):
            table.add(source)
        return table
