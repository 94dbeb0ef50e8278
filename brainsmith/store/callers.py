"""Who does what is noted just now: the frames of the running thread, without those that note it."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PYTHON = os.path.join(os.path.dirname(os.__file__), "")
"""The folder of Python's own modules."""
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_STORE = os.path.join(os.path.dirname(__file__), "")
_NOTING = (f"{_STORE}read_recorder.py", f"{_STORE}audit.py", f"{_STORE}callers.py")
_IMPORTING = f"{_STORE}imported_sources.py"


def frames() -> Iterator[FrameType]:
    """Return the frames of what is noted just now, the innermost first, without those that note it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename not in _NOTING:
            yield frame
        frame = frame.f_back


def caller() -> str:
    """Return the file of what is done now; what one of Python's own modules does is done by who calls it."""
    files = (frame.f_code.co_filename for frame in frames())
    return next((file for file in files if not is_python_own(file) and file != _IMPORTING), "")


def is_called_by(module: str) -> bool:
    """Tell whether one of Python's own modules does what is done now."""
    for frame in frames():
        file = frame.f_code.co_filename
        if not is_python_own(file):
            return False
        if os.path.basename(file) == module:
            return True
    return False


def is_import(file: str) -> bool:
    """Tell whether a file is of the machinery that looks for modules: Python's own, its backport, ours."""
    own = ("<frozen importlib", f"{PYTHON}importlib{os.sep}", f"{PYTHON}pkgutil.py", _IMPORTING)
    return file.startswith(own) or f"{os.sep}importlib_metadata{os.sep}" in file


def imported_now() -> str:
    """Return the name of the module that is imported just now; empty if none is."""
    for frame in frames():
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename.startswith("<frozen importlib"):
            return str(frame.f_locals.get("name", ""))
    return ""


def is_python_own(file: str) -> bool:
    """Tell whether a file is one of Python's own modules."""
    return file.startswith((PYTHON, "<frozen")) and not lies_in_package(file)


def is_of_python(path: str) -> bool:
    """Tell whether a file or folder is Python's own or lies in, or holds, installed packages.

    Not all below `sys.prefix` is: the virtual environment may be the project's own folder, or `/usr` hold the project.
    """
    library = os.path.dirname(os.path.dirname(PYTHON))
    if path.endswith(".zip") and os.path.dirname(path) == library:
        return True
    folder = os.path.join(path, "")
    return folder.startswith(PYTHON) or lies_in_package(folder)


def lies_in_package(file: str) -> bool:
    """Tell whether a file lies in an installed package."""
    return any(part in file for part in _INSTALLED)
