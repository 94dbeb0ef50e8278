"""List and read source files, and notice when they change."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Stamp = tuple[int, int, int]

ABSENT = (-1, -1, -1)
"""The stamp of a path that does not exist."""


class SourceFile:
    """One Python file that a scan reads.

    Attributes:
        path: Absolute.
        module: Its dotted module name.
        is_package: Whether it is the `__init__.py` of that module.
    """

    __slots__ = ("is_package", "module", "path")

    def __init__(self, path: str, module: str, is_package: bool) -> None:
        self.path = path
        self.module = module
        self.is_package = is_package

    def __repr__(self) -> str:
        return f"SourceFile({self.path!r}, {self.module!r}, {self.is_package})"


class Listing:
    """What lies below a folder.

    Attributes:
        folders: Its sub-folders, itself first.
        files: Its Python files.
        misnamed: Python files that nothing can import.
        manifests: Files called `plugin.json`.
        closed: Folders that may not be read, each with the reason.
    """

    __slots__ = ("closed", "files", "folders", "manifests", "misnamed")

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.files: list[SourceFile] = []
        self.misnamed: list[str] = []
        self.manifests: list[str] = []
        self.closed: list[tuple[str, OSError]] = []


def list_sources(folder: str, module: str) -> Listing:
    """List the Python files that can be imported below a folder.

    Only names that are identifiers count, since no other can stand in an import. Links to folders are followed,
    each folder once.

    Args:
        folder: An absolute path; nothing is listed if it does not exist.
        module: The dotted name under which the folder is imported.
    """
    listing = Listing()
    seen: set[tuple[int, int]] = set()
    waiting = [(folder, module)]
    while waiting:
        here, name = waiting.pop()
        try:
            with os.scandir(here) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            listing.closed.append((here, error))
            listing.folders.append(here)
            continue
        listing.folders.append(here)
        for entry in found:
            base = entry.name
            if base.endswith(".py"):
                stem = base[:-3]
                if stem == "__init__":
                    listing.files.append(SourceFile(entry.path, name, True))
                elif stem.isidentifier():
                    listing.files.append(SourceFile(entry.path, f"{name}.{stem}", False))
                elif not stem.startswith("."):  # as editors' own files do
                    listing.misnamed.append(entry.path)
            elif base == "plugin.json":
                listing.manifests.append(entry.path)
            elif base.isidentifier() and base != "__pycache__" and _is_new_folder(entry, seen, folder):
                waiting.append((entry.path, f"{name}.{base}"))
    return listing


def _is_new_folder(entry: os.DirEntry[str], seen: set[tuple[int, int]], root: str) -> bool:
    if not entry.is_symlink():
        return entry.is_dir()
    if not entry.is_dir():
        return False
    top, target = os.path.join(os.path.realpath(root), ""), os.path.join(os.path.realpath(entry.path), "")
    if target.startswith(top) or top.startswith(
        target
    ):  # what it leads to is listed, or holds what is listed
        return False
    status = entry.stat()
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def stamp(path: str) -> Stamp:
    """Return what changes when a file or folder does: times in ns (content, status) and size in bytes.

    The status time notices a file that was replaced under its old modification time.
    """
    try:
        status = os.stat(path)
    except OSError:
        return ABSENT
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


def stamps(paths: Iterable[str]) -> list[Stamp]:
    """Return the stamp of each path, in order."""
    found: list[Stamp] = []
    add = found.append
    statuses = map(os.stat, paths)
    while True:
        try:
            for status in statuses:
                add((status.st_mtime_ns, status.st_ctime_ns, status.st_size))
            return found
        except OSError:  # the map goes on behind the path that is not there
            add(ABSENT)
