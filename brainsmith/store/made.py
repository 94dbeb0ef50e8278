"""What code makes itself while it is recorded: reading that again does not count as reading from outside."""

from __future__ import annotations

import os

from brainsmith.store.reads import file_digest

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Made:
    """Files and folders that were made, and files that were there before and were added to.

    Python tells of all of this before it happens, and also where it then fails: a folder that is there is not made.
    """

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._before: dict[str, str] = {}  # digests of what was added to, as it was before

    def __contains__(self, path: str) -> bool:
        while path not in self._paths:
            path, below = os.path.dirname(path), path
            if path == below:
                return False
        return True

    def add(self, other: Made) -> None:
        """Count what was made in an inner recording as well."""
        self._paths |= other._paths

    def folder(self, path: str) -> None:
        """Note that a folder is about to be made."""
        if not os.path.lexists(path):
            self._paths.add(path)

    def opened(self, path: str, flags: int) -> None:
        """Note that a file is about to be opened, perhaps to write it."""
        if not flags & _WRITES:
            return
        if not os.path.lexists(path):
            self._paths.add(path)
        elif flags & os.O_EXCL:
            return  # it fails: the file is there
        elif flags & os.O_TRUNC:
            self._paths.add(path)
        elif flags & (os.O_WRONLY | os.O_RDWR):
            self._before.setdefault(path, file_digest(path))

    def renamed(self, target: str) -> None:
        """Note that a file or folder gets another name."""
        self._paths.add(target)

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the names of what was made in a folder."""
        return frozenset(os.path.basename(made) for made in self._paths if os.path.dirname(made) == folder)

    def has_added_to(self, path: str) -> bool:
        """Tell whether a file that was there before was opened to write it."""
        return path in self._before

    def digest_of(self, path: str) -> str:
        """Return what stands for a file's content, without what was added to it."""
        return self._before.get(path) or file_digest(path)
