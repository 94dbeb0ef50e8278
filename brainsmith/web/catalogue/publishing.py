"""Put a catalogue in its folder: all of it at once, and never over files that no catalogue made."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import OutputError
from brainsmith.figures import listed
from brainsmith.web.catalogue.earlier import other_files, read_earlier

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_AT_FDCWD, _EXCHANGE = -100, 2
"""Of Linux' renameat2: paths are as they are, and the two change places."""


class CatalogueFolder:
    """The folder of a catalogue.

    Attributes:
        folder: As the user named it, links resolved.
        before: What `catalogue.json` of the catalogue that is there holds; None if there is none.

    Raises:
        OutputError: It is something else than a folder for a catalogue: a file, the root, or a folder that holds files
            that no catalogue made.
    """

    def __init__(self, output: str) -> None:
        try:
            self.folder = Path(output).resolve()
            is_used = self.folder.exists() and any(self.folder.iterdir())
        except NotADirectoryError:
            raise OutputError(f"output {output} is a file; name a folder") from None
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"output folder {output!r} cannot be read: {reason}") from error
        if self.folder == self.folder.parent:
            raise OutputError(f"output folder {output} is the root of the file system; name another folder")
        if _is_around_here(self.folder):
            raise OutputError(
                f"output folder {output} is the current folder, or around it, and would be replaced; name another folder"
            )
        self.before = read_earlier(self.folder) if is_used else None
        if is_used and self.before is None:
            raise OutputError(
                f"output folder {output} is not empty, and holds no catalogue that this version can read\n"
                "  name another folder, or remove this one"
            )
        others = other_files(self.folder, self.before) if self.before else []
        if others:
            raise OutputError(
                f"output folder {output} holds {listed(others)}, which no catalogue made and this one would remove\n"
                "  name another folder, or move them elsewhere"
            )

    def publish(self, files: Mapping[str, bytes]) -> None:
        """Put a catalogue in place of what is there; a reader sees all of the old one, or all of the new one.

        Raises:
            OutputError: The folder, or the one around it, cannot be written.
        """
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            with self._staging() as staging:
                _write(staging, files)
                _put(staging, self.folder)
        except OSError as error:
            raise OutputError(
                f"output folder {self.folder} cannot be written: {error.strerror or error}\n"
                "  the folder around it must be writable, since the catalogue is made there and then put in place"
            ) from error

    @contextlib.contextmanager
    def _staging(self) -> Iterator[Path]:
        """Give a new folder beside the catalogue's, which is removed in the end, whatever it then holds."""
        staging = self.folder.with_name(f".{self.folder.name[:100]}-{os.getpid()}-{secrets.token_hex(4)}")
        staging.mkdir()
        try:
            yield staging
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _is_around_here(folder: Path) -> bool:
    """Tell whether a folder is the current one or around it: whoever is in it would be in a removed one afterwards."""
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it is removed already
        return False
    return folder == here or folder in here.parents


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for place in {Path(path).parent for path in files}:
        (folder / place).mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        (folder / path).write_bytes(content)


def _put(staging: Path, folder: Path) -> None:
    """Put the staged folder where the other one is, which then is where the staged one was."""
    if not folder.exists():
        staging.rename(folder)
        return
    shutil.copymode(folder, staging)
    if not _exchanged(staging, folder):
        # A system that cannot exchange them: for a moment there is none.
        old = staging.with_name(f"{staging.name}.old")
        folder.rename(old)
        try:
            staging.rename(folder)
        except OSError:
            old.rename(folder)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; return whether that was done."""
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return bool(exchange(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0)
