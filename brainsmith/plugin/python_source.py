"""One Python file that is read without running it: its text, what was asked of it, and what its strings hold."""

from __future__ import annotations

import re

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.forks import cached_property
from brainsmith.plugin.bindings import Imports
from brainsmith.plugin.isolation import UNREADABLE, on_enough_stack, unreadable
from brainsmith.plugin.questions import QUESTIONS
from brainsmith.plugin.source_files import encoding_error, read_source
from brainsmith.plugin.syntax import parse
from brainsmith.plugin.top_level import exact_definitions, read_classes
from brainsmith.store.fingerprint import checksum

if TYPE_CHECKING:
    import ast
    from typing import Any

    from brainsmith.plugin.questions import Answers
    from brainsmith.plugin.source_files import SourceFile
    from brainsmith.plugin.top_level import Definition


class PythonSource:
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
            answers = {"digest": checksum(data or b""), "given": {}, "problems": []}
        self.answers: Answers = answers
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
            if checksum(data) != self.answers["digest"]:
                raise ChangedWhileReadError(self.file.path)
            self._data = _with_plain_lines(data)
        return self._data

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question (`questions`); what it fails with is noted as the file's problem."""
        key = (name, *arguments)
        try:
            return self.answers["given"][key]
        except KeyError:
            pass
        function, nothing = QUESTIONS[name]
        try:
            answer = on_enough_stack(function, self, *arguments)
        except UNREADABLE as error:
            answer = nothing
            problem = unreadable(self.file.path, error).to_plain()
            if problem not in self.answers["problems"]:
                self.answers["problems"].append(problem)
        self.answers["given"][key] = answer
        return answer

    @property
    def problems(self) -> list[Problem]:
        """What made questions fail."""
        return [Problem(*values) for values in self.answers["problems"]]

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree of the whole file.

        Raises:
            SyntaxError: The file is not Python.
        """
        try:
            return parse(self.data, self.file.path)
        except SyntaxError as error:
            raise encoding_error(self.data) or error from None

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

    @cached_property
    def classes(self) -> list[Definition]:
        """The classes at the top level, in the order of the file.

        Raises:
            SyntaxError: The file had to be parsed, and is not Python.
        """
        return read_classes(self)

    @cached_property
    def definitions(self) -> list[Definition]:
        """The classes and functions at the top level, by parsing the file.

        Raises:
            SyntaxError: The file is not Python.
        """
        return exact_definitions(self)

    @cached_property
    def imports(self) -> Imports:
        """What the file's imports bind, by parsing it.

        Raises:
            SyntaxError: The file is not Python.
        """
        return Imports(self.file, self.tree.body)

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


class ChangedWhileReadError(Exception):
    """A file changed since a discovery began, so that what is known of it is no longer true."""


_FORM_FEEDS = re.compile(rb"^[ \t\x0c]*\x0c", re.MULTILINE)


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
