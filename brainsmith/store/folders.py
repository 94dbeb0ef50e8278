"""Folders kept by content: made once, whole or not at all, and believed only under their key and whole.

The key of an entry may be `group/name`: then one may ask for all of a group.

An entry is made elsewhere and renamed into place, under a lock that ends with the process that holds it. So two
processes make it once, and a killed one leaves nothing that looks whole. Its manifest holds its key and what each file
was, so that neither a damaged entry nor another one's copy is used. What others may have written is not either:
libraries are loaded from here.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast

from brainsmith.errors import SimulationError
from brainsmith.store.about import noted
from brainsmith.store.entry_locks import EntryLocks
from brainsmith.store.files import read_bytes, read_json_table
from brainsmith.store.fingerprint import digest
from brainsmith.store.quota import is_abandoned, quota_of
from brainsmith.store.quota import trim as trim_entries
from brainsmith.store.safety import make_private, why_replaceable, why_untrusted, withdraw_rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.errors import BrainsmithError
    from brainsmith.store.about import About

_MANIFEST = "manifest.json"


class KeptFolders:
    """Entries in a folder, shared by all processes of a user.

    Args:
        folder: Made when something is stored.
        limit: Bytes that are left at most when one more was made; by default what `quota` says of the folder's name.
            The entries used longest ago go first, never one that is in use.
        failure: The error that says that the folder cannot be written, or may not be believed.
        holds_code: Whether entries are loaded or run, so that no other user may put another folder in this one's place.
    """

    def __init__(
        self,
        folder: Path,
        limit: int | None = None,
        failure: type[BrainsmithError] = SimulationError,
        *,
        holds_code: bool = False,
    ) -> None:
        self.folder = folder
        self.limit = quota_of(folder.name) if limit is None else limit
        self.failure = failure
        self.holds_code = holds_code
        self._locks = EntryLocks(str(folder / "lock"))

    def entry(self, key: str) -> Path:
        """Return where an entry lies, or will lie."""
        return self.folder / key

    def keys(self, group: str) -> list[str]:
        """Return the keys of a group's entries, whole or not, the one that was used last first."""
        entries = sorted(_folders(self.folder / group), key=_used, reverse=True)
        return [f"{group}/{entry.name}" for entry in entries]

    def obtain(self, key: str, make: Callable[[Path], None], about: About | None = None) -> Path:
        """Return an entry, which is made if there is no whole one.

        Args:
            key: Stands for everything that the entry depends on.
            make: Fills an empty folder. What it raises leaves no entry behind.
            about: What is known of it, for people.

        Raises:
            BrainsmithError: The folder cannot be written, or another user may write it; it is a `failure`.
        """
        entry = self.find(key)
        if entry is None:
            try:
                entry = self.store(key, make, about)
            except OSError as error:
                raise self.failure(
                    f"{self.folder}: the folder for results of builds cannot be written: {error.strerror}\n"
                    "  free space or make it writable, or set XDG_CACHE_HOME to another folder"
                ) from error
            self.trim()
        return entry

    def find(self, key: str) -> Path | None:
        """Return an entry that is whole; None if there is none.

        Raises:
            BrainsmithError: Another user may write the folder; it is a `failure`.
        """
        entry = self.entry(key)
        self._check_owner()
        self._locks.use(key)
        if not _is_whole(entry, key):
            return None
        with contextlib.suppress(OSError):
            os.utime(entry)
        return entry

    def store(self, key: str, make: Callable[[Path], None], about: About | None = None) -> Path:
        """Make an entry, unless somebody else makes it now, or has made it.

        Raises:
            OSError: The folder cannot be written.
            BrainsmithError: Another user may write it; it is a `failure`.
        """
        entry = self.entry(key)
        self._check_owner()
        make_private(str(self.folder))
        self._locks.use(key)
        with self._locks.making(key):
            if not _is_whole(entry, key):
                self._make(key, make, about)
        return entry

    @contextlib.contextmanager
    def working(self, group: str, waits: Callable[[], bool]) -> Iterator[None]:
        """Let one thread of one process at a time work out what entries of a group are made of.

        Args:
            group: Its name.
            waits: As for `EntryLocks.making`.
        """
        with contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):  # the folder cannot be written: two work out the same
                make_private(str(self.folder))
                held.enter_context(self._locks.making(group, waits))
            yield

    def drop(self, key: str) -> None:
        """Remove an entry at once for all readers, then its files."""
        self._drop(self.entry(key))

    def drop_unused(self, key: str) -> bool:
        """Remove an entry; return False where a process uses it, or it cannot be removed."""
        with self._locks.dropping(key) as free:
            return free and self._drop(self.entry(key))

    def is_used(self, key: str) -> bool:
        """Tell whether a process uses an entry."""
        with self._locks.dropping(key) as free:
            return not free

    def is_whole(self, key: str) -> bool:
        """Tell whether an entry is as it was made."""
        return _is_whole(self.entry(key), key)

    def about(self, key: str) -> About:
        """Return what is known of an entry; nothing where it is damaged."""
        about = read_json_table(self.entry(key) / _MANIFEST).get("about")
        return cast("About", about) if isinstance(about, dict) else {}

    def use_as_long_as(self, key: str, user: object) -> None:
        """Keep an entry that was obtained from being removed as long as an object lives."""
        self._locks.use_as_long_as(key, user)

    def trim(self) -> None:
        """Remove what killed processes left, and the entries used longest ago until the limit holds."""
        self.remove_abandoned()
        trim_entries(((used, size, key) for key, used, size in self.sizes()), self.limit, self.drop_unused)

    def remove_abandoned(self) -> None:
        """Remove what killed processes left half made."""
        for work in _folders(self.folder / "tmp"):
            with self._locks.dropping(f"tmp/{work.name}") as free:
                if free and is_abandoned(str(work)):
                    shutil.rmtree(work, ignore_errors=True)

    def sizes(self) -> Iterator[tuple[str, float, int]]:
        """Yield the key of each entry, when it was used last, and its bytes."""
        for entry in self._entries():
            with contextlib.suppress(OSError):
                size = 0 if entry.is_symlink() else sum(map(os.path.getsize, _files(entry)))
                yield str(entry.relative_to(self.folder)), entry.stat().st_mtime, size

    def _entries(self) -> Iterator[Path]:
        """Yield all entries, those in groups too: folders with nothing but folders in them."""
        for folder in _folders(self.folder):
            inner = _folders(folder)
            is_group = inner and not folder.is_symlink() and not any(map(Path.is_file, folder.iterdir()))
            if folder.name != "tmp":
                yield from inner if is_group else [folder]

    def _check_owner(self) -> None:
        """Refuse a folder that another user may write, or replace; one of our own is tightened."""
        place, reason = why_replaceable(str(self.folder)) if self.holds_code else ("", "")
        if reason:
            raise self.failure(
                f"{self.folder}: another user could replace this folder, since {place} {reason}, and what is loaded "
                f"from it runs with your rights\n  {_advice(reason, place)}set XDG_CACHE_HOME to a folder of your own"
            )
        try:
            reason = why_untrusted(str(self.folder))
            if reason:
                make_private(str(self.folder))
                reason = why_untrusted(str(self.folder))
        except OSError:
            return
        if reason:
            raise self.failure(
                f"{self.folder}: {reason}, and what is loaded from there runs with your rights\n"
                "  remove it, or set XDG_CACHE_HOME to a folder of your own"
            )

    def _make(self, key: str, make: Callable[[Path], None], about: About | None) -> None:
        work, entry = self._work(), self.entry(key)
        try:
            with self._locks.using(f"tmp/{work.name}"):  # it may take longer than others wait
                make(work)
            files = {os.path.relpath(path, work): _digest(path) for path in _files(work)}
            manifest = {"key": key, "files": files, "about": noted(about)}
            (work / _MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True))
            withdraw_rights(str(work))
            if os.path.lexists(entry):
                self._drop(entry)
            entry.parent.mkdir(mode=0o700, exist_ok=True)
            work.rename(entry)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _drop(self, entry: Path) -> bool:
        """Remove an entry at once for all readers, then its files."""
        try:
            attic = self._work()
        except OSError:
            return False
        try:
            entry.rename(attic / "dropped")
        except OSError:
            return False
        finally:
            shutil.rmtree(attic, ignore_errors=True)
        if entry.parent != self.folder:
            with contextlib.suppress(OSError):  # the last one of its group
                entry.parent.rmdir()
        return True

    def _work(self) -> Path:
        work = self.folder / "tmp" / f"{os.getpid()}-{secrets.token_hex(6)}"
        work.parent.mkdir(mode=0o700, exist_ok=True)
        work.mkdir(mode=0o700)
        return work


def _advice(reason: str, place: str) -> str:
    return f"chmod o-w {place}, or " if "written" in reason else ""


def _is_whole(entry: Path, key: str) -> bool:
    """Tell whether an entry is the one of a key, has all its files as they were made, and no other user may write it."""
    try:
        manifest = json.loads(read_bytes(str(entry / _MANIFEST)))
        files = manifest["files"]
        paths = [entry, entry / _MANIFEST, *(entry / name for name in files)]
        return (
            manifest["key"] == key
            and bool(files)
            and not any(why_untrusted(str(path)) for path in paths)
            and all(_digest(entry / name) == known for name, known in files.items())
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _files(folder: Path) -> list[str]:
    found = (os.path.join(here, name) for here, _, names in os.walk(folder) for name in names)
    return sorted(filter(os.path.isfile, found))


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


def _used(entry: Path) -> tuple[int, str]:
    try:
        return entry.stat().st_mtime_ns, entry.name
    except OSError:
        return 0, entry.name


def _digest(path: str | Path) -> str:
    return digest(read_bytes(str(path)))
