"""The folder that stands for a user's home in a test; one that a test left as it was serves the next one, too.

Making one costs more than most tests do.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

State = list[tuple[int, list[tuple[str, str]]]]
"""Of each folder its mode, and the entries with what they link to."""


class Homes:
    """Homes that hold nothing but a cache, and in it links to the parts that tests share."""

    def __init__(self, folder: Path, fill_cache: Callable[[Path, tuple[str, ...]], object]) -> None:
        self._folder = folder
        self._fill_cache = fill_cache
        self._numbers = count()
        self._unused: dict[tuple[str, ...], tuple[Path, State]] = {}

    @contextmanager
    def lend(self, parts: tuple[str, ...]) -> Iterator[Path]:
        """Give a home to a test.

        Args:
            parts: The parts of its cache that it shares.
        """
        home, made = self._unused.pop(parts, None) or self._make(parts)
        yield home
        if _state(home) == made:
            self._unused[parts] = (home, made)

    def _make(self, parts: tuple[str, ...]) -> tuple[Path, State]:
        home = self._folder / str(next(self._numbers))
        home.mkdir()
        self._fill_cache(home / "cache", parts)
        return home, _state(home)


def _state(home: Path) -> State:
    """Return what a test may change in a home; nothing that is the same as any other if it cannot be read."""
    found = []
    for folder in (f"{home}", f"{home}/cache", f"{home}/cache/brainsmith"):
        try:
            links = [
                (entry.name, (entry.is_symlink() and os.readlink(entry)) or "")
                for entry in os.scandir(folder)
            ]
            found.append((os.stat(folder).st_mode, sorted(links)))
        except OSError:
            return []
    return found
