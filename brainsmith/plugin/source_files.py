"""List and read source files, and notice when they change."""

from __future__ import annotations

import errno
import os
from stat import S_ISDIR, S_ISREG

from brainsmith import TYPE_CHECKING
from brainsmith.store.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 16 << 20
"""The bytes that a source file may have; the largest in Python's own library has half a million."""


def read_source(path: str) -> bytes:
    """Read a whole source file.

    Raises:
        OSError: It cannot be read, is no file (but a pipe or a folder, say), or is larger than a source can be.
    """
    return read_bytes(path, _refuse_what_is_no_source)


def source_or_nothing(path: str) -> bytes:
    """Read a whole source file; nothing of one that cannot be read."""
    try:
        return read_source(path)
    except OSError:
        return b""


def _refuse_what_is_no_source(status: os.stat_result) -> None:
    if not S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a folder, a pipe or a device")
    if status.st_size > LARGEST:
        text = (
            f"it has {status.st_size / 2**20:.1f} MiB; a source file may have up to {LARGEST / 2**20:.0f} MiB"
        )
        raise OSError(errno.EFBIG, text)


def encoding_error(data: bytes) -> SyntaxError | None:
    """Return what is wrong with a file that is not UTF-8 and names no other encoding; None if nothing is."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return SyntaxError("it is UTF-16: save it as UTF-8")
    import re  # only where a file is not UTF-8 as expected

    if re.search(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]", data):
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        found = SyntaxError(
            f"byte 0x{data[error.start]:02x} is not UTF-8: save the file as UTF-8, or name its encoding in the first line"
            " (# coding: latin-1)"
        )
        found.lineno = data.count(b"\n", 0, error.start) + 1
        return found
    return None


class SourceFile:
    """One Python file that a scan reads.

    Attributes:
        path: Absolute.
        module: Its dotted module name.
        is_package: Whether it is the `__init__.py` of that module.
    """

    __slots__ = ("is_package", "module", "path")  # a discovery makes hundreds

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
        closed: Folders that may not be read, and links that lead nowhere else than to themselves, each with the reason.
    """

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.files: list[SourceFile] = []
        self.misnamed: list[str] = []
        self.manifests: list[str] = []
        self.closed: list[tuple[str, OSError]] = []


Entries = tuple[tuple[str, str], ...]
"""What a folder holds, by name: the name and `folder`, `link` or `file`."""


def list_entries(folder: str) -> Entries:
    """List a folder.

    Raises:
        OSError: It does not exist, or may not be read.
    """
    with os.scandir(folder) as entries:
        return tuple(sorted((entry.name, _kind(entry)) for entry in entries))


def _kind(entry: os.DirEntry[str]) -> str:
    return "link" if entry.is_symlink() else "folder" if entry.is_dir(follow_symlinks=False) else "file"


def list_sources(folder: str, module: str, entries_of: Callable[[str], Entries] = list_entries) -> Listing:
    """List the Python files that can be imported below a folder.

    Only names that are identifiers count, since no other can stand in an import. Links to folders are followed,
    each folder once.

    Args:
        folder: An absolute path; nothing is listed if it does not exist.
        module: The dotted name under which the folder is imported.
        entries_of: Lists one folder.
    """
    listing = Listing()
    seen: set[tuple[int, int]] = set()
    waiting = [(folder, module)]
    while waiting:
        here, name = waiting.pop()
        try:
            found = entries_of(here)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            listing.closed.append((here, error))
            listing.folders.append(here)
            continue
        listing.folders.append(here)
        for base, kind in found:
            path = f"{here}{os.sep}{base}"
            if base.endswith(".py"):
                _list_file(listing, path, base[:-3], name)
            elif base == "plugin.json":
                listing.manifests.append(path)
            elif kind != "file" and base.isidentifier() and base != "__pycache__":
                try:
                    if kind == "folder" or _leads_elsewhere(path, seen, folder):
                        waiting.append((path, f"{name}.{base}"))
                except OSError as error:
                    listing.closed.append((path, error))
    return listing


def _list_file(listing: Listing, path: str, stem: str, package: str) -> None:
    if stem == "__init__":
        listing.files.append(SourceFile(path, package, True))
    elif stem.isidentifier():
        listing.files.append(SourceFile(path, f"{package}.{stem}", False))
    elif not stem.startswith("."):  # as editors' own files do
        listing.misnamed.append(path)


def _leads_elsewhere(link: str, seen: set[tuple[int, int]], root: str) -> bool:
    """Tell whether a link leads to a folder that is not listed yet.

    Raises:
        OSError: It is a cyclic link, or leads to where one may not look.
    """
    try:
        status = os.stat(link)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not S_ISDIR(status.st_mode):
        return False
    top, target = os.path.join(os.path.realpath(root), ""), os.path.join(os.path.realpath(link), "")
    identity = (status.st_dev, status.st_ino)
    if target.startswith(top) or top.startswith(target) or identity in seen:
        return False  # what it leads to is listed, or holds what is listed
    seen.add(identity)
    return True
