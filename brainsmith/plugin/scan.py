"""Read the decorators in a source file without running it."""

from __future__ import annotations

import ast
import re

from brainsmith import DECORATORS
from brainsmith.errors import PluginDefinitionError, Problem
from brainsmith.plugin.bindings import Imports
from brainsmith.plugin.definition import DECORATOR_TARGETS, STARRED, make_record
from brainsmith.plugin.info import PluginInfo, Priority
from brainsmith.plugin.isolation import isolated, on_enough_stack
from brainsmith.plugin.questions import question
from brainsmith.plugin.shown import LONGEST
from brainsmith.plugin.source import Source
from brainsmith.plugin.syntax import check_compiles, dotted_name, parse
from brainsmith.plugin.unusable import form_problem, looks_like_plugins, unbound_decorators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.unusable import Definition

_PRIORITIES = {
    f"{home}.Priority.{name}": value
    for home in ("brainsmith.plugin.info", "brainsmith.targets")
    for name, value in vars(Priority).items()
    if name.isupper()
}
"""The names that may stand for numbers, since everybody writes priorities by them."""


class Found:
    """What the scan of one file gives."""

    __slots__ = ("groups", "problems", "records")

    def __init__(self) -> None:
        self.records: list[PluginInfo] = []
        self.groups: dict[str, tuple[str, ...]] = {}
        self.problems: list[Problem] = []

    def clear(self) -> None:
        """Forget what was found, as before a second reading."""
        self.records.clear()
        self.groups.clear()
        self.problems.clear()


def may_hold_plugins(data: bytes) -> bool:
    """Tell whether a file can hold a plugin or a group at all, or is meant to: a look at its bytes."""
    return (b"brainsmith" in data and b"@" in data) or b"GROUPS" in data or looks_like_plugins(data)


def scan(source: Source, framework: str, extra: dict[str, Any] | None = None) -> Found:
    """Read the plugins and groups of one file: the records that importing it would register.

    Args:
        source: The file.
        framework: The framework of its plugins.
        extra: Entries for each record's `extra`.
    """
    found = Found()
    problem = isolated(source.file.path, _scan, source, framework, extra or {}, found)
    if problem is not None:
        found.problems.append(problem)
    else:
        found.problems.extend(source.answers.problems)
    return found


def _scan(source: Source, framework: str, extra: dict[str, Any], found: Found) -> None:
    found.clear()
    blocks = (
        _fast_blocks(source) if framework == "brainsmith" else None
    )  # our own are tested: no need to parse them
    if blocks is None:
        found.problems.extend(unbound_decorators(source))
        blocks = _exact_blocks(source, found)
        if blocks:
            check_compiles(source.tree, source.file.path)
    for block in blocks:
        _read_block(source, block, framework, extra, found)
    if b"\nGROUPS" in source.data or source.data.startswith(b"GROUPS"):
        _read_groups(source, found)


@question(nothing=((), {}, ()))
def decorated(
    source: Source, framework: str, extra: tuple[tuple[str, str], ...]
) -> tuple[tuple[Any, ...], dict[str, tuple[str, ...]], tuple[Any, ...]]:
    """Return the plugins, groups and problems of one file in their plain forms (`scan`)."""
    if not may_hold_plugins(source.data):
        return (), {}, ()
    found = scan(source, framework, dict(extra))
    problems = tuple((item.file, item.line, item.column, item.text) for item in found.problems)
    return tuple(info.to_plain() for info in found.records), found.groups, problems


class _Block:
    """The plugin decorators of one definition.

    Attributes:
        name: The class's or function's qualified name.
        decorators: Their expressions, as `line` counts them, and the plugin type that each makes.
        line: What to add to an expression's line to have the line in the file.
        node: The definition, in an exact reading.
    """

    __slots__ = ("decorators", "line", "name", "node")

    def __init__(
        self,
        name: str,
        decorators: list[tuple[ast.expr, str]],
        line: int,
        node: Definition | None = None,
    ) -> None:
        self.name = name
        self.decorators = decorators
        self.line = line
        self.node = node


_DECORATED = re.compile(
    rb"\n(@[^\n]*(?:\n(?!class\b|def\b|async\b)[^\n]*)*)\n(?:class|(?:async[ \t]+)?def)[ \t]+([^\s(:\[]+)"
)
_INDENTED = re.compile(
    rb"\n[ \t]+@(?!(?:property|staticmethod|classmethod|(?:abc\.)?abstract\w+|(?:typing\.)?overload"
    rb"|(?:functools\.)?\w*cache\w*|\w+\.(?:setter|getter|deleter))\b)"
)


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
        if match is None or not match.group(2).isascii():
            return None
        try:
            node = parse(match.group(1) + b"\ndef _(): pass").body
        except SyntaxError:
            return None
        if len(node) != 1 or not isinstance(node[0], ast.FunctionDef):
            return None
        decorators = []
        for decorator in node[0].decorator_list:
            head, dot, rest = _name_of(decorator).partition(".")
            if head and not _is_bound_once(source, head):
                return None
            plugin_type = DECORATOR_TARGETS.get(f"{source.binding(head)}{dot}{rest}", "") if head else ""
            if plugin_type:
                decorators.append((decorator, plugin_type))
        blocks.append(_Block(match.group(2).decode(), decorators, source.line_of(start + 1) - 1))
        position = match.end()


def _is_bound_once(source: Source, name: str) -> bool:
    """Tell whether a name gets its meaning in one import, or one definition, whose reading is certain."""
    if not name.isascii() or source.stars():
        return False
    data, word = source.data, name.encode()
    bindings, position = 0, data.find(word)
    while position >= 0 and bindings < 2:
        bindings += _may_bind(data, position, position + len(word))
        position = data.find(word, position + 1)
    return bindings == 1


def _may_bind(data: bytes, start: int, end: int) -> bool:
    """Tell whether a name that stands somewhere may be bound there: in an import, a definition or an assignment."""
    if data[start - 1 : start].isalnum() or data[start - 1 : start] in (b"_", b".", b"@"):
        return False
    if data[end : end + 1].isalnum() or data[end : end + 1] == b"_":
        return False
    before = data[data.rfind(b"\n", 0, start) + 1 : start]
    after = data[end : end + 40].lstrip(b" \t")
    if after.startswith((b"=", b":=")):
        return not after.startswith(b"==")
    listed = before.isspace() and after.startswith((b",", b"\n", b"#", b")"))
    return (
        not before
        or listed
        or b"import" in before
        or before.rstrip().endswith((b"as", b"def", b"class", b",", b"("))
    )


def _name_of(decorator: ast.expr) -> str:
    return dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


class _Names(dict[str, str]):
    """What the names of a module mean, statement by statement: dotted targets; empty for what is no import."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    def plugin_type(self, decorator: ast.expr) -> str:
        """Return the plugin type that a decorator makes here; empty if it makes none."""
        head, dot, rest = _name_of(decorator).partition(".")
        target = self.get(head) if head else None
        return DECORATOR_TARGETS.get(f"{target}{dot}{rest}", "") if target else ""

    def note(self, node: ast.stmt) -> None:
        """Note what a statement binds."""
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self[node.name] = ""
        elif isinstance(node, ast.Assign):
            self._note_assignment(node)
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            self.update(
                {name: f"{node.module}.{name}" for name in DECORATORS if f"{node.module}.{name}" in STARRED}
            )
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.update(Imports(self.source.file, [node]).names)

    def _note_assignment(self, node: ast.Assign) -> None:
        head, dot, rest = dotted_name(node.value).partition(".")
        target = self.get(head, "") if head else ""
        for name in node.targets:
            if isinstance(name, ast.Name):
                self[name.id] = f"{target}{dot}{rest}" if target else ""


def _exact_blocks(source: Source, found: Found) -> list[_Block]:
    blocks: list[_Block] = []
    _collect(source.tree.body, _Names(source), blocks, found, nested=False)
    return blocks


def _collect(
    body: list[ast.stmt],
    names: _Names,
    blocks: list[_Block],
    found: Found,
    *,
    nested: bool,
    first: bool = True,
) -> None:
    for node in body:
        before = dict(names)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = [(item, kind) for item in node.decorator_list if (kind := names.plugin_type(item))]
            if nested:
                _refuse_nested(names.source, node, decorators, found)
            elif decorators:
                blocks.append(_Block(node.name, decorators, 0, node))
            if not isinstance(node, ast.ClassDef):
                names.update(dict.fromkeys(_parameters(node), ""))
            _collect(node.body, names, blocks, found, nested=True)
            names.clear()
            names.update(before)
        else:
            _collect_parts(node, names, blocks, found)
        names.note(node)
        if not first:  # of a try statement's imports of one name, the one that is tried first counts
            names.update(before)


def _collect_parts(node: ast.stmt, names: _Names, blocks: list[_Block], found: Found) -> None:
    for part in ("body", "finalbody"):
        _collect(getattr(node, part, []), names, blocks, found, nested=True)
    for handler in getattr(node, "handlers", []):
        _collect(handler.body, names, blocks, found, nested=True, first=False)
    _collect(getattr(node, "orelse", []), names, blocks, found, nested=True, first=False)
    for case in getattr(node, "cases", []):
        _collect(case.body, names, blocks, found, nested=True)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = node.args
    several = filter(None, (arguments.vararg, arguments.kwarg))
    return [
        one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several) if one
    ]


def _refuse_nested(
    source: Source,
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
    decorators: list[tuple[ast.expr, str]],
    found: Found,
) -> None:
    for decorator, plugin_type in decorators:
        text = (
            f"@{plugin_type} on {node.name!r} must stand at the top level of the file, not within a function, a class, "
            "an if or a try, because discovery does not run plugin code"
        )
        found.problems.append(Problem(source.file.path, decorator.lineno, 0, text))


def _read_block(source: Source, block: _Block, framework: str, extra: dict[str, Any], found: Found) -> None:
    for decorator, plugin_type in block.decorators:
        line = decorator.lineno + block.line
        origin = f"{source.file.path}:{line}"
        reference = f"{source.file.module}:{block.name}"
        try:
            values = _literals(decorator, plugin_type, block.line, source)
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
        wrong = form_problem(plugin_type, block.node) if block.node is not None else ""
        if wrong:
            found.problems.append(Problem(source.file.path, line, 0, wrong))
            continue
        if extra:
            info.extra.update(extra)
        found.records[:] = [
            other for other in found.records if (other.key, other.reference) != (info.key, reference)
        ]
        found.records.append(info)


def _problem_of(text: str, path: str) -> Problem:
    place, _, sentence = text.partition(": ")
    line = place.rpartition(":")[2]
    return Problem(path, int(line) if line.isdigit() else 0, 0, sentence)


def _literals(decorator: ast.expr, plugin_type: str, offset: int, source: Source) -> dict[str, Any]:
    path = source.file.path
    if not isinstance(decorator, ast.Call):
        return {}
    if decorator.args:
        found = _shown(decorator.args[0])
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
            values[keyword.arg] = on_enough_stack(_value, keyword.value, source)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise PluginDefinitionError(
                f"{path}:{keyword.value.lineno + offset}: {keyword.arg}= of @{plugin_type} must be a literal, because"
                f" discovery does not run plugin code; found {_shown(keyword.value)}"
            ) from None
    if "**" in values:
        raise PluginDefinitionError(
            f"{path}:{values['**'].lineno + offset}: @{plugin_type} must be given its keywords as literals, because"
            f" discovery does not run plugin code; found **{_shown(values['**'])}"
        )
    return values


def _shown(node: ast.expr) -> str:
    """Return an expression as messages show it: cut where it is long."""
    try:
        text: str = on_enough_stack(ast.unparse, node)
    except (RecursionError, MemoryError):
        return "an expression that is nested too deeply to be shown"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def _value(node: ast.expr, source: Source) -> Any:
    """Return what an argument is without running it: a literal, or a priority by its name (`Priority.HIGH`)."""
    if isinstance(node, ast.Attribute):
        head, _, rest = dotted_name(node).partition(".")
        target = f"{source.binding(head)}.{rest}"
        if target in _PRIORITIES and _is_bound_once(source, head):
            return _PRIORITIES[target]
    return ast.literal_eval(node)


def _read_groups(source: Source, found: Found) -> None:
    """Read `GROUPS = {"name": ["member", ...]}` at the top level."""
    for node in source.tree.body:
        target, value = _assignment(node)
        if target != "GROUPS" or value is None:
            continue
        try:
            table = on_enough_stack(ast.literal_eval, value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            table = None
        if not _is_group_table(table):
            text = (
                "GROUPS must be a literal dict of lists of plugin names, because discovery does not run plugin code;"
                f" found {_shown(value)}"
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
