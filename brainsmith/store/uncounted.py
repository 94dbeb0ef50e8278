"""Which of what code reads from outside does not count, and what may not be read."""

from __future__ import annotations

import os

from brainsmith.store.callers import PYTHON, lies_in_package
from brainsmith.structs import Struct

STATES = ("/proc/", "/sys/")
"""Where the system says how it is just now."""


class Rules(Struct):
    """What does not count of what is read.

    Attributes:
        folders: Everything below these: outputs, caches, sources that count otherwise.
        sources: These Python files, and those below these folders, count as sources.
        hidden: What lies there, or below, counts nowhere: what reads it cannot be kept.
        shown: Files among these that may be read all the same.
        trusted: Sources below these may start programs, whose versions count otherwise. They and installed packages may
            copy the whole environment, to pass it on.
        places: Variables that say where things are, and not what they are, where such sources read them.
        silent: What sources below these look at counts otherwise: the hub's, which looks for plugins again in a step
            that uses one.
    """

    folders: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    places: frozenset[str] = frozenset()
    silent: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("folders", "sources", "hidden", "trusted", "silent"):
            setattr(self, name, tuple(_folder(os.path.abspath(path)) for path in getattr(self, name)))

    def leave_out(self, path: str) -> bool:
        """Tell whether a file or folder does not count; its path is absolute."""
        if path.startswith((PYTHON, *STATES, *self.trusted)) or path == os.devnull or lies_in_package(path):
            return True
        return _folder(path).startswith(self.folders) or self.is_source(path)

    def is_source(self, path: str) -> bool:
        """Tell whether a file counts as a source otherwise; its path is absolute."""
        return path.endswith(".py") and _folder(path).startswith(self.sources)

    def hides(self, path: str) -> bool:
        """Tell whether what reads a file cannot be kept; its path is absolute."""
        return _folder(path).startswith(self.hidden) and path not in self.shown


def _folder(path: str) -> str:
    return os.path.join(path, "")
