"""What steps leave in the output folder beside the model: compared before and after a step, kept, and restored.

A step may write files, links and folders, and remove what earlier steps left. All of it is kept, since a build that
reuses the step must end with the same folder as the build that ran it.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from brainsmith.build.messages import LOG
from brainsmith.store.files import is_racy, read_bytes
from brainsmith.store.fingerprint import digest

HIDDEN = ("checkpoints", LOG)
"""What a build itself writes there, and no step."""

_FOLDER = "folder"
_LINK = "link "
_SPECIAL = "special"
_EXECUTABLE = " executable"
_PLACE = "@folder@"

State = dict[str, str]
"""What lies in the output folder, by path relative to it: "folder", "link TARGET", "special", or a digest of a file's
content, followed by " executable" where its owner may run it."""


@dataclass(frozen=True)
class SideChanges:
    """What a step changed in the output folder; all paths are relative to it.

    Attributes:
        files: The content of the files that it wrote.
        executable: Those of them that their owner may run.
        links: The links that it made, with what they point to.
        folders: The folders that it made.
        removed: What it removed.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """Return it as JSON may hold it, with the names of the files alone."""
        return {**asdict(self), "files": sorted(self.files)}


class SideFiles:
    """The output folder of a running build.

    Args:
        folder: It.
        portable: Gives a file's content as it is kept: without the name of the folder.
    """

    def __init__(self, folder: Path, portable: Callable[[str, bytes], bytes]) -> None:
        self._folder = folder
        self._portable = portable
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}
        self._written: dict[str, tuple[tuple[int, ...], str]] = {}

    def note_written(self, contents: Mapping[str, bytes]) -> None:
        """Note what was just restored, as it is kept: until a step runs, nothing else writes there.

        So it is not read again before each step that is reused, which its times alone would not allow.
        """
        for path, data in contents.items():
            status = os.stat(f"{self._folder}/{path}")  # noqa: PTH116  (there are hundreds)
            self._written[path] = _stamp(status), digest(data)

    def step_runs(self) -> None:
        """Believe no file any more by its times alone that was just written: a step may write it again."""
        self._written.clear()

    def state(self) -> State:
        """Return what is there now, by content: neither size nor time can hide a change."""
        found = {}
        top = str(self._folder)
        for folder, folders, names in os.walk(top):
            here = folder[len(top) + 1 :]
            if not here:
                folders[:] = [name for name in folders if name not in HIDDEN]
                names = [name for name in names if name not in HIDDEN]
            for name in (*folders, *names):
                path = f"{here}{os.sep}{name}" if here else name
                found[path] = self._kind(path)
        return dict(sorted(found.items()))

    def _kind(self, path: str) -> str:
        now = time.time_ns()
        whole = f"{self._folder}{os.sep}{path}"
        status = os.lstat(whole)
        if stat.S_ISDIR(status.st_mode):
            return _FOLDER
        if stat.S_ISLNK(status.st_mode):
            return _LINK + os.readlink(whole).replace(str(self._folder), _PLACE)  # noqa: PTH115  (a Path costs more)
        if not stat.S_ISREG(status.st_mode):
            return _SPECIAL
        executable = _EXECUTABLE if status.st_mode & stat.S_IXUSR else ""
        stamp = _stamp(status)
        known = self._written.get(path) or self._known.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, digest(self._portable(path, Path(whole).read_bytes())))
            if not is_racy((status.st_mtime_ns, status.st_ctime_ns), now):
                self._known[path] = known
        return known[1] + executable

    def changes(self, before: State, after: State) -> SideChanges:
        """Return what changed from one state to the present one."""
        new = {path: kind for path, kind in after.items() if before.get(path) != kind}
        files = [path for path, kind in new.items() if _file_type(kind) == "file"]
        removed = [
            path for path, kind in before.items() if _file_type(kind) != _file_type(after.get(path, ""))
        ]
        return SideChanges(
            {path: self._portable(path, (self._folder / path).read_bytes()) for path in files},
            tuple(path for path in files if new[path].endswith(_EXECUTABLE)),
            {path: kind.removeprefix(_LINK) for path, kind in new.items() if kind.startswith(_LINK)},
            tuple(path for path, kind in new.items() if kind == _FOLDER),
            tuple(removed),
        )

    def why_not_kept(self, before: State, after: State) -> str:
        """Return what of a step's changes cannot be kept, as a clause; empty if all can."""
        folder = os.path.realpath(self._folder)
        for path in [path for path, kind in after.items() if before.get(path) != kind]:
            if after[path] == _SPECIAL:
                return f"it leaves {path} in the output folder, which is neither a file nor a folder"
            if after[path].startswith(_LINK) and not _leads_into(folder, path):
                return f"it leaves {path} in the output folder, a link to what is outside of it"
        return ""


def _leads_into(folder: str, link: str) -> bool:
    """Tell whether a link in a folder leads to what is in it; one to itself leads nowhere, and is kept as it is."""
    found = os.path.realpath(f"{folder}/{link}")
    return found == folder or found.startswith(folder + os.sep)


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _file_type(kind: str) -> str:
    """Return what has to be removed before a path can be something else."""
    if not kind or kind in (_FOLDER, _SPECIAL):
        return kind
    return "link" if kind.startswith(_LINK) else "file"


def restore(
    entry: Path,
    side: Mapping[str, Any],
    output: Path,
    localise: Callable[[str, bytes], bytes],
    moved: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, bytes] | None:
    """Make the changes of a step again.

    Args:
        entry: The folder that holds the step's files.
        side: As `SideChanges.described` gave it.
        output: The output folder.
        localise: Gives a file's content with the name of the output folder where it is kept without.
        moved: Where those files are that need not be written, by name: they are moved.

    Returns:
        The content of each file that it wrote, as it is kept; None if a file of the entry is missing, and nothing was
        changed.
    """
    try:
        contents = {name: read_bytes(moved.get(name) or f"{entry}{os.sep}{name}") for name in side["files"]}
    except OSError:
        return None
    for name in sorted(side["removed"], reverse=True):  # what is in a folder before the folder
        _remove(output / name)
    folders = {*side["folders"], *(name.rpartition("/")[0] for name in contents)}
    for name in folders:
        if not os.path.isdir(f"{output}/{name}"):  # noqa: PTH112  (most are there)
            (output / name).mkdir(parents=True, exist_ok=True)
    executable = frozenset(side["executable"])
    for name, data in contents.items():
        if name in moved:
            os.replace(moved[name], f"{output}/{name}")  # noqa: PTH105  (a Path costs more)
        else:
            _write(f"{output}/{name}", localise(name, data), name in executable)
    for name, target in side["links"].items():
        (output / name).unlink(missing_ok=True)
        (output / name).symlink_to(target.replace(_PLACE, str(output)))
    return contents


def _write(path: str, data: bytes, executable: bool) -> None:
    """Write a file; there are hundreds, and a Path takes as long as the writing."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    mode = os.fstat(file).st_mode
    wanted = made_executable(mode) if executable else mode & ~0o111
    if mode != wanted:
        os.fchmod(file, wanted)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)


def made_executable(mode: int) -> int:
    """Return a file's mode, and that whoever reads it may run it."""
    return mode | (mode & 0o444) >> 2


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
