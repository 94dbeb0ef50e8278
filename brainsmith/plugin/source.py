"""Read the top level of a Python file without running it: its classes, functions, decorators and imports.

Two readings give the same answer. The exact one parses the whole file. The fast one searches for definitions at
the start of a line, which in Python text are either real or inside a string; it proves that they are not inside
one, and where it cannot, the exact reading is used. It costs a fiftieth, and over hundreds of files that is the
difference between a pause and none.
"""

from __future__ import annotations

import ast
import re
import warnings
from itertools import pairwise

from brainsmith.forks import lock_of
from brainsmith.plugin.files import encoding_error, read_source
from brainsmith.plugin.isolation import UNREADABLE, on_enough_stack, unreadable
from brainsmith.plugin.questions import QUESTIONS, Answers, question
from brainsmith.store.fingerprint import checksum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brainsmith.plugin.files import SourceFile


class Definition:
    """A class or function at the top level of a module.

    Attributes:
        name: As written.
        kind: `class` or `def`.
        line: 1-based line of the `class` or `def` keyword.
        bases: Of a class: the dotted names of its bases as written.
        decorators: The decorators' expressions, with their lines in the file.
        start: Offset of the keyword in the file.
        end: Offset of the next definition, or of the end of the file.
        node: The syntax tree, in an exact reading.
    """

    __slots__ = ("bases", "decorators", "end", "kind", "line", "name", "node", "start")

    def __init__(self, name: str, kind: str, line: int, start: int, bases: tuple[str, ...] = ()) -> None:
        self.name = name
        self.kind = kind
        self.line = line
        self.start = start
        self.end = -1
        self.bases = bases
        self.decorators: tuple[ast.expr, ...] = ()
        self.node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}({', '.join(self.bases)}) line {self.line}>"


class Source:
    """One file's text, and what stands at its top level.

    Attributes:
        file: Where it is and which module it makes.
        answers: What has been asked of it.
    """

    def __init__(self, file: SourceFile, data: bytes | None, answers: Answers | None = None) -> None:
        """Hold a file's content, or what is known of it.

        Args:
            file: Where it is.
            data: The bytes as read; None to read them when the answers do not do.
            answers: What is known of this content.
        """
        self.file = file
        self._data = None if data is None else _with_plain_lines(data)
        if answers is None:
            answers = Answers(checksum(data or b""), {}, [])
        self.answers = answers
        self._classes: list[Definition] | None = None
        self._tree: ast.Module | None = None
        self._all_bindings: dict[str, str] | None = None
        self._stars: list[str] = []
        self._strings: bytes | None = b""
        self._strings_limit = 0

    @property
    def data(self) -> bytes:
        """The text as bytes, with line breaks as Python's own reader makes them, and without what it skips.

        Raises:
            ChangedWhileReadError: It is no longer the content that answers are known of.
        """
        if self._data is None:
            try:
                data = read_source(self.file.path)
            except OSError as error:
                raise ChangedWhileReadError(self.file.path) from error
            if checksum(data) != self.answers.digest:
                raise ChangedWhileReadError(self.file.path)
            self._data = _with_plain_lines(data)
        return self._data

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question (`questions`); what it fails with is noted as the file's problem."""
        key = (name, *arguments)
        try:
            return self.answers.given[key]
        except KeyError:
            pass
        function, nothing = QUESTIONS[name]
        try:
            answer = on_enough_stack(function, self, *arguments)
        except UNREADABLE as error:
            answer = nothing
            problem = unreadable(self.file.path, error)
            if str(problem) not in map(str, self.answers.problems):
                self.answers.problems.append(problem)
        self.answers.given[key] = answer
        return answer

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of the whole file.

        Raises:
            SyntaxError: The file is not Python.
        """
        if self._tree is None:
            try:
                self._tree = parse(self.data, self.file.path)
            except SyntaxError as error:
                raise encoding_error(self.data) or error from None
        return self._tree

    def line_of(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return self.data.count(b"\n", 0, offset) + 1

    def is_plain(self, needle: bytes, limit: int) -> bool:
        """Tell whether it is certain that no string before a place holds the needle, which begins with a line break.

        Strings that span lines are triple-quoted, or continued by a backslash; callers look for the latter.
        """
        if limit > self._strings_limit:
            self._strings = multiline_strings(self.data[:limit])
            self._strings_limit = limit
        return self._strings is not None and needle not in self._strings

    def classes(self) -> list[Definition]:
        """Return the classes at the top level.

        Raises:
            SyntaxError: The file had to be parsed, and is not Python.
        """
        data = self.data
        if data.startswith(b"class"):
            return self.exact_classes()
        found: list[Definition] = []
        for match in _CLASS.finditer(data):
            bases = _header_bases(match)
            if bases is None or data[match.start() - 1] == _BACKSLASH or not match.group().isascii():
                return self.exact_classes()
            found.append(Definition(match.group(1).decode(), "class", 0, match.start() + 1, bases))
        if found and not self.is_plain(b"\nclass", found[-1].start):
            return self.exact_classes()
        for definition, following in pairwise(found):
            definition.end = following.start
        return found

    def exact_classes(self) -> list[Definition]:
        """Return the classes at the top level, by parsing the file."""
        return [item for item in self.exact_definitions() if item.kind == "class"]

    def exact_definitions(self) -> list[Definition]:
        """Return the classes and functions at the top level, by parsing the file."""
        starts = _line_starts(self.data)
        found: list[Definition] = []
        for node in self.tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            item = Definition(node.name, "class" if isinstance(node, ast.ClassDef) else "def", node.lineno, 0)
            item.start = starts[node.lineno - 1] + node.col_offset
            item.end = (
                starts[node.end_lineno or node.lineno]
                if (node.end_lineno or 0) < len(starts)
                else len(self.data)
            )
            item.node = node
            item.decorators = tuple(node.decorator_list)
            if isinstance(node, ast.ClassDef):
                item.bases = tuple(filter(None, (dotted_name(base) for base in node.bases)))
            found.append(item)
        return found

    def functions(self, pattern: re.Pattern[bytes]) -> list[Definition]:
        """Return the functions at the top level whose text matches a pattern that begins with a line break.

        Group 1 of the pattern is the name.

        Raises:
            SyntaxError: The file had to be parsed, and is not Python.
        """
        data = self.data
        found = [
            Definition(match.group(1).decode(), "def", 0, match.start() + 1)
            for match in pattern.finditer(data)
        ]
        certain = not found or (
            self.is_plain(b"\ndef", found[-1].start)
            and not any(data[item.start - 2] == _BACKSLASH for item in found)
        )
        if certain and not data.startswith(b"def"):
            return found
        exact = [item for item in self.exact_definitions() if item.kind == "def"]
        return [item for item in exact if pattern.match(b"\n" + data[item.start : item.end])]

    def binding(self, name: str) -> str | None:
        """Return the dotted target of a name that the module imports: `numpy.ndarray` for `ndarray`.

        None if it imports no such name. With several imports of one name (as in a try statement) the first counts.
        """
        target: str | None = self.ask("imported_name", name)
        return target

    def stars(self) -> tuple[str, ...]:
        """Return the modules of which everything is imported."""
        modules: tuple[str, ...] = self.ask("starred_modules")
        return modules

    def class_at(self, index: int) -> Definition:
        """Return one of the classes at the top level, in the order of the file."""
        if self._classes is None:
            self._classes = self.classes()
        return self._classes[index]

    def find_binding(self, name: str) -> str | None:
        """Return what `binding` does, by reading the text."""
        data, encoded = self.data, name.encode()
        position = data.find(encoded)
        for _ in range(8):  # the import is among the first places where the name stands, or it is an odd one
            if position < 0:
                break
            begin = max(data.rfind(b"\nfrom ", 0, position), data.rfind(b"\nimport ", 0, position))
            match = _IMPORT.match(data, begin) if begin >= 0 else None
            if match and match.end() > position and self.is_plain(match.group(), begin):
                target = self._imported(match, name)
                if target:
                    return target
            position = data.find(encoded, position + 1)
        return self._read_imports().get(name)

    def _imported(self, match: re.Match[bytes], name: str) -> str | None:
        module, names, plain, alias = match.groups()
        if plain is not None:
            full = plain.decode()
            if alias is not None:
                return full if alias.decode() == name else None
            return name if full.partition(".")[0] == name else None
        for item in _COMMENT.sub(b"", names).decode("utf-8", "replace").strip("()").split(","):
            original, _, local = item.partition(" as ")
            if (local or original).strip() == name:
                return f"{self._absolute(module.decode())}.{original.strip()}"
        return None

    def find_stars(self) -> tuple[str, ...]:
        """Return what `stars` does, by reading the text."""
        if b"import *" not in self.data:
            return ()
        self._read_imports()
        return tuple(self._stars)

    def _read_imports(self) -> dict[str, str]:
        if self._all_bindings is None:
            found: dict[str, str] = {}
            self._stars.clear()
            for node in _module_level(self.tree.body):
                self._read_import(node, found)
            self._all_bindings = found
        return self._all_bindings

    def imports_of(self, node: ast.stmt) -> dict[str, str]:
        """Return the names that an import statement binds, and their dotted targets."""
        names: dict[str, str] = {}
        self._read_import(node, names)
        return names

    def _read_import(self, node: ast.stmt, into: dict[str, str]) -> None:
        if isinstance(node, ast.ImportFrom):
            module = self._absolute("." * node.level + (node.module or ""))
            for alias in node.names:
                if alias.name == "*":
                    self._stars.append(module)
                else:
                    into.setdefault(alias.asname or alias.name, f"{module}.{alias.name}")
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    into.setdefault(alias.asname, alias.name)
                else:
                    top = alias.name.partition(".")[0]
                    into.setdefault(top, top)
        elif (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            target = dotted_name(node.value)
            if target:
                head, dot, rest = target.partition(".")
                into.setdefault(node.targets[0].id, into.get(head, f"{self.file.module}.{head}") + dot + rest)

    def _absolute(self, module: str) -> str:
        level = len(module) - len(module.lstrip("."))
        if not level:
            return module
        parts = self.file.module.split(".")
        kept = parts[: len(parts) - level + (1 if self.file.is_package else 0)]
        return ".".join([*kept, *([module[level:]] if module[level:] else [])])


class ChangedWhileReadError(Exception):
    """A file changed since a discovery began, so that what is known of it is no longer true."""


@question(nothing=None)
def imported_name(source: Source, name: str) -> str | None:
    """Return the dotted target of a name that a file imports."""
    return source.find_binding(name)


@question(nothing=())
def starred_modules(source: Source) -> tuple[str, ...]:
    """Return the modules of which a file imports everything."""
    return source.find_stars()


@question(nothing=())
def class_headers(source: Source) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names and bases of the classes at a file's top level."""
    return tuple((item.name, item.bases) for item in source.classes())


@question(nothing=(), place=True)
def class_lines(source: Source) -> tuple[int, ...]:
    """Return the lines of the classes at a file's top level."""
    return lines_of(source, source.classes())


def lines_of(source: Source, definitions: list[Definition]) -> tuple[int, ...]:
    """Return the lines of definitions, which come in the order of the file, so that each part is counted once."""
    lines, line, offset = [], 1, 0
    for item in definitions:
        line += source.data.count(b"\n", offset, item.start)
        offset = item.start
        lines.append(item.line or line)
    return tuple(lines)


_BACKSLASH = ord("\\")
_FORM_FEEDS = re.compile(rb"^[ \t\x0c]*\x0c", re.MULTILINE)
_CLASS = re.compile(rb"\nclass[ \t]+([^\s(:\[]+)[ \t]*(?:\(([^()]*)\)[ \t]*)?(:?)")
_IMPORT = re.compile(
    rb"\n(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^()]*\)|[\w, \t]+)"
    rb"|import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?)(?=[ \t]*[\r\n#])"
)
_COMMENT = re.compile(rb"#[^\n]*")
_PLAIN_BASES = re.compile(rb"\s*(?:[\w.]+\s*(?:,\s*[\w.]+\s*)*,?\s*)?")


def _header_bases(match: re.Match[bytes]) -> tuple[str, ...] | None:
    """Return the bases in a class's header; None if that takes parsing the file."""
    _, inside, after = match.groups()
    if not after:
        return None
    if not inside:
        return ()
    if b"#" in inside:
        inside = _COMMENT.sub(b"", inside)
    if _PLAIN_BASES.fullmatch(inside):
        return tuple(part for part in (part.strip() for part in inside.decode("ascii").split(",")) if part)
    try:
        node = parse(b"class _(" + inside + b"): pass").body[0]
    except SyntaxError:
        return None
    return tuple(filter(None, map(dotted_name, node.bases))) if isinstance(node, ast.ClassDef) else None


def _with_plain_lines(data: bytes) -> bytes:
    """Return a file's text without its byte order mark, with all lines ended by a line feed.

    A form feed at the start of a line takes the line's indentation away, so both go.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return _FORM_FEEDS.sub(b"", data) if b"\x0c" in data else data


def multiline_strings(data: bytes) -> bytes | None:
    """Return the text of all triple-quoted strings of a file; None if that takes parsing.

    Splitting at the quotes tells code from string as long as no quote stands in a comment or in another string: a
    line of code that has such a character before a triple quote is left to the exact reading.
    """
    if b"'''" in data:
        return None
    parts = data.split(b'"""')
    if len(parts) % 2 == 0:
        return None
    strings = parts[1::2]
    for part in strings:
        if part.endswith(b"\\"):
            return None
    parts.pop()
    for part in parts[::2]:
        tail = part[part.rfind(b"\n") + 1 :]
        if tail and not tail.isspace() and (b"#" in tail or b"'" in tail or b'"' in tail):
            return None
    return b"\0".join(strings)


def parse(text: bytes | str, path: str = "<text>") -> ast.Module:
    """Parse Python text, without the warnings that its strings may cause.

    Raises:
        SyntaxError: It is not Python.
    """
    for _ in range(_ATTEMPTS):
        try:
            with _PARSING:
                return _parse_alone(text, path)
        except (
            SystemError
        ):  # somebody else's thread parsed meanwhile: the interpreter counts both nestings together
            continue
        except ValueError as error:  # a null byte
            raise SyntaxError(str(error)) from error
    return _parse_alone(text, path)


def _parse_alone(text: bytes | str, path: str) -> ast.Module:
    backslash = "\\" if isinstance(text, str) else b"\\"
    if backslash not in text:  # type: ignore[operator]
        return ast.parse(text, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, path)


_ATTEMPTS = 5
_PARSING = lock_of()


def dotted_name(node: ast.expr) -> str:
    """Return `a.b.c` for such an expression (or for its generic form `a.b.c[T]`); empty for any other."""
    parts: list[str] = []
    if isinstance(node, ast.Subscript):
        node = node.value
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at import, those within `if` and `try` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _module_level(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from _module_level(node.body + handlers + node.orelse + node.finalbody)
        elif isinstance(node, ast.With):
            yield from _module_level(node.body)


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    position = data.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = data.find(b"\n", position + 1)
    return starts
