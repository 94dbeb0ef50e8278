"""Note what code reads from outside while it runs: an audit hook sees files and folders, `os.environ` notes variables.

Only what runs between `with Recorder(...)` and its end counts, in that thread and in the threads that it starts. What
Python tells nobody cannot be seen: the time, random numbers, what native code opens, and what other processes read.
"""

from __future__ import annotations

import os

from brainsmith.store.audit import HIDDEN, RUNNING, threads
from brainsmith.store.callers import (
    PYTHON,
    caller,
    frames,
    is_called_by,
    is_import,
    is_installed,
    is_python_s,
)
from brainsmith.store.reads import (
    ABSENT,
    ALL_VARIABLES,
    WORKING_FOLDER,
    Reads,
    file_digest,
    folder_digest,
    variable_digest,
    working_folder_digest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEVICES = ("/proc/", "/sys/", "/dev/")


class Rules:
    """What does not count of what is read.

    Args:
        folders: Everything below these: outputs, caches, sources that count otherwise.
        sources: Python files below these count as sources.
        hidden: What lies there, or below, counts nowhere: what reads it cannot be kept.
        shown: Files among these that may be read all the same.
        trusted: Sources below these may start programs, whose versions count otherwise. They and installed packages may
            copy the whole environment, to pass it on.
        places: Variables that say where things are, and not what they are, where such sources read them.
        silent: What sources below these look at counts otherwise: the hub's, which looks for plugins again in a step
            that uses one.
    """

    def __init__(
        self,
        folders: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
        hidden: tuple[str, ...] = (),
        shown: tuple[str, ...] = (),
        trusted: tuple[str, ...] = (),
        places: frozenset[str] = frozenset(),
        silent: tuple[str, ...] = (),
    ) -> None:
        self.folders, self.hidden, self.trusted = map(_folders, (folders, hidden, trusted))
        self.silent = _folders(silent)
        self.sources = _folders(sources)
        self.shown = shown
        self.places = places

    def leave_out(self, path: str) -> bool:
        """Tell whether a file or folder does not count; its path is absolute."""
        if path.startswith((PYTHON, *_DEVICES, *self.trusted)) or is_installed(path):
            return True
        return _folder(path).startswith(self.folders) or (
            path.endswith(".py") and path.startswith(self.sources)
        )

    def hides(self, path: str) -> bool:
        """Tell whether what reads a file cannot be kept; its path is absolute."""
        return _folder(path).startswith(self.hidden) and path not in self.shown


class Recorder:
    """Notes what this thread reads inside of a `with`, and what threads that it starts there read.

    Attributes:
        reads: What was read.
        unseen: What it did that hides what it read, such as starting a program; empty if nothing did.
        untold: Why what was read is not known: a file changed meanwhile, or does not count; empty if it is known.
    """

    def __init__(self, rules: Rules) -> None:
        self.reads = Reads()
        self.unseen = ""
        self.untold = ""
        self._rules = rules
        self._own: set[str] = set()  # what was made meanwhile
        self._own_variables: set[str] = set()
        self._others: list[Any] = []  # the threads that were there before
        self._keys: dict[int, Any] = {}  # names that were just handed out in a list of all
        self._start = ""
        self._outer: Recorder | None = None

    def __enter__(self) -> Recorder:
        try:
            self._start = os.getcwd()
        except OSError:  # the user, or a step, may have removed it
            self._start = ""
        self._others = threads()
        self._outer = RUNNING.begin(self)
        return self

    def __exit__(self, *error: object) -> None:
        RUNNING.end(self._outer)
        if self._outer is not None:
            self._outer.reads.add(self.reads)
            self._outer.unseen = self._outer.unseen or self.unseen
            self._outer.untold = self._outer.untold or self.untold
            self._outer._own |= self._own

    def has_begun(self, thread: Any) -> bool:
        """Tell whether a thread may have been started inside: by this thread, or by another one meanwhile."""
        return all(thread is not other for other in self._others)

    def take(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event of Python's audit."""
        if event in ("open", "os.listdir", "os.scandir") and caller().startswith(self._rules.silent):
            return
        if event == "open":
            self._opened(*arguments)
        elif event in ("os.listdir", "os.scandir"):
            self._folder_listed(arguments[0])
        elif event == "os.mkdir":
            self._own.add(self._absolute(arguments[0]))
        elif event == "os.rename":
            self._renamed(arguments[0], arguments[1])
        elif not self.unseen and (event == "os.fork" or not self._is_trusted()):
            self.unseen = HIDDEN[event]

    def variable(self, key: Any) -> None:
        """Note that a variable, or all of them, was read."""
        name = os.fsdecode(key)
        if self._keys.get(id(key)) is key or ALL_VARIABLES in self.reads.variables:
            return
        if name in self._own_variables or name in self.reads.variables:
            return
        is_place = name == ALL_VARIABLES or name in self._rules.places or name.startswith("BRAINSMITH_")
        if not (is_place and self._is_library(caller())) and not is_called_by("tempfile.py"):
            self.reads.variables[name] = variable_digest(name)

    def listed(self, keys: list[Any]) -> None:
        """Note that all variables' names were asked for, as whoever copies them does, and then their values."""
        self.variable(ALL_VARIABLES)
        self._keys = {id(key): key for key in keys}

    def variable_set(self, key: Any) -> None:
        """Note that a variable was set or removed: what is read of it from now on is no input."""
        self._own_variables.add(os.fsdecode(key))

    def _opened(self, path: Any, mode: Any, flags: int) -> None:
        absolute = self._absolute(path)
        if not absolute or self._is_own(absolute):
            return
        writes = bool(flags & (os.O_WRONLY | os.O_RDWR))
        if not flags & (os.O_WRONLY | os.O_TRUNC):
            code = next(frames()).f_code
            if code.co_name.startswith("_rmtree"):  # which opens folders below one that is open
                return
            if is_import(code.co_filename):
                absolute = _source_of(absolute)
            self._read(absolute if absolute.endswith(".py") else path, absolute)
        if writes or flags & os.O_CREAT:
            self._own.add(absolute)

    def _read(self, path: Any, absolute: str) -> None:
        if self._rules.hides(absolute):
            self.untold = self.untold or f"it reads {os.path.basename(absolute)}, which is no input of a step"
        if self._rules.leave_out(absolute) or os.path.isdir(absolute):
            return
        name, digest = self._name(path, absolute), file_digest(absolute)
        if digest == ABSENT and os.path.exists(absolute):
            self.untold = self.untold or f"it reads {name}, which is no regular file"
        if self.reads.files.setdefault(name, digest) != digest:
            self.untold = self.untold or f"{name} changed while it ran"

    def _folder_listed(self, path: Any) -> None:
        if is_import(next(frames()).f_code.co_filename):
            return
        absolute = self._absolute("." if path is None else path)
        if not absolute or self._is_own(absolute) or self._rules.leave_out(absolute):
            return
        mine = frozenset(os.path.basename(made) for made in self._own if os.path.dirname(made) == absolute)
        self.reads.folders.setdefault(self._name(path, absolute), folder_digest(absolute, mine))

    def _renamed(self, source: Any, target: Any) -> None:
        if self._absolute(source) in self._own:
            self._own.add(self._absolute(target))

    def _is_own(self, path: str) -> bool:
        if path in self._own:
            return True
        return any(path.startswith(f"{made}{os.sep}") for made in self._own)

    def _absolute(self, path: Any) -> str:
        """Return the absolute path of what an event names; empty for what is no path."""
        if isinstance(path, int) or path is None:
            return ""
        try:
            return os.path.abspath(os.fsdecode(path))
        except (TypeError, ValueError, OSError):
            return ""

    def _name(self, path: Any, absolute: str) -> str:
        """Return how a path is kept: a relative one stays so, unless the working folder was changed meanwhile."""
        given = os.path.normpath(os.fsdecode(path if path is not None else "."))
        if not os.path.isabs(given) and absolute == os.path.normpath(os.path.join(self._start, given)):
            return given
        if self._start != os.sep and absolute.startswith(_folder(self._start)):  # it may come from there
            self.reads.variables.setdefault(WORKING_FOLDER, working_folder_digest(self._start))
        return absolute

    def _is_trusted(self) -> bool:
        """Tell whether trusted sources do what is done now; installed packages do it for whoever calls them."""
        for frame in frames():
            file = frame.f_code.co_filename
            if file.startswith(self._rules.trusted):
                return True
            if not is_python_s(file) and not is_installed(file):
                return False
        return True

    def _is_library(self, file: str) -> bool:
        return file.startswith(self._rules.trusted) or is_installed(file)


def _source_of(path: str) -> str:
    """Return the source of a file of bytecode: what Python imports is the source."""
    if path.endswith(".pyc"):
        from importlib.util import source_from_cache

        try:
            return source_from_cache(path)
        except ValueError:
            return path
    return path


def _folders(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_folder(os.path.abspath(path)) for path in paths)


def _folder(path: str) -> str:
    return os.path.join(path, "")
