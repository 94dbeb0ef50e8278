"""Read the decorators in a source file without running it."""

from __future__ import annotations

import ast
import re

from brainsmith.errors import PluginDefinitionError, Problem
from brainsmith.plugin.definition import make_record
from brainsmith.plugin.source import Source, dotted_name, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

_HOMES = ("brainsmith.plugin.core", "brainsmith.plugin", "brainsmith.plugins")
_NAMES = ("transform", "kernel", "backend", "step", "op", "target", "bundle")
DECORATOR_TARGETS = {f"{home}.{name}": name for home in _HOMES for name in _NAMES}
"""What a decorator's name can resolve to, and the plugin type that it makes."""


class Found:
    """What the scan of one file gives."""

    __slots__ = ("groups", "problems", "records")

    def __init__(self) -> None:
        self.records: list[PluginInfo] = []
        self.groups: dict[str, tuple[str, ...]] = {}
        self.problems: list[Problem] = []


def may_hold_plugins(data: bytes) -> bool:
    """Tell whether a file can hold a plugin or a group at all: a look at its bytes."""
    return (b"brainsmith" in data and b"@" in data) or b"GROUPS" in data


def scan(source: Source, framework: str, extra: dict[str, Any] | None = None) -> Found:
    """Read the plugins and groups of one file: the records that importing it would register.

    Args:
        source: The file.
        framework: The framework of its plugins.
        extra: Entries for each record's `extra`.
    """
    found = Found()
    try:
        blocks = _fast_blocks(source)
        if blocks is None:
            blocks = _exact_blocks(source, found)
        for block in blocks:
            _read_block(source, block, framework, extra or {}, found)
        if b"\nGROUPS" in source.data:
            _read_groups(source, found)
    except SyntaxError as error:
        text = f"the file is not Python, so its plugins are not found: {error.msg}"
        found.problems.append(Problem(source.file.path, error.lineno or 0, error.offset or 0, text))
    return found


class _Block:
    """The decorators of one definition.

    Attributes:
        name: The class's or function's qualified name.
        decorators: Their expressions, as `line` counts them.
        line: What to add to an expression's line to have the line in the file.
    """

    __slots__ = ("decorators", "line", "name")

    def __init__(self, name: str, decorators: list[ast.expr], line: int) -> None:
        self.name = name
        self.decorators = decorators
        self.line = line


_DECORATED = re.compile(
    rb"\n(@[^\n]*(?:\n(?!class\b|def\b|async\b)[^\n]*)*)\n(?:class|(?:async[ \t]+)?def)[ \t]+(\w+)"
)
_INDENTED = re.compile(rb"\n[ \t]+@[ \t]*[\w.]*(?:transform|kernel|backend|step|op|target|bundle)\b")


def _fast_blocks(source: Source) -> list[_Block] | None:
    """Read the decorators by parsing them alone; None if that is not certain to be right."""
    data = source.data
    if (
        data.startswith(b"@")
        or not source.is_plain(b"\n@", len(data))
        or b"\\\n@" in data
        or _INDENTED.search(data)
    ):
        return None
    blocks: list[_Block] = []
    position = 0
    while True:
        start = data.find(b"\n@", position)
        if start < 0:
            return blocks
        match = _DECORATED.match(data, start)
        if match is None:
            return None
        try:
            node = parse(match.group(1) + b"\ndef _(): pass").body
        except SyntaxError:
            return None
        if len(node) != 1 or not isinstance(node[0], ast.FunctionDef):
            return None
        blocks.append(_Block(match.group(2).decode(), node[0].decorator_list, source.line_of(start + 1) - 1))
        position = match.end()


def _exact_blocks(source: Source, found: Found) -> list[_Block]:
    blocks: list[_Block] = []
    _collect(source, source.tree.body, "", blocks, found, conditional=False)
    return blocks


def _collect(
    source: Source,
    body: list[ast.stmt],
    prefix: str,
    blocks: list[_Block],
    found: Found,
    *,
    conditional: bool,
) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if conditional or prefix:
                _refuse_nested(source, node, found)
            else:
                blocks.append(_Block(node.name, node.decorator_list, 0))
            if isinstance(node, ast.ClassDef):
                _collect(source, node.body, f"{prefix}{node.name}.", blocks, found, conditional=conditional)
        else:
            for inner in ("body", "orelse", "finalbody"):
                _collect(source, getattr(node, inner, []), prefix, blocks, found, conditional=True)
            for handler in getattr(node, "handlers", []):
                _collect(source, handler.body, prefix, blocks, found, conditional=True)


def _refuse_nested(
    source: Source, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, found: Found
) -> None:
    for decorator in node.decorator_list:
        plugin_type = _plugin_type(source, decorator)
        if plugin_type:
            text = (
                f"@{plugin_type} on {node.name!r} must stand at the top level of the file, not within a class, an if or a"
                " try, because discovery does not run plugin code"
            )
            found.problems.append(Problem(source.file.path, decorator.lineno, 0, text))


def _plugin_type(source: Source, decorator: ast.expr) -> str:
    name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    head, dot, rest = name.partition(".")
    target = source.binding(head) if head else None
    return DECORATOR_TARGETS.get(f"{target}{dot}{rest}", "") if target else ""


def _read_block(source: Source, block: _Block, framework: str, extra: dict[str, Any], found: Found) -> None:
    for decorator in block.decorators:
        plugin_type = _plugin_type(source, decorator)
        if not plugin_type:
            continue
        line = decorator.lineno + block.line
        origin = f"{source.file.path}:{line}"
        reference = f"{source.file.module}:{block.name}"
        try:
            values = _literals(decorator, plugin_type, block.line, source.file.path)
            info = make_record(plugin_type, values, block.name, framework, reference, origin)
        except PluginDefinitionError as error:
            text = str(error)
            place = f"{origin}: "
            found.problems.append(
                Problem(source.file.path, line, 0, text[len(place) :])
                if text.startswith(place)
                else _problem_of(text, source.file.path)
            )
            continue
        if extra:
            info.extra.update(extra)
        found.records.append(info)


def _problem_of(text: str, path: str) -> Problem:
    place, _, sentence = text.partition(": ")
    line = place.rpartition(":")[2]
    return Problem(path, int(line) if line.isdigit() else 0, 0, sentence)


def _literals(decorator: ast.expr, plugin_type: str, offset: int, path: str) -> dict[str, Any]:
    if not isinstance(decorator, ast.Call):
        return {}
    if decorator.args:
        found = ast.unparse(decorator.args[0])
        raise PluginDefinitionError(
            f'{path}:{decorator.lineno + offset}: @{plugin_type} takes keywords only, such as @{plugin_type}(name="X");'
            f" found {found}"
        )
    values: dict[str, Any] = {}
    for keyword in decorator.keywords:
        if keyword.arg is None:
            values["**"] = keyword.value
            continue
        try:
            values[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise PluginDefinitionError(
                f"{path}:{keyword.value.lineno + offset}: {keyword.arg}= of @{plugin_type} must be a literal, because"
                f" discovery does not run plugin code; found {ast.unparse(keyword.value)}"
            ) from None
    if "**" in values:
        raise PluginDefinitionError(
            f"{path}:{values['**'].lineno + offset}: @{plugin_type} must be given its keywords as literals, because"
            f" discovery does not run plugin code; found **{ast.unparse(values['**'])}"
        )
    return values


def _read_groups(source: Source, found: Found) -> None:
    """Read `GROUPS = {"name": ["member", ...]}` at the top level."""
    for node in source.tree.body:
        target, value = _assignment(node)
        if target != "GROUPS" or value is None:
            continue
        try:
            table = ast.literal_eval(value)
        except ValueError:
            table = None
        if not _is_group_table(table):
            text = (
                "GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code;"
                f" found {ast.unparse(value)}"
            )
            found.problems.append(Problem(source.file.path, node.lineno, 0, text))
            continue
        found.groups.update({name: tuple(members) for name, members in table.items()})


def _assignment(node: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def _is_group_table(table: Any) -> bool:
    return isinstance(table, dict) and all(
        isinstance(name, str)
        and isinstance(members, list | tuple)
        and all(isinstance(m, str) for m in members)
        for name, members in table.items()
    )
