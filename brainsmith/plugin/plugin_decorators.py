"""Find the decorators of plugins in a file: by parsing them alone where that is certain, else by parsing the file."""

from __future__ import annotations

import ast
import re

from brainsmith import DECORATORS, TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.bindings import Imports, is_bound_once
from brainsmith.plugin.definition import DECORATOR_TARGETS, STARRED
from brainsmith.plugin.syntax import DefinitionNode, dotted_name, parse
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.plugin.python_source import PythonSource


class DecoratedBlock(Struct):
    """The plugin decorators of one definition.

    Attributes:
        name: The class's or function's qualified name.
        decorators: Their expressions, as `line` counts them, and the plugin type that each makes.
        line: What to add to an expression's line to have the line in the file.
        node: The definition, in an exact reading.
    """

    name: str
    decorators: list[tuple[ast.expr, str]]
    line: int
    node: DefinitionNode | None = None


_DECORATED = re.compile(
    rb"\n(@[^\n]*(?:\n(?!class\b|def\b|async\b)[^\n]*)*)\n(?:class|(?:async[ \t]+)?def)[ \t]+([^\s(:\[]+)"
)
_INDENTED = re.compile(
    rb"\n[ \t]+@(?!(?:property|staticmethod|classmethod|(?:abc\.)?abstract\w+|(?:typing\.)?overload"
    rb"|(?:functools\.)?\w*cache\w*|\w+\.(?:setter|getter|deleter))\b)"
)


def fast_blocks(source: PythonSource) -> list[DecoratedBlock] | None:
    """Read the decorators by parsing them alone; None if that is not certain to be right."""
    data = source.data
    if data.startswith(b"@") or b"\\\n@" in data or _INDENTED.search(data):
        return None
    if not source.is_plain(b"\n@", len(data)):
        return None
    blocks: list[DecoratedBlock] = []
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
            if head and not is_bound_once(source, head):
                return None
            plugin_type = DECORATOR_TARGETS.get(f"{source.binding(head)}{dot}{rest}", "") if head else ""
            if plugin_type:
                decorators.append((decorator, plugin_type))
        blocks.append(DecoratedBlock(match.group(2).decode(), decorators, source.line_of(start + 1) - 1))
        position = match.end()


def _name_of(decorator: ast.expr) -> str:
    return dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


class _ImportedNames(dict[str, str]):
    """What the names of a module mean, statement by statement: dotted targets; empty for what is no import."""

    def __init__(self, source: PythonSource) -> None:
        super().__init__()
        self.source = source

    def plugin_type(self, decorator: ast.expr) -> str:
        """Return the plugin type that a decorator makes here; empty if it makes none."""
        head, dot, rest = _name_of(decorator).partition(".")
        target = self.get(head) if head else None
        return DECORATOR_TARGETS.get(f"{target}{dot}{rest}", "") if target else ""

    def within(self, node: DefinitionNode) -> _ImportedNames:
        """Return what the names mean at the beginning of a definition's body."""
        names = _ImportedNames(self.source)
        names.update(self)
        if not isinstance(node, ast.ClassDef):
            names.update(dict.fromkeys(_parameters(node), ""))
        return names

    def note(self, node: ast.stmt) -> None:
        """Note what a statement binds."""
        if isinstance(node, DefinitionNode):
            self[node.name] = ""
        elif isinstance(node, ast.Assign):
            self._note_assignment(node)
        elif isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            given = {name: f"{node.module}.{name}" for name in DECORATORS}
            self.update({name: target for name, target in given.items() if target in STARRED})
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.update(Imports(self.source.file, [node]).names)

    def _note_assignment(self, node: ast.Assign) -> None:
        head, dot, rest = dotted_name(node.value).partition(".")
        target = self.get(head, "") if head else ""
        for name in node.targets:
            if isinstance(name, ast.Name):
                self[name.id] = f"{target}{dot}{rest}" if target else ""


def exact_blocks(source: PythonSource, problems: list[Problem]) -> list[DecoratedBlock]:
    """Return the definitions at a file's top level that a decorator makes plugins, by parsing the file.

    Args:
        source: The file.
        problems: Where decorators are entered that stand anywhere else.

    Raises:
        SyntaxError: The file is not Python.
    """
    blocks: list[DecoratedBlock] = []
    _collect(source.tree.body, _ImportedNames(source), blocks, problems, nested=False)
    return blocks


def _collect(
    body: list[ast.stmt],
    names: _ImportedNames,
    blocks: list[DecoratedBlock],
    problems: list[Problem],
    *,
    nested: bool,
    first: bool = True,
) -> None:
    for node in body:
        before = {} if first else dict(names)
        if isinstance(node, DefinitionNode):
            decorators = [(item, kind) for item in node.decorator_list if (kind := names.plugin_type(item))]
            if nested:
                problems.extend(_misplaced(names.source, node, decorators))
            elif decorators:
                blocks.append(DecoratedBlock(node.name, decorators, 0, node))
            _collect(node.body, names.within(node), blocks, problems, nested=True)
        else:
            _collect_parts(node, names, blocks, problems)
        names.note(node)
        names.update(before)  # of a try statement's imports of one name, the one that is tried first counts


def _collect_parts(
    node: ast.stmt, names: _ImportedNames, blocks: list[DecoratedBlock], problems: list[Problem]
) -> None:
    for part in ("body", "finalbody"):
        _collect(getattr(node, part, []), names, blocks, problems, nested=True)
    for handler in getattr(node, "handlers", []):
        _collect(handler.body, names, blocks, problems, nested=True, first=False)
    _collect(getattr(node, "orelse", []), names, blocks, problems, nested=True, first=False)
    for case in getattr(node, "cases", []):
        _collect(case.body, names, blocks, problems, nested=True)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = node.args
    several = [one for one in (arguments.vararg, arguments.kwarg) if one]
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *several)]


def _misplaced(
    source: PythonSource, node: DefinitionNode, decorators: list[tuple[ast.expr, str]]
) -> Iterator[Problem]:
    for decorator, plugin_type in decorators:
        text = (
            f"@{plugin_type} on {node.name!r} must stand at the top level of the file, not within a function, a class, "
            "an if or a try, because discovery does not run plugin code"
        )
        yield Problem(source.file.path, decorator.lineno, 0, text)
