"""What steps report, as JSON files in the output folder."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise an OutputError that names a file or folder if the body cannot write it."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error


def report_file(cfg: Any, name: str) -> Path:
    """Return the file of a report, whose folder is made.

    Raises:
        OutputError: The folder cannot be made.
    """
    file = Path(cfg.output_dir) / name
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
    return file


def write_report(cfg: Any, name: str, content: Mapping[str, Any]) -> None:
    """Write a report.

    Raises:
        OutputError: The file cannot be written.
    """
    file = report_file(cfg, name)
    with writing(file):
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_report(file: Path) -> dict[str, Any] | None:
    """Return what a step or a build reported; None if there is no such file, because it did not run.

    Raises:
        BuildError: The file cannot be read, or is damaged.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, getattr(error, "strerror", None) or str(error)) from error
    if not isinstance(found, dict):
        raise _unreadable(file, "it holds no JSON object")
    return found


def _unreadable(file: Path, reason: str) -> BuildError:
    if file.name == "report.json":
        return BuildError(f"{file} cannot be read as the report of a build: {reason}\n  build it again")
    return BuildError(
        f"{file} cannot be read as the report of a step: {reason}\n"
        "  run the step that writes it again, and let no other step write this file"
    )
