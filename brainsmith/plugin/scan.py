"""Read the plugins and groups of a source file without running it."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginDefinitionError, Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.definition import make_record
from brainsmith.plugin.group_tables import declared_groups
from brainsmith.plugin.isolation import isolated
from brainsmith.plugin.literals import literal_arguments
from brainsmith.plugin.plugin_decorators import exact_blocks, fast_blocks
from brainsmith.plugin.questions import question
from brainsmith.plugin.syntax import check_compiles
from brainsmith.plugin.unusable import form_problem, looks_like_plugins, unbound_decorators

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.plugin_decorators import DecoratedBlock
    from brainsmith.plugin.python_source import PythonSource


def may_hold_plugins(data: bytes) -> bool:
    """Tell whether a file can hold a plugin or a group at all, or is meant to: a look at its bytes."""
    return (b"brainsmith" in data and b"@" in data) or b"GROUPS" in data or looks_like_plugins(data)


def scan(source: PythonSource, framework: str, extra: dict[str, Any] | None = None) -> AdapterResult:
    """Read the plugins and groups of one file: the records that importing it would register.

    Args:
        source: The file.
        framework: The framework of its plugins.
        extra: Entries for each record's `extra`.
    """
    found = AdapterResult(framework)
    problem = isolated(source.file.path, _scan, source, framework, extra or {}, found)
    if problem is not None:
        found.problems.append(problem)
    else:
        found.problems.extend(source.problems)
    return found


def _scan(source: PythonSource, framework: str, extra: dict[str, Any], found: AdapterResult) -> None:
    found.clear()
    # This package's own files are tested, so that they need not be parsed.
    blocks = fast_blocks(source) if framework == "brainsmith" else None
    exact = blocks is None
    if blocks is None:
        found.problems.extend(unbound_decorators(source))
        blocks = exact_blocks(source, found.problems)
    for block in blocks:
        _read_block(source, block, framework, extra, found)
    if exact and found.records:
        records = found.records.copy()
        found.records.clear()  # a file that cannot be compiled has none
        check_compiles(source.data, source.file.path)
        found.records.extend(records)
    found.groups, problems = declared_groups(source)
    found.problems.extend(problems)


@question(nothing=((), {}, ()))
def decorated(
    source: PythonSource, framework: str, extra: tuple[tuple[str, str], ...]
) -> tuple[tuple[Any, ...], dict[str, tuple[str, ...]], tuple[Any, ...]]:
    """Return the plugins, groups and problems of one file in their plain forms (`scan`)."""
    if not may_hold_plugins(source.data):
        return (), {}, ()
    found = scan(source, framework, dict(extra))
    problems = tuple(problem.to_plain() for problem in found.problems)
    return tuple(info.to_plain() for info in found.records), found.groups, problems


def _read_block(
    source: PythonSource, block: DecoratedBlock, framework: str, extra: dict[str, Any], found: AdapterResult
) -> None:
    for decorator, plugin_type in block.decorators:
        line = decorator.lineno + block.line
        origin = f"{source.file.path}:{line}"
        reference = f"{source.file.module}:{block.name}"
        try:
            values = literal_arguments(decorator, plugin_type, block.line, source)
            info = make_record(plugin_type, values, block.name, framework, reference, origin)
        except PluginDefinitionError as error:
            found.problems.append(_problem_of(error, source.file.path))
            continue
        wrong = form_problem(plugin_type, block.node) if block.node is not None else ""
        if wrong:
            found.problems.append(Problem(source.file.path, line, 0, wrong))
            continue
        if extra:
            info.extra.update(extra)
        same = (info.key, reference)
        found.records[:] = [other for other in found.records if (other.key, other.reference) != same]
        found.records.append(info)


def _problem_of(error: PluginDefinitionError, path: str) -> Problem:
    """Return the problem that an error in a file is: its text begins with the file and the line."""
    line, _, text = str(error).removeprefix(f"{path}:").partition(": ")
    return Problem(path, int(line), 0, text)
