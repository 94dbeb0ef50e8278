"""Read an entry point that names a plugin itself: a decorated class or function."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.questions import question
from brainsmith.plugin.top_level import exact_definitions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    for source, name in _places(point, files_of, result, reading):
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


def _places(
    point: EntryPoint,
    files_of: Callable[[str], list[SourceFile]],
    result: AdapterResult,
    reading: Reading,
) -> Iterator[tuple[PythonSource, str]]:
    """Yield where an entry point's object may be defined: its module, and where that imports it from."""
    module, name = point.module, point.attribute
    seen = set()
    while (module, name) not in seen:
        seen.add((module, name))
        files = files_of(module)
        if not files:
            return
        result.watched.append(files[0].path)
        source = reading.source(files[0])
        yield source, name
        target = source.binding(name)
        if target is None:
            return
        module, _, name = target.rpartition(".")


@question(nothing=("", False))
def definition_of(source: PythonSource, name: str) -> tuple[str, bool]:
    """Return what a name is at a file's top level, `class` or `def` or nothing, and whether it is decorated."""
    for item in exact_definitions(source):
        if item.name == name:
            return item.kind, item.node is not None and bool(item.node.decorator_list)
    return "", False
