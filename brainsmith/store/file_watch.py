"""Wait until files change.

What is on disk decides: each file's stamp, as of when it was last looked at. The system's notices only say when to look,
and once a second it is looked anyway. So a change is seen that came while nobody waited, or of which there was no notice:
on a network drive, or in a folder that was moved away and made again.
"""

from __future__ import annotations

import os
import time

from brainsmith import TYPE_CHECKING
from brainsmith.errors import WatchError
from brainsmith.store.files import ABSENT, is_racy, stamp
from brainsmith.store.reads import file_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Event

    from watchfiles._rust_notify import RustNotify

    from brainsmith.store.files import Stamp

INSTALL = 'pip install "brainsmith[watch]"'

_SETTLED_MS = 10
"""Milliseconds without another notice after which it is looked: an editor writes a file in several steps."""
_LONGEST_MS = 200
"""Milliseconds after the first notice at which it is looked in any case."""
_LOOK = 1.0
"""Seconds after which it is looked without any notice."""
_POLL = 0.1
"""Seconds between two looks where the system gives no notices."""


class FileWatch:
    """Files, and folders with all source files below them, of which changes are waited for.

    Attributes:
        trouble: Why the system gives no notices, so that all files are looked at ten times a second; empty if it does.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self._files: frozenset[str] = frozenset()
        self._folders: dict[str, Callable[[str], Iterable[str]]] = {}
        self._seen: dict[str, tuple[Stamp, str]] = {}
        self._notices: RustNotify | None = None
        self._noticed: dict[str, tuple[int, int]] = {}

    def follow(
        self,
        files: Iterable[str],
        folders: Iterable[str] = (),
        below: Callable[[str], Iterable[str]] | None = None,
        since: float | None = None,
    ) -> None:
        """Watch these, in place of what was watched before; none of them needs to exist.

        Args:
            files: Their paths.
            folders: Of these, what `below` yields; new files in them count as changed.
            below: Yields the files of a folder that count.
            since: Of what was not watched before, what changed after this time (seconds since the epoch) counts as changed.
        """
        self._files = frozenset(map(os.path.abspath, files))
        self._folders = {os.path.abspath(folder): below or _files_in for folder in folders}
        wanted = self.paths()
        for path in set(self._seen) - wanted:
            del self._seen[path]
        for path in wanted - set(self._seen):
            _, now = _look(path, (ABSENT, ""))
            is_new = since is not None and max(now[0][:2]) > since * 1e9
            self._seen[path] = (ABSENT, "") if is_new else now

    def paths(self) -> set[str]:
        """Return the files that are watched, as they are there now."""
        return {*self._files, *(path for folder, below in self._folders.items() for path in below(folder))}

    def changed(self) -> list[str]:
        """Return what changed since this was asked last, or since it is watched; sorted."""
        found, seen = [], {}
        for path in sorted({*self.paths(), *self._seen}):
            differs, seen[path] = _look(path, self._seen.get(path, (ABSENT, "")))
            if differs:
                found.append(path)
        self._seen = {path: look for path, look in seen.items() if look[0] != ABSENT or path in self._files}
        return found

    def wait(self, seconds: float | None = None, stop: Event | None = None) -> list[str]:
        """Wait until anything changed, and return what did; nothing after so many seconds, or once it is stopped.

        Raises:
            WatchError: The package watchfiles is not installed.
            KeyboardInterrupt: Ctrl-C.
        """
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            self._listen()
            if found := self.changed():
                return self._settled(found, stop)
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0 or (stop is not None and stop.is_set()):
                return []
            self._await_notice(left, stop)

    def _settled(self, found: list[str], stop: Event | None) -> list[str]:
        """Return what changed, with what follows at once: an editor that writes in place empties a file first."""
        end = time.monotonic() + _LONGEST_MS / 1000
        while time.monotonic() < end:
            self._await_notice(_SETTLED_MS / 1000, stop)
            more = self.changed()
            if not more:
                break
            found = sorted({*found, *more})
        return found

    def close(self) -> None:
        """Ask the system for no more notices."""
        notices, self._notices, self._noticed = self._notices, None, {}
        if notices is not None:
            notices.close()

    @staticmethod
    def notifier() -> type[RustNotify]:
        """Return what gives the system's notices.

        Raises:
            WatchError: The package watchfiles is not installed.
        """
        try:
            from watchfiles._rust_notify import RustNotify  # an extra, which only watching needs
        except ImportError:
            raise WatchError(f"watching files needs the package watchfiles: {INSTALL}") from None
        return RustNotify

    def _listen(self) -> None:
        """Ask for notices of all folders in which something that is watched lies, or would lie."""
        notices = self.notifier()
        wanted = dict(_identities({*map(os.path.dirname, self._seen), *self._around()}))
        if self.trouble or wanted == self._noticed:
            return
        self.close()
        try:
            self._notices = notices([*wanted], False, False, 0, False, True)
            self._noticed = wanted
        except FileNotFoundError:  # a folder vanished just now
            pass
        except (OSError, RuntimeError) as error:
            self.trouble = _why_no_notices(error)

    def _around(self) -> Iterator[str]:
        """Yield the folders that are watched and all below them, where files may be added."""
        for folder in self._folders:
            yield folder
            for here, below, _ in os.walk(folder, followlinks=False):
                below[:] = [name for name in below if name != "__pycache__" and not name.startswith(".")]
                yield from (os.path.join(here, name) for name in below)

    def _await_notice(self, seconds: float, stop: Event | None) -> None:
        """Wait until there is a notice, for so many seconds at most."""
        if self._notices is None:
            time.sleep(min(seconds, _POLL))
        elif self._notices.watch(_LONGEST_MS, _SETTLED_MS, max(int(seconds * 1000), 1), stop) == "signal":
            raise KeyboardInterrupt


def _why_no_notices(error: Exception) -> str:
    """Return why the system gives no notices, and what would change that."""
    text = str(error)
    advice = (
        "\n  the limits are fs.inotify.max_user_watches and fs.inotify.max_user_instances: sysctl shows and raises them"
        if "limit" in text.lower() or "too many open files" in text.lower()
        else ""
    )
    return (
        f"the system gives no notices of changes, so files are looked at ten times a second: {text}{advice}"
    )


def _look(path: str, before: tuple[Stamp, str]) -> tuple[bool, tuple[Stamp, str]]:
    """Return whether a file differs from what was seen of it, and what is seen of it now.

    That is its stamp, and its digest where a later change might leave the stamp as it is.
    """
    now, times = time.time_ns(), stamp(path)
    if times == ABSENT:
        return before[0] != ABSENT, (times, "")
    racy = is_racy(times, now)
    content = file_digest(path) if racy or (before[1] and before[0] == times) else ""
    differs = before[0] != times or bool(before[1] and content != before[1])
    return differs, (times, content if racy else "")


def _identities(folders: Iterable[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each folder, or the nearest one above it that exists, and which one it is: it may be made again."""
    for folder in sorted(folders):
        while True:
            try:
                status = os.stat(folder)
                break
            except OSError:
                folder = os.path.dirname(folder)
        yield folder, (status.st_dev, status.st_ino)


def _files_in(folder: str) -> Iterator[str]:
    """Yield the Python files below a folder, but for hidden ones."""
    for here, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if name != "__pycache__" and not name.startswith("."))
        yield from (os.path.join(here, name) for name in names if name.endswith(".py"))
