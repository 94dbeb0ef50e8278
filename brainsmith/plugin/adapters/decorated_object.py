"""Read an entry point that names a plugin itself: a decorated class or function."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.bindings import places_of
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.questions import question

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.plugin.adapter_result import AdapterResult
    from brainsmith.plugin.adapters.adapter import Reading
    from brainsmith.plugin.adapters.entry_points import EntryPoint
    from brainsmith.plugin.python_source import PythonSource
    from brainsmith.plugin.source_files import SourceFile


def read_decorated(
    point: EntryPoint,
    files_of: Callable[[str], list[SourceFile]],
    result: AdapterResult,
    reading: Reading,
    extra: dict[str, str],
) -> bool:
    """Enter the plugin that an entry point names; return whether it names one.

    The module may define it, or import it from elsewhere. A class that no decorator makes a plugin, and a definition
    whose decorator is wrong, is a problem.

    Args:
        point: The entry point.
        files_of: Finds the source of a module.
        result: What the plugin, its files and problems are entered in.
        reading: The discovery.
        extra: Entries for the record's `extra`.
    """

    def source_of(module: str) -> PythonSource | None:
        files = files_of(module)
        result.watched.extend(file.path for file in files)
        return reading.source(files[0]) if files else None

    for source, name in places_of(source_of(point.module), point.attribute, source_of):
        records, _, problems = source.ask("decorated", point.distribution, tuple(extra.items()))
        reference = f"{source.file.module}:{name}"
        found = [info for info in map(PluginInfo.from_plain, records) if info.reference == reference]
        result.records.extend(found)
        if found:
            return True
        kind, decorated = source.ask("definition_of", name)
        if decorated and problems:
            result.problems.extend(Problem(*values) for values in problems)
            return True
        if kind == "class":
            text = (
                f"{point.module}:{point.attribute} is a class that no decorator makes a plugin: decorate it, "
                "or name a module, or a function that returns a table"
            )
            result.problems.append(Problem(point.origin, 0, 0, text))
            return True
    return False


@question(nothing=("", False))
def definition_of(source: PythonSource, name: str) -> tuple[str, bool]:
    """Return what a name is at a file's top level, `class` or `def` or nothing, and whether it is decorated."""
    for item in source.definitions:
        if item.name == name:
            return item.kind, item.node is not None and bool(item.node.decorator_list)
    return "", False
