"""What code read from outside while it ran, as plain values, and whether that is still as it was.

A file counts with its content, a folder with the names in it, a variable with a digest: its value may be a secret.
"""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.store.callers import is_of_python
from brainsmith.store.files import working_folder
from brainsmith.store.fingerprint import digest, digest_of_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

ABSENT = "absent"
"""Stands for what was looked for and does not exist: it counts too once it appears."""
ALL_VARIABLES = "*"
"""The name under which the whole environment counts, of code that reads all of it."""
WORKING_FOLDER = "."
"""The name under which the working folder counts: code that names a file below it may have begun there."""
IMPORT_PATH = "sys.path"
"""The name under which the folders count in which Python looks for modules, but for its own and those of packages."""
SESSION_VARIABLES = frozenset(("_", "PWD", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "WINDOWID"))
"""What says where a shell stands, and is not what code means that reads all variables."""

_SEARCHED = tuple(path for path in map(os.path.abspath, sys.path) if not is_of_python(path))
# As it is now: what plugins add to it, they add again when they are imported.


class Reads:
    """What was read.

    Attributes:
        files: Digests by path; a relative path starts at the working folder of whoever asks.
        folders: The same of folders that were listed.
        variables: Digests by name.
    """

    def __init__(
        self,
        files: Mapping[str, str] | None = None,
        folders: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.files = dict(files or {})
        self.folders = dict(folders or {})
        self.variables = dict(variables or {})

    def __bool__(self) -> bool:
        return bool(self.files or self.folders or self.variables)

    def add(self, other: Reads) -> None:
        """Count what others have read as well; what was read first is what counts."""
        for mine, theirs in zip(self.tables(), other.tables(), strict=True):
            for name, value in theirs.items():
                mine.setdefault(name, value)

    def plain(self) -> dict[str, dict[str, str]]:
        """Return it as JSON may hold it."""
        return {"files": self.files, "folders": self.folders, "variables": self.variables}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Mapping[str, str]]) -> Reads:
        """Return what `plain` gave."""
        return cls(plain["files"], plain["folders"], plain["variables"])

    def changes(self) -> list[str]:
        """Return what is no longer as it was read, each in one sentence; an empty list if nothing changed."""
        found = [_change(path, then, file_digest(path)) for path, then in self.files.items()]
        for path, then in self.folders.items():
            found.append(_change(f"the content of {path}", then, folder_digest(path)))
        found += [_change(_shown(name), then, variable_digest(name)) for name, then in self.variables.items()]
        return [sentence for sentence in found if sentence]

    def has_changed(self) -> bool:
        """Tell whether anything is no longer as it was read."""
        return any(self.changes())

    def tables(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """Return the three tables, always in the same order."""
        return self.files, self.folders, self.variables


def file_digest(path: str) -> str:
    """Return what stands for a file's content; `ABSENT` if there is no such file."""
    try:
        if not os.path.isfile(path):
            return ABSENT
        with open(path, "rb") as file:
            return digest_of_parts(iter(lambda: file.read(1 << 20), b""))
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        return f"unreadable: {error.strerror}"


def folder_digest(path: str, without: frozenset[str] = frozenset()) -> str:
    """Return what stands for the names in a folder; `ABSENT` if there is no such folder."""
    try:
        names = sorted(name for name in os.listdir(path or ".") if name not in without | {"__pycache__"})
    except OSError:
        return ABSENT
    return digest("\0".join(names))


def variable_digest(name: str) -> str:
    """Return what stands for a variable's value, or for all variables; `ABSENT` if it is not set."""
    if name == ALL_VARIABLES:
        known = sorted((key, value) for key, value in os.environ.items() if key not in SESSION_VARIABLES)
        return digest(repr(known))
    if name == WORKING_FOLDER:
        return working_folder_digest()
    if name == IMPORT_PATH:
        return digest("\0".join(_SEARCHED))
    value = os.environ.get(name)
    return ABSENT if value is None else digest(f"{name}={value}")


def working_folder_digest(folder: str | None = None) -> str:
    """Return what stands for the working folder, or for a folder that was it."""
    folder = working_folder() if folder is None else folder
    return digest(folder) if folder else ABSENT


def _shown(name: str) -> str:
    special = {
        ALL_VARIABLES: "the environment",
        WORKING_FOLDER: "the working folder",
        IMPORT_PATH: "the search path of modules",
    }
    return special.get(name, f"the variable {name}")


def _change(what: str, then: str, now: str) -> str:
    if then == now:
        return ""
    if ABSENT in (then, now):
        return f"{what} {'did not exist before' if then == ABSENT else 'no longer exists'}"
    return f"{what} changed"
