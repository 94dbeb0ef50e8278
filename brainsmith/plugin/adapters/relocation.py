"""Update the line numbers in a framework's records after edits that moved definitions and changed nothing else.

What is found in a framework follows from the answers to what is asked of its files (`questions`), and from nothing else.
So where all that was ever asked of a file has the same answers, lines excepted, all that was found is found again.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.questions import PLACES
from brainsmith.plugin.source_files import SourceFile

if TYPE_CHECKING:
    from brainsmith.plugin.adapters.adapter import Reading
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.python_source import PythonSource


def relocated(name: str, reading: Reading) -> AdapterResult | None:
    """Return what an adapter found before, with the lines that hold now; None if more than lines may have changed.

    Args:
        name: The adapter's.
        reading: Knows what was found, and what changed.
    """
    earlier = reading.earlier.get(name)
    if earlier is None or earlier.status != "available":
        return None
    edited = {}
    for path in reading.changed:
        if earlier.depends_on((path,)):
            source = _same_but_for_lines(path, reading)
            if source is None or _is_named_elsewhere(path, earlier):
                return None
            edited[path] = source
    result = AdapterResult(name)
    vars(result).update(vars(earlier), records=[])
    for info in earlier.records:
        path, _, line = info.origin.rpartition(":")
        now = str(_line(info, edited[path])) if path in edited else line
        result.records.append(info if now == line else info.replace(origin=f"{path}:{now}"))
    return result


def _same_but_for_lines(path: str, reading: Reading) -> PythonSource | None:
    """Return a changed file's source if all that was asked of it has the same answers."""
    before = reading.changed[path]
    if len(before) != 1:
        return None
    [((module, is_package), known)] = before.items()
    try:
        source = reading.source(SourceFile(path, module, is_package))
    except OSError:
        return None
    headers = ("class_headers",)  # first, since other questions are about one of the classes
    same = source.ask(*headers) == known["given"].get(headers) and all(
        source.ask(*key) == answer for key, answer in known["given"].items() if key[0] not in PLACES
    )
    names = (*source.ask("step_names"), *(name for name, _ in source.ask("class_headers")))
    if not same or known["problems"] or source.problems or len(set(names)) < len(names):
        return None
    return source


def _is_named_elsewhere(path: str, earlier: AdapterResult) -> bool:
    """Tell whether a line of a file stands anywhere else than in the records of what it defines."""
    return any(path in str(problem) for problem in earlier.problems) or any(
        path in info.extra.get("second_of", "") for info in earlier.records
    )


def _line(info: PluginInfo, source: PythonSource) -> int:
    defined = info.reference.rpartition(":")[2]
    if info.type == "step":
        names, lines = source.ask("step_names"), source.ask("step_lines")
    else:
        names, lines = [name for name, _ in source.ask("class_headers")], source.ask("class_lines")
    line: int = lines[names.index(defined)]
    return line
