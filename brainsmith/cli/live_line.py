"""What goes on now: in a terminal one line that is replaced, in a log a line every ten seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from brainsmith.cli.terminal import Terminal, note
from brainsmith.progress import Listening, Work

SECONDS = 10.0
"""Between two lines of a log."""


class LiveLine:
    """The line at the end of what is printed.

    Args:
        terminal: Shows it, where a line can be replaced.
        say: Prints a line of a log, where it cannot; None for no such lines.
    """

    def __init__(self, terminal: Terminal, say: Callable[[str], None] | None = None) -> None:
        self._terminal = terminal
        self._say = say
        self._said = time.monotonic()

    def show(self, text: str, short: str = "") -> None:
        """Show what goes on.

        Args:
            text: All of it, for a log.
            short: What a terminal shows of it; by default all, cut to its width.
        """
        self._terminal.write_over(short or text)
        now = time.monotonic()
        if now - self._said >= SECONDS:
            self._said = now
            if self._say is not None and not self._terminal.colour:
                self._say(text)
            else:
                note(text)

    def works(self, works: tuple[Work, ...], begin: str = "") -> None:
        """Show work: a listener for `brainsmith.progress.Listening`.

        Args:
            works: All that goes on, the outermost first.
            begin: What the line begins with.
        """
        room = self._terminal.width - len(begin)
        self.show(begin + _listed(works), begin + _listed(_fitting(works, room)))

    def clear(self) -> None:
        """Leave the line to what is printed next, which counts as a line of a log."""
        self._terminal.write_over("")
        self._said = time.monotonic()


@contextmanager
def shown(terminal: Terminal) -> Iterator[None]:
    """Show how far the work of the body is, on a terminal."""
    line = LiveLine(terminal)
    try:
        with Listening(line.works):
            yield
    finally:
        line.clear()


def _listed(works: Sequence[Work]) -> str:
    return "; ".join(map(str, works))


def _fitting(works: Sequence[Work], room: int) -> Sequence[Work]:
    """Return the work that a terminal has room for: what counts nothing goes first, the outermost before the others."""
    shown = list(works)
    while len(shown) > 1 and len(_listed(shown)) > room:
        uncounted = (at for at, work in enumerate(shown) if work.total is None)
        del shown[next(uncounted, len(shown) - 1)]
    return shown
