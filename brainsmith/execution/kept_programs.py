"""Programs kept on disk by content, so that an unchanged model is ready without ONNX or QONNX being imported."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith import __version__, settings
from brainsmith.execution.foreign_code import foreign_code
from brainsmith.execution.program.encoding import decode, encode
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.execution.program.program import Program

_FILE = "program"
_LIMIT = 1 << 29


def obtain_program(content: str, make: Callable[[], Program]) -> Program:
    """Return the program of a model, made if there is none on disk that is whole.

    Args:
        content: Stands for the model and for how it is lowered.
        make: Lowers it.

    Raises:
        BuildError: It cannot be lowered.
    """
    folder = Path(settings.cache_dir()) / "programs"
    key = _key(content)
    found = _read(folder / key / _FILE)
    if found is not None:
        return found
    program = make()
    if program.files is not None:
        _write(folder, key, encode(program))
    return program


def _write(folder: Path, key: str, data: bytes) -> None:
    """Keep a program, if the folder can be written."""
    from brainsmith.errors import OutputError
    from brainsmith.store.folders import KeptFolders  # not needed by those who only read

    def fill(entry: Path) -> None:
        (entry / _FILE).write_bytes(data)

    with contextlib.suppress(OSError):  # what was not believed is made anew
        (folder / key / _FILE).unlink()
    with contextlib.suppress(OutputError):
        KeptFolders(folder, _LIMIT, failure=OutputError).obtain(key, fill)


def _read(path: Path) -> Program | None:
    """Read a program; None if there is none, it is damaged, or a file that its model names has changed."""
    try:
        program = decode(path.read_bytes())
        files = program.files or {}
        if all(_digest(Path(name).read_bytes()) == digest for name, digest in files.items()):
            with contextlib.suppress(OSError):
                os.utime(path.parent)
            return program
    except (OSError, ValueError, LookupError, TypeError):
        pass
    return None


def _key(content: str) -> str:
    parts = (__version__, _source_stamp(), foreign_code(), *settings.qonnx_rounding(), content)
    return digest("\0".join(parts))


@cache
def _source_stamp() -> str:
    """Return what stands for the code that lowers: an edited or upgraded one has other programs."""
    folder = Path(__file__).parent
    stamps = []
    sources = (*folder.glob("*.py"), *folder.glob("lowering/**/*.py"), *folder.glob("program/**/*.py"))
    for path in sorted(sources):
        status = path.stat()
        stamps.append(f"{path}|{status.st_mtime_ns}|{status.st_size}")
    return _digest("\n".join(stamps).encode())


def _digest(data: bytes) -> str:
    return digest(data)
