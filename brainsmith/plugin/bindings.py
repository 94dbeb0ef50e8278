"""Resolve the names that a module imports: from its text where that is certain, else from its syntax tree."""

from __future__ import annotations

import ast
import re

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.questions import question
from brainsmith.plugin.syntax import dotted_name, statements_at_import, without_comments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.plugin.python_source import PythonSource
    from brainsmith.plugin.source_files import SourceFile

_IMPORT = re.compile(
    rb"\n(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^()]*\)|[\w, \t]+)"
    rb"|import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?)(?=[ \t]*[\r\n#])"
)


@question(nothing=None)
def imported_name(source: PythonSource, name: str) -> str | None:
    """Return the dotted target of a name that a file imports, as `PythonSource.binding` does."""
    data, encoded = source.data, name.encode()
    position = data.find(encoded)
    for _ in range(8):  # the import is among the first places where the name stands, or it is an odd one
        if position < 0:
            break
        begin = max(data.rfind(b"\nfrom ", 0, position), data.rfind(b"\nimport ", 0, position))
        match = _IMPORT.match(data, begin) if begin >= 0 else None
        if match and match.end() > position and source.is_plain(match.group(), begin):
            target = _imported(match, name, source.file)
            if target:
                return target
        position = data.find(encoded, position + 1)
    return source.imports.names.get(name)


def _imported(match: re.Match[bytes], name: str, file: SourceFile) -> str | None:
    module, names, plain, alias = match.groups()
    if plain is not None:
        full = plain.decode()
        if alias is not None:
            return full if alias.decode() == name else None
        return name if full.partition(".")[0] == name else None
    for item in without_comments(names).decode("utf-8", "replace").strip("()").split(","):
        original, _, local = item.partition(" as ")
        if (local or original).strip() == name:
            return f"{_absolute(module.decode(), file)}.{original.strip()}"
    return None


@question(nothing=())
def starred_modules(source: PythonSource) -> tuple[str, ...]:
    """Return the modules of which a file imports everything."""
    return tuple(source.imports.stars) if b"import *" in source.data else ()


def places_of(
    source: PythonSource | None, name: str, source_of: Callable[[str], PythonSource | None]
) -> Iterator[tuple[PythonSource, str]]:
    """Yield where what a name means may be defined, and its name there: in a file, and where that imports it from.

    Args:
        source: The file; nothing is yielded without one.
        name: May be dotted.
        source_of: Returns the source of a module; None if it has none.
    """
    seen = set()
    while source is not None and (source.file.module, name) not in seen:
        seen.add((source.file.module, name))
        yield source, name
        head, dot, rest = name.partition(".")
        target = source.binding(head)
        module, _, name = f"{target}{dot}{rest}".rpartition(".")
        source = source_of(module) if target is not None else None


class Imports:
    """What import statements bind, and assignments of what they bind.

    Attributes:
        names: The dotted targets by name; of several imports of one name the first counts.
        stars: The modules of which everything is imported.
    """

    def __init__(self, file: SourceFile, body: list[ast.stmt]) -> None:
        """Read statements.

        Args:
            file: Of which module they are.
            body: The statements; those within `if`, `try` and `with` count as well.
        """
        self.names: dict[str, str] = {}
        self.stars: list[str] = []
        self._file = file
        for node in statements_at_import(body):
            self._read(node)

    def _read(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ImportFrom):
            self._read_from(node)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self.names.setdefault(alias.asname or top, alias.name if alias.asname else top)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._read_assignment(node.targets[0], dotted_name(node.value))

    def _read_from(self, node: ast.ImportFrom) -> None:
        module = _absolute("." * node.level + (node.module or ""), self._file)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
            else:
                self.names.setdefault(alias.asname or alias.name, f"{module}.{alias.name}")

    def _read_assignment(self, to: ast.expr, target: str) -> None:
        if isinstance(to, ast.Name) and target:
            head, dot, rest = target.partition(".")
            meant = self.names.get(head, f"{self._file.module}.{head}")
            self.names.setdefault(to.id, meant + dot + rest)


def _absolute(module: str, file: SourceFile) -> str:
    """Return a module's name, relative or not, in full."""
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    parts = file.module.split(".")
    kept = parts[: len(parts) - level + (1 if file.is_package else 0)]
    return ".".join([*kept, *([module[level:]] if module[level:] else [])])


def is_bound_once(source: PythonSource, name: str) -> bool:
    """Tell whether a name is bound exactly once in a file, by an import or a definition."""
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
        return not (
            after.startswith(b"==") or (after.startswith(b"=") and _is_in_brackets(data, start, before))
        )
    listed = before.isspace() and after.startswith((b",", b"\n", b"#", b")"))
    return (
        not before
        or listed
        or b"import" in before
        or before.rstrip().endswith((b"as", b"for", b"def", b"class", b",", b"("))
    )


def _is_in_brackets(data: bytes, start: int, before: bytes) -> bool:
    """Tell whether it is certain that a name with `=` after it is an argument's, because a bracket is open.

    Args:
        data: The text.
        start: Where the name stands.
        before: What stands before it in its line.
    """
    line = before
    if not before or before.isspace():  # a line that ends so goes on only within brackets
        end = data.rfind(b"\n", 0, start)
        line = data[data.rfind(b"\n", 0, end) + 1 : end] if end > 0 else b""
        inside = line.rstrip().endswith((b"(", b","))
    else:
        inside = line.count(b"(") > line.count(b")")
    return inside and not any(mark in line for mark in (b"#", b"'", b'"', b";"))
