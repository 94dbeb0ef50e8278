"""Files that are written where nothing was: from templates, all of them or none."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import OutputError, ProjectError

if TYPE_CHECKING:
    from collections.abc import Mapping

TEMPLATES = Path(__file__).parent / "templates"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the text of a template, its places `{{name}}` filled in.

    Args:
        template: The name of its file, without `.template`.
        values: By the names of places.
    """
    text = (TEMPLATES / f"{template}.template").read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: values[place[1]], text)


def write_new(root: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files below a folder, which is made where it is missing; return their paths.

    Args:
        root: The folder.
        texts: By paths in it.

    Raises:
        ProjectError: One of them exists. Then nothing is written.
        OutputError: One cannot be written. Then nothing is left of what was.
    """
    paths = {root / name: text for name, text in texts.items()}
    taken = [str(path) for path in paths if os.path.lexists(path)]
    if taken:
        raise _taken(taken)
    files: list[Path] = []
    folders: list[Path] = []
    try:
        for path, text in paths.items():
            _make_folders(path.parent, folders)
            with path.open("x", encoding="utf-8") as file:
                files.append(path)
                file.write(text)
    except BaseException as error:
        _take_back(files, folders)
        if isinstance(error, FileExistsError) and str(error.filename) in map(str, paths):
            raise _taken([str(error.filename)]) from error  # another process wrote it meanwhile
        if isinstance(error, OSError):
            raise OutputError(f"{error.filename}: cannot be written: {error.strerror}") from error
        raise
    return files


def _taken(names: list[str]) -> ProjectError:
    verb = "exists, and is" if len(names) == 1 else "exist, and are"
    return ProjectError(f"{', '.join(names)} {verb} not overwritten; nothing was written")


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and note those that were missing."""
    missing = [folder, *folder.parents]
    for each in reversed([one for one in missing if not one.exists()]):
        each.mkdir(exist_ok=True)
        made.append(each)


def _take_back(files: list[Path], folders: list[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # somebody else put something into it
            return
