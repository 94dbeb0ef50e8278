"""Read the table of plugins that a distribution's callable returns (see `entry_points`)."""

from __future__ import annotations

import ast
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginDefinitionError, Problem, ToolError
from brainsmith.plugin.definition import fits
from brainsmith.plugin.info import BACKEND_TYPES, PluginInfo
from brainsmith.plugin.isolation import on_enough_stack
from brainsmith.plugin.source_files import read_source
from brainsmith.plugin.syntax import parse
from brainsmith.plugin.trust import LISTED, why_distribution_not_trusted
from brainsmith.plugin.trust_store import trust_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.plugin.adapter_result import AdapterResult
    from brainsmith.plugin.adapters.entry_points import EntryPoint
    from brainsmith.plugin.definitions import Definitions
    from brainsmith.plugin.source_files import SourceFile
    from brainsmith.settings import Settings

_MARK = "brainsmith table: "
"""What stands before the table in the child process's output, whatever else the plugin prints."""

_KINDS = {"transforms": "transform", "kernels": "kernel", "backends": "backend", "steps": "step"}


def read_table(
    point: EntryPoint,
    files: list[SourceFile],
    result: AdapterResult,
    definitions: Definitions,
    settings: Settings,
) -> None:
    """Read what a callable returns, into a result; one that is not trusted is not called."""
    paths = [file.path for file in files]
    table = literal_table(paths[0], point.attribute)
    untrusted = "" if table is not None else why_distribution_not_trusted(point.distribution, settings)
    if settings.trust == LISTED:
        result.watched.append(trust_file())
    if untrusted:
        text = f"its table of plugins is computed, and nothing of it may run: {untrusted}"
        result.problems.append(Problem(point.origin, 0, 0, text))
        return
    failure, table = definitions.made(f"table of {point.origin}", lambda: (paths, _table_of(point, paths[0])))
    problems = [failure] if failure else []
    for plugin_type, entry in () if failure else _entries(table, point, problems):
        try:
            result.records.append(_record(plugin_type, entry, point))
        except PluginDefinitionError as error:
            problems.append(str(error))
    result.problems.extend(Problem(point.origin, 0, 0, text) for text in problems)


def _entries(table: Any, point: EntryPoint, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a table, each with the plugin type that it is listed under."""
    if not isinstance(table, dict):
        problems.append(
            f"{point.module}:{point.attribute} must return a dict of lists, not {type(table).__name__}"
        )
        return
    for kind, entries in table.items():
        if kind not in _KINDS:
            problems.append(f"its table has the unknown key {kind!r}; the keys are {', '.join(_KINDS)}")
        elif not isinstance(entries, list | tuple):
            problems.append(f"its {kind} must be a list, not {type(entries).__name__}")
        else:
            yield from ((_KINDS[kind], entry) for entry in entries)


def _table_of(point: EntryPoint, path: str) -> tuple[str, Any]:
    """Return why there is no table, or nothing; and the table."""
    table = literal_table(path, point.attribute)
    if table is not None:
        return "", table
    try:
        return "", computed_table(point)
    except ToolError as error:
        return str(error), None


def _record(plugin_type: str, entry: Any, point: EntryPoint) -> PluginInfo:
    """Return the record of an entry.

    Raises:
        PluginDefinitionError: A key is missing, or has a value of the wrong type.
    """
    attribute = "func_name" if plugin_type == "step" else "class_name"
    needed = ("name", "module", attribute)
    missing = [key for key in needed if not isinstance(entry, dict) or not entry.get(key)]
    if missing:
        raise PluginDefinitionError(f"an entry of its {plugin_type}s lacks {', '.join(missing)}: {entry!r}")
    _check_values(plugin_type, (*_TEXTS, attribute), entry)
    backend_type = entry.get("language") or entry.get("backend_type")
    kernel = entry.get("target_kernel") or entry.get("kernel")
    if plugin_type == "backend" and (not kernel or backend_type not in BACKEND_TYPES):
        raise PluginDefinitionError(
            f"backend {entry['name']!r} needs target_kernel, and language hls or rtl; found {entry!r}"
        )
    stated = {key: entry[key] for key in ("name", *_STATED) if entry.get(key) is not None}
    known = (*needed, *_STATED, "language", "target_kernel", *_PLACES)
    return PluginInfo(
        type=plugin_type,
        framework=point.distribution,
        reference=f"{entry['module']}:{entry[attribute]}",
        kernel=_stated_kernel(kernel, point) if kernel else None,
        backend_type=backend_type if plugin_type == "backend" else None,
        origin=point.origin,
        extra={key: value for key, value in entry.items() if key not in known} | point.extra,
        **{"version": point.version, **stated},
    )


_PLACES = ("folder", "path", "environment", "python", "folders", "import_name", "stale")
"""What says of a record where its plugin is: this adapter does, and no table."""
_STATED = ("description", "version", "author", "priority", "stage")
_TEXTS = ("name", "module", "description", "version", "author", "stage", "target_kernel", "kernel")


def _check_values(plugin_type: str, texts: tuple[str, ...], entry: dict[str, Any]) -> None:
    """Check the types of an entry's values.

    Raises:
        PluginDefinitionError: One is of another type.
    """
    for key, (kind, wanted) in {
        **dict.fromkeys(texts, (str, "a string")),
        "priority": (int, "a number"),
    }.items():
        if not fits(entry.get(key), kind):
            raise PluginDefinitionError(
                f"{key} of an entry of its {plugin_type}s must be {wanted}, not {entry[key]!r}"
            )


def _stated_kernel(stated: str, point: EntryPoint) -> str:
    """Return a kernel's name as records state it: without the framework where that is the backend's own."""
    framework, _, bare = stated.rpartition(":")
    return bare if framework in ("", point.name, point.distribution) else stated


def literal_table(path: str, function: str) -> Any | None:
    """Return the literal that a function in a file returns; None if it computes anything.

    Raises:
        OSError: The file cannot be read.
    """
    try:
        body = on_enough_stack(parse, read_source(path), path).body
    except SyntaxError:
        return None
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            match node.body if ast.get_docstring(node) is None else node.body[1:]:
                case [ast.Return(value=ast.expr() as value)]:
                    try:
                        return on_enough_stack(ast.literal_eval, value)
                    except (ValueError, TypeError, RecursionError):
                        return None
    return None


def computed_table(point: EntryPoint) -> Any:
    """Call the function in a child process and return what it returns.

    Raises:
        ToolError: It raised, or returned what JSON cannot hold.
    """
    import json  # hardly any table is computed

    from brainsmith.plugin.processes import run_python

    program = (
        "import importlib, json, sys\n"
        "from contextlib import redirect_stdout\n"
        "with redirect_stdout(sys.stderr):\n"
        f"    value = importlib.import_module({point.module!r})\n"
        f"    for part in {point.attribute!r}.split('.'):\n"
        "        value = getattr(value, part)\n"
        "    text = json.dumps(value())\n"
        f"print('\\n' + {_MARK!r} + text)\n"
    )
    name = f"{point.module}:{point.attribute}"
    # Where the content of a distribution is what is trusted, compiled modules beside it are not read.
    apart = f"import sys\nsys.pycache_prefix = {sys.pycache_prefix!r}\n"
    for line in reversed(run_python(apart + program, what=name, timeout=60.0).splitlines()):
        if line.startswith(_MARK):
            return json.loads(line[len(_MARK) :])
    raise ToolError(f"{name} ended its process before it returned its table")
