"""Check who owns and may write a folder: what is loaded from a cache runs with its user's rights."""

from __future__ import annotations

import os
import stat

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OVERFLOW = "/proc/sys/kernel/overflowuid"


def make_private(folder: str) -> None:
    """Make a folder that only its user may enter, with those above it that do not exist; tighten one of the user's own.

    Raises:
        OSError: It cannot be made.
    """
    missing = []
    here = folder
    while here and not os.path.isdir(here):
        missing.append(here)
        here = os.path.dirname(here)
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            # Another process was first; or it is no folder, and that is what the next one says.
            if path == folder and not os.path.isdir(path):
                raise NotADirectoryError(20, os.strerror(20), path) from None
    tighten(folder)


def tighten(folder: str) -> None:
    """Let only its user enter a folder, if it is one of this user's own."""
    try:
        status = os.stat(folder)
        if status.st_uid == os.geteuid() and status.st_mode & 0o077:
            os.chmod(folder, 0o700)
    except OSError:  # a file system without rights
        pass


def why_untrusted(path: str) -> str:
    """Return how another user may have changed a file or folder; empty if none may.

    Raises:
        OSError: It does not exist.
    """
    status = os.stat(path)
    for owner in (os.lstat(path).st_uid, status.st_uid):  # a link, and what it leads to
        if owner not in (0, os.geteuid()):
            return f"belongs to another user ({_user(owner)})"
    return "may be written by other users" if status.st_mode & _OTHERS_WRITE else ""


def why_replaceable(folder: str) -> tuple[str, str]:
    """Return which folder above lets another user put another one in a folder's place, and why; two empty texts if none.

    As ssh asks it of a user's keys: each folder up to the root belongs to this user or to root, and others may write it
    only where it is sticky, as /tmp is. Folders that do not exist yet count for nothing. That a group may write is
    accepted: where each user has a group alone (Debian, Fedora), a user's own folders are so.
    """
    for place in dict.fromkeys(_above(folder)):
        try:
            status = os.stat(place)
        except OSError:
            continue
        if status.st_uid not in (0, os.geteuid()) and not _is_unmapped(status.st_uid):
            return place, f"belongs to another user ({_user(status.st_uid)})"
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return place, "may be written by other users"
    return "", ""


def _above(folder: str) -> Iterator[str]:
    """Yield the folders above one, from the root down: by its name, and by where its name leads through links."""
    for path in (os.path.abspath(folder), os.path.realpath(folder)):
        names = path.split(os.sep)[1:-1]
        for count in range(len(names) + 1):
            yield os.sep + os.sep.join(names[:count])


def _is_unmapped(owner: int) -> bool:
    """Tell whether an owner is one of all those that a container without root does not know, such as the host's root."""
    try:
        with (
            open("/proc/self/uid_map", encoding="ascii") as table,
            open(_OVERFLOW, encoding="ascii") as unknown,
        ):
            known = sum(int(line.split()[2]) for line in table)
            return known < 2**32 - 1 and owner == int(unknown.read())
    except (OSError, ValueError, IndexError):
        return False


def withdraw_rights(folder: str) -> None:
    """Take the right to write from all others, for a folder that was just made and all in it."""
    for here, _, files in os.walk(folder):
        for path in (here, *(os.path.join(here, name) for name in files)):
            mode = os.lstat(path).st_mode
            if mode & _OTHERS_WRITE and not stat.S_ISLNK(mode):
                os.chmod(path, stat.S_IMODE(mode) & ~_OTHERS_WRITE)


def owner_of(path: str) -> int:
    """Return the number of the user who owns a file or folder; 0 for one whom a container does not know.

    Raises:
        OSError: It does not exist.
    """
    owner = os.stat(path).st_uid
    return 0 if _is_unmapped(owner) else owner


def is_open_to_all(path: str) -> bool:
    """Tell whether every user may write a file or folder, and nothing keeps them from replacing what others wrote.

    Raises:
        OSError: It does not exist.
    """
    mode = os.stat(path).st_mode
    return bool(mode & stat.S_IWOTH) and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX)


def owner_name(number: int) -> str:
    """Return the name of a user; the number where there is none."""
    return _user(number)


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
