"""Note what code reads from outside while it runs: an audit hook sees files and folders, `os.environ` notes variables.

Only what runs between `with Recorder(...)` and its end counts, in that thread and in the threads that it starts. What
Python tells nobody cannot be seen: the time, random numbers, what native code opens, and what other processes read.
"""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.store.audit import FILES, HIDDEN, LISTINGS, RENAMES, RUNNING, processes_made, threads
from brainsmith.store.callers import (
    caller,
    frames,
    imported_now,
    is_called_by,
    is_import,
    is_python_own,
    lies_in_package,
)
from brainsmith.store.files import working_folder
from brainsmith.store.imported_sources import facts_of
from brainsmith.store.made import Made
from brainsmith.store.reads import (
    ABSENT,
    ALL_VARIABLES,
    IMPORT_PATH,
    WORKING_FOLDER,
    Reads,
    file_digest,
    folder_digest,
    variable_digest,
    working_folder_digest,
)
from brainsmith.store.searched import is_own_import, searched_in_vain
from brainsmith.store.uncounted import STATES

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from brainsmith.store.uncounted import Rules

_DEVICES = "/dev/"


class Recorder:
    """Notes what this thread reads inside of a `with`, and what threads that it starts there read.

    Attributes:
        reads: What was read.
        readers: The same by the names of the modules that took part in it, but for Python's and the frameworks'; with
            absolute paths.
        unseen: What it did that hides what it read, such as starting a program; empty if nothing did.
        own_unseen: The same of what is no framework's.
        hiding: The same by the names of the modules that took part in it themselves: not of an installed package that they
            import, whose version counts.
        doubt: Why what was read is not known: a file changed meanwhile, or does not count; empty if it is known.
    """

    def __init__(self, rules: Rules) -> None:
        self.reads = Reads()
        self.readers: dict[str, Reads] = {}
        self.unseen = ""
        self.own_unseen = ""
        self.hiding: dict[str, str] = {}
        self.doubt = ""
        self._rules = rules
        self._made = Made()
        self._opened_at: dict[str, os.stat_result] = {}  # what was read, by its name
        self._asked: dict[str, set[str]] = {}  # who imported which modules, also such as were not found
        self._processes = processes_made()
        self._own_variables: set[str] = set()
        self._others: list[Any] = []  # the threads that were there before
        self._keys: dict[int, Any] = {}  # names that were just handed out in a list of all
        self._start = ""
        self._outer: Recorder | None = None
        self._around: FrameType | None = None  # what it stands in

    def __enter__(self) -> Recorder:
        self._start = working_folder()
        self._around = sys._getframe(1)
        self._others = threads()
        self._processes = processes_made()
        self._outer = RUNNING.begin(self)
        return self

    def __exit__(self, *error: object) -> None:
        RUNNING.end(self._outer)
        self._around = None
        if processes_made() != self._processes:
            self.unseen = self.unseen or HIDDEN["os.fork"]
        self._note_searches()
        self._look_again()
        if self._outer is not None:
            self._outer.reads.add(self.reads)
            for module, reads in self.readers.items():
                self._outer.readers.setdefault(module, Reads()).add(reads)
            self._outer.unseen = self._outer.unseen or self.unseen
            self._outer.own_unseen = self._outer.own_unseen or self.own_unseen
            self._outer.doubt = self._outer.doubt or self.doubt
            self._outer._made.add(self._made)

    @property
    def imported(self) -> frozenset[str]:
        """The modules that were imported inside, and such as were not found, but for what the frameworks import."""
        return frozenset(self._asked)

    def has_begun(self, thread: Any) -> bool:
        """Tell whether a thread may have been started inside: by this thread, or by another one meanwhile."""
        return all(thread is not other for other in self._others)

    def take(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event of Python's audit."""
        if event in FILES and caller().startswith(self._rules.silent):
            return
        if event == "open":
            self._opened(*arguments)
        elif event in LISTINGS:
            self._folder_listed(arguments[0])
        elif event == "import":
            self._imported(arguments[0], arguments[1])
        elif event == "ctypes.dlopen":
            self._library_loaded(arguments[0])
        elif event == "os.mkdir":
            self._made.folder(self._absolute(arguments[0]))
        elif event in RENAMES:
            self._renamed(arguments[0], arguments[1])
        else:
            self._hidden(event)

    def _hidden(self, event: str) -> None:
        if not self._is_trusted():
            self.own_unseen = self.own_unseen or HIDDEN[event]
            if not lies_in_package(caller()):
                self.hiding.update(dict.fromkeys(self._who_takes_part(), HIDDEN[event]))
        elif event not in ("os.fork", "os.forkpty"):
            return
        self.unseen = self.unseen or HIDDEN[event]

    def read_by_worker(self, files: list[tuple[str, int]], hidden: str) -> None:
        """Note what a worker of another environment opened for what runs here.

        Args:
            files: Absolute paths, each with the flags of its opening; those of a folder that was listed are below 0.
            hidden: An event of `HIDDEN` that happened there; empty if none did.
        """
        for path, flags in files:
            if flags < 0:
                self._listed(path, path)
            elif path not in self._made:
                if not flags & (os.O_WRONLY | os.O_TRUNC):
                    self._read(path, path)
                self._made.opened(path, flags)
        if hidden:
            self.unseen = self.unseen or HIDDEN[hidden]
            self.own_unseen = self.own_unseen or HIDDEN[hidden]

    def variable(self, key: Any) -> None:
        """Note that a variable, or all of them, was read."""
        name = os.fsdecode(key)
        if self._keys.get(id(key)) is key or ALL_VARIABLES in self.reads.variables:
            return
        if name in self._own_variables or name in self.reads.variables:
            return
        is_place = name == ALL_VARIABLES or name in self._rules.places or name.startswith("BRAINSMITH_")
        if not (is_place and self._is_library(caller())) and not is_called_by("tempfile.py"):
            self._count("variables", name, variable_digest(name))

    def listed(self, keys: list[Any]) -> None:
        """Note that all variables' names were asked for, as whoever copies them does, and then their values."""
        self.variable(ALL_VARIABLES)
        self._keys = {id(key): key for key in keys}

    def variable_set(self, key: Any) -> None:
        """Note that a variable was set or removed: what is read of it from now on is not an input."""
        self._own_variables.add(os.fsdecode(key))

    def _opened(self, path: Any, mode: Any, flags: int) -> None:
        absolute = self._absolute(path)
        if not absolute or absolute in self._made:
            return
        if not flags & (os.O_WRONLY | os.O_TRUNC):
            code = next(frames()).f_code
            if code.co_name.lstrip("_").startswith("rmtree"):  # which opens folders below one that is open
                return
            if is_import(code.co_filename):
                absolute = _source_of(absolute)
                self._imported(imported_now() or None, None)  # import_module() raises no other event
            self._read(absolute if absolute.endswith(".py") else path, absolute)
        self._made.opened(absolute, flags)

    def _read(self, path: Any, absolute: str) -> None:
        if self._rules.hides(absolute):
            self._doubt(f"it reads {os.path.basename(absolute)}, which is not an input of a step")
        if absolute.startswith(STATES) and not self._is_library(caller()):
            self._doubt(f"it reads {absolute}, which holds the state of the machine")
        if self._rules.leave_out(absolute):
            return
        # importlib.import_module() raises no event.
        if absolute.endswith(".py") and (module := imported_now()):
            self._asked.setdefault(module, set()).update(self._who_takes_part())
        name = self._name(path, absolute)
        if os.path.isdir(absolute):
            self._doubt(f"it opens the folder {name}, and what it reads there cannot be seen")
            return
        status, digest = _status(absolute), self._made.digest_of(absolute)
        if digest == ABSENT and status is not None:
            if absolute.startswith(_DEVICES) and self._is_library(caller()):
                return
            self._doubt(f"it reads {name}, which is not a regular file")
        if self._count("files", name, digest) != digest:
            self._doubt(f"{name} changed while it ran")
        if status is not None:
            self._opened_at.setdefault(name, status)

    def _count(self, table: str, name: str, digest: str) -> str:
        """Count what is read just now, of all who take part; return what stood for it when it was read first."""
        first: str = getattr(self.reads, table).setdefault(name, digest)
        path = name if table == "variables" else os.path.join(self._start, name)
        for module in self._who_takes_part():
            getattr(self.readers.setdefault(module, Reads()), table).setdefault(path, digest)
        return first

    def _who_takes_part(self) -> set[str]:
        """Return the names of the modules that run inside, but for Python's and the frameworks'."""
        found = set()
        for frame in frames():
            if frame is self._around:
                break
            file = frame.f_code.co_filename
            if not is_python_own(file) and not self._is_library(file):
                found.add(str(frame.f_globals.get("__name__", "")))
        return found

    def _doubt(self, why: str) -> None:
        self.doubt = self.doubt or why

    def _look_again(self) -> None:
        """Notice what changed while it was open: it may have been read before or after."""
        for name, then in self._opened_at.items():
            path = self._absolute(os.path.join(self._start, name))
            if path in self._made or self._made.has_added_to(path):
                continue
            now = _status(path)
            same = now is not None and facts_of(now) == facts_of(then)
            if not same and file_digest(path) != self.reads.files[name]:
                self._doubt(f"{name} changed while it ran")

    def _folder_listed(self, path: Any) -> None:
        file = next(frames()).f_code.co_filename
        if is_import(file) and (not file.endswith("pkgutil.py") or self._is_library(caller())):
            return
        self._listed(path, self._absolute("." if path is None else path))

    def _listed(self, path: Any, absolute: str) -> None:
        if not absolute or absolute in self._made or self._rules.leave_out(absolute):
            return
        mine = self._made.names_in(absolute)
        self._count("folders", self._name(path, absolute), folder_digest(absolute, mine))

    def _imported(self, name: Any, file: Any) -> None:
        """Note that a module is looked for, or that a library is made one."""
        if file is not None:
            self._library_loaded(file)
        elif isinstance(name, str) and not self._is_library(caller()):
            self._asked.setdefault(name, set()).update(self._who_takes_part())

    def _library_loaded(self, path: Any) -> None:
        """Note a library of native code; one without a folder is the system's."""
        absolute = self._absolute(path)
        if absolute and os.sep in os.fsdecode(path) and absolute not in self._made:
            self._read(path, absolute)

    def _note_searches(self) -> None:
        """Note where own modules were looked for: one that appears there, or another search path, gives others."""
        for name, who in self._asked.items():
            searched = searched_in_vain(name)
            found = Reads({path: ABSENT for path in searched if not self._rules.is_source(path)})
            if "." not in name and is_own_import(name):
                found.variables[IMPORT_PATH] = variable_digest(IMPORT_PATH)
            self.reads.add(found)
            for module in who:
                self.readers.setdefault(module, Reads()).add(found)

    def _renamed(self, source: Any, target: Any) -> None:
        absolute = self._absolute(source)
        if absolute not in self._made:
            if not os.path.isfile(absolute):
                return
            self._read(source, absolute)
        self._made.renamed(self._absolute(target))

    def _absolute(self, path: Any) -> str:
        """Return the absolute path of what an event names; empty for what is not a path."""
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
        # It may come from the working folder.
        if self._start != os.sep and absolute.startswith(os.path.join(self._start, "")):
            self.reads.variables.setdefault(WORKING_FOLDER, working_folder_digest(self._start))
        return absolute

    def _is_trusted(self) -> bool:
        """Tell whether trusted sources do what is done now; installed packages do it for whoever calls them."""
        for frame in frames():
            file = frame.f_code.co_filename
            if file.startswith(self._rules.trusted):
                return True
            if not is_python_own(file) and not lies_in_package(file):
                return False
        return True

    def _is_library(self, file: str) -> bool:
        return file.startswith(self._rules.trusted) or lies_in_package(file)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _source_of(path: str) -> str:
    """Return the source of a file of bytecode: what Python imports is the source."""
    if path.endswith(".pyc"):
        from importlib.util import source_from_cache

        try:
            return source_from_cache(path)
        except ValueError:
            return path
    return path
