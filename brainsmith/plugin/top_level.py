"""The classes and functions at the top level of a Python file.

Two readings give the same answer. The exact one parses the whole file. The fast one searches for definitions at
the start of a line, which in Python text are either real or inside a string; it proves that they are not inside
one, and where it cannot, the exact reading is used. It costs a fiftieth, and over hundreds of files that is the
difference between a pause and none.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.questions import question
from brainsmith.plugin.syntax import DefinitionNode, dotted_name, parse, without_comments

if TYPE_CHECKING:
    from brainsmith.plugin.python_source import PythonSource

_BACKSLASH = ord("\\")
_CLASS = re.compile(rb"\nclass[ \t]+([^\s(:\[]+)[ \t]*(?:\(([^()]*)\)[ \t]*)?(:?)")
_LINE_END = re.compile(rb"\n")
_PLAIN_BASES = re.compile(rb"\s*(?:[\w.]+\s*(?:,\s*[\w.]+\s*)*,?\s*)?")


class Definition:
    """A class or function at the top level of a module.

    Attributes:
        name: As written.
        kind: `class` or `def`.
        line: 1-based line of the `class` or `def` keyword.
        bases: Of a class: the dotted names of its bases as written.
        start: Offset of the keyword in the file.
        end: Offset of the next definition, or of the end of the file.
        node: The syntax tree, in an exact reading.
    """

    __slots__ = ("bases", "end", "kind", "line", "name", "node", "start")

    def __init__(self, name: str, kind: str, line: int, start: int, bases: tuple[str, ...] = ()) -> None:
        self.name = name
        self.kind = kind
        self.line = line
        self.start = start
        self.end = -1
        self.bases = bases
        self.node: DefinitionNode | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}({', '.join(self.bases)}) line {self.line}>"


def read_classes(source: PythonSource) -> list[Definition]:
    """Return the classes at the top level.

    Raises:
        SyntaxError: The file had to be parsed, and is not Python.
    """
    data = source.data
    if data.startswith(b"class"):
        return exact_classes(source)
    found: list[Definition] = []
    for match in _CLASS.finditer(data):
        bases = _header_bases(match)
        if bases is None or data[match.start() - 1] == _BACKSLASH or not match.group().isascii():
            return exact_classes(source)
        found.append(Definition(match.group(1).decode(), "class", 0, match.start() + 1, bases))
    if found and not source.is_plain(b"\nclass", found[-1].start):
        return exact_classes(source)
    for definition, following in pairwise(found):
        definition.end = following.start
    return found


def _header_bases(match: re.Match[bytes]) -> tuple[str, ...] | None:
    """Return the bases in a class's header; None if that takes parsing the file."""
    _, inside, after = match.groups()
    if not after:
        return None
    if not inside:
        return ()
    if b"#" in inside:
        inside = without_comments(inside)
    if _PLAIN_BASES.fullmatch(inside):
        return tuple(part for part in (part.strip() for part in inside.decode("ascii").split(",")) if part)
    try:
        node = parse(b"class _(" + inside + b"): pass").body[0]
    except SyntaxError:
        return None
    return tuple(filter(None, map(dotted_name, node.bases))) if isinstance(node, ast.ClassDef) else None


def exact_classes(source: PythonSource) -> list[Definition]:
    """Return the classes at the top level, by parsing the file."""
    return [item for item in source.definitions if item.kind == "class"]


def exact_definitions(source: PythonSource) -> list[Definition]:
    """Return the classes and functions at the top level, by parsing the file."""
    data = source.data
    starts = [0, *(match.end() for match in _LINE_END.finditer(data)), len(data)]
    found: list[Definition] = []
    for node in source.tree.body:
        if isinstance(node, DefinitionNode):
            item = Definition(node.name, "class" if isinstance(node, ast.ClassDef) else "def", node.lineno, 0)
            item.start = starts[node.lineno - 1] + node.col_offset
            item.end = starts[node.end_lineno or node.lineno]
            item.node = node
            if isinstance(node, ast.ClassDef):
                item.bases = tuple(filter(None, map(dotted_name, node.bases)))
            found.append(item)
    return found


def functions(source: PythonSource, pattern: re.Pattern[bytes]) -> list[Definition]:
    """Return the functions at the top level whose text matches a pattern that begins with a line break.

    Group 1 of the pattern is the name.

    Raises:
        SyntaxError: The file had to be parsed, and is not Python.
    """
    data = source.data
    matches = pattern.finditer(data)
    found = [Definition(match.group(1).decode(), "def", 0, match.start() + 1) for match in matches]
    certain = not found or (
        source.is_plain(b"\ndef", found[-1].start)
        and not any(data[item.start - 2] == _BACKSLASH for item in found)
    )
    if certain and not data.startswith(b"def"):
        return found
    exact = [item for item in source.definitions if item.kind == "def"]
    return [item for item in exact if pattern.match(b"\n" + data[item.start : item.end])]


@question(nothing=())
def class_headers(source: PythonSource) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names and bases of the classes at a file's top level."""
    return tuple((item.name, item.bases) for item in source.classes)


@question(nothing=(), place=True)
def class_lines(source: PythonSource) -> tuple[int, ...]:
    """Return the lines of the classes at a file's top level."""
    return lines_of(source, source.classes)


def lines_of(source: PythonSource, definitions: list[Definition]) -> tuple[int, ...]:
    """Return the lines of definitions, which come in the order of the file, so that each part is counted once."""
    lines, line, offset = [], 1, 0
    for item in definitions:
        line += source.data.count(b"\n", offset, item.start)
        offset = item.start
        lines.append(item.line or line)
    return tuple(lines)
