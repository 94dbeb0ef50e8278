"""Print: aligned and perhaps coloured on a terminal, plain and stable into a pipe."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import OutputError
from brainsmith.harmless import STYLES, harmless
from brainsmith.settings import wants_colour

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TextIO

_GAP = "  "

_copies: list[Callable[[str], None] | None] = [None]


def copy_to(function: Callable[[str], None] | None) -> Callable[[str], None] | None:
    """Have a function called with all that is printed, as a log wants it; return the one that was."""
    before, _copies[0] = _copies[0], function
    return before


def note(text: str) -> None:
    """Write a text to the log alone, if there is one."""
    if _copies[0] is not None:
        _copies[0](text)


class Terminal:
    """Where a verb prints.

    Attributes:
        is_terminal: Whether it is shown on a terminal.
        width: Columns of the terminal; 0 where nothing is cut.
        colour: Whether it may be coloured.
        quiet: Whether only warnings and errors are printed.
        document: What the command gives, where it is to be printed as JSON (`--json`) when it has ended.
        give_line: Prints a document on a line of its own, at once, where a command that goes on gives several.

    Args:
        stream: Standard output by default.
        gives_document: Whether it is.
    """

    def __init__(self, stream: TextIO | None = None, gives_document: bool = False) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self.is_terminal = self._stream is not None and self._stream.isatty()
        self.width = _width(self._stream) if self.is_terminal else 0
        self.colour = wants_colour(self.is_terminal)
        self.quiet = False
        self._gives_document = gives_document
        self.document: Any = None
        self.give_line: Callable[[Any], None] | None = None

    def give(self, document: Callable[[], Any], show: Callable[[], None]) -> None:
        """Give what a command found: as a document where that is asked for, else as `show` prints it."""
        if self._gives_document:
            self.document = document()
        else:
            show()

    def write(self, text: str) -> None:
        """Print a text and a line break. A stream that was closed before we began takes nothing."""
        text = harmless(text)
        note(text)
        if not self.quiet:
            self._print(text + "\n")

    def write_over(self, text: str) -> None:
        """Show a line that the next one takes the place of; only where the cursor can be moved."""
        if self.colour and not self.quiet:
            self._print(f"\r\x1b[K{harmless(self.cut(text))}")
            self.flush()

    def flush(self) -> None:
        """Print what is waiting."""
        self._print("", flush=True)

    def _print(self, text: str, *, flush: bool = False) -> None:
        if self._stream is None:
            return
        try:
            if text:
                self._stream.write(_encodable(text, self._stream))
            if flush:
                self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"the output cannot be written: {error.strerror}") from error

    def style(self, text: str, style: str) -> str:
        """Return a text in `bold`, `red`, `green`, `yellow` or `dim`, where colour is wanted."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def table(self, heading: Sequence[str], rows: Sequence[Sequence[str]], summary: str = "") -> None:
        """Print rows in columns, and on a terminal a summary below.

        On a terminal: aligned, with the heading, without columns that are empty, and cut to the width. Elsewhere: all
        columns, whole, between tabs, without the heading, so that `cut -f` always finds the same.
        """
        if not self.is_terminal:
            text = "\n".join(["\t".join(row) for row in rows])
            if rows:
                self.write(text.replace("\r", " "))
            return
        titles, *lines = (_GAP.join(cells).rstrip() for cells in in_columns([heading, *rows]))
        self.write(self.style(self.cut(titles.upper()), "bold"))
        for line in lines:
            self.write(self.cut(line))
        if summary:
            self.write(summary)

    def cut(self, line: str) -> str:
        """Return a line that fits on the terminal."""
        return line if not self.width or len(line) <= self.width else line[: self.width - 1] + "…"

    def pairs(self, pairs: Sequence[tuple[str, str]], indent: str = "") -> None:
        """Print names and values, the values below each other; further lines of a value are indented as the first."""
        width = max((len(name) for name, _ in pairs), default=0)
        for name, value in pairs:
            lines = value.split("\n")
            self.write(
                f"{indent}{self.style(name, 'bold')}{' ' * (width - len(name))}{_GAP}{lines[0]}".rstrip()
            )
            for line in lines[1:]:
                self.write(f"{indent}{' ' * width}{_GAP}{line}".rstrip())


def in_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a heading and rows with cells as wide as their columns, without columns that hold nothing else."""
    used = [index for index in range(len(rows[0])) if any(row[index] for row in rows[1:])]
    widths = {index: max(len(row[index]) for row in rows) for index in used}
    return [[row[index].ljust(widths[index]) for index in used] for row in rows]


def complain(text: str, stream: TextIO | None = None) -> None:
    """Print a line on standard error, or what was that before a step ran; one that is closed or gone takes nothing."""
    text = harmless(text)
    note(text)
    stream = sys.stderr if stream is None else stream
    try:
        if stream is not None:
            stream.write(_encodable(text + "\n", stream))
            stream.flush()
    except (OSError, ValueError):
        pass


def _encodable(text: str, stream: TextIO) -> str:
    if text.isascii():
        return text
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _width(stream: TextIO) -> int:
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    # A terminal of no size, such as `script` in a job, does not say that it is narrow.
    return max(columns, 20) if columns else 80
