"""Remember the source of each imported module, even if its file has changed since.

A file says what the next process will run, not what this one runs. So the source is noted while a module is imported:
`note_imports` lets Python's own import do that from then on. Of a module that was imported before, the file counts,
if it is older than the process.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.machinery import ExtensionFileLoader, PathFinder, SourceFileLoader, SourcelessFileLoader
from importlib.util import cache_from_source
from itertools import takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from brainsmith import IMPORTED_NS
from brainsmith.store.callers import PYTHON, lies_in_package
from brainsmith.store.files import is_racy
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import CodeType

OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of this package."""


class Imported:
    """The source of which an imported module was made.

    Attributes:
        path: Its file.
        data: The source.
        digest: Of it.
        status: Of the file when it was read; None if it may have changed in that moment.
    """

    __slots__ = ("data", "digest", "path", "status")

    def __init__(self, path: str, data: bytes, status: os.stat_result | None) -> None:
        self.path = path
        self.data = data
        self.digest = digest(data)
        self.status = facts_of(status) if status is not None and is_older(status, time.time_ns()) else None


SOURCE_CHECKS: list[Callable[[str, bytes], None]] = []
"""What looks at each source or compiled module that is about to be run, by its path, and may raise an ImportError."""

_NOTED: WeakKeyDictionary[ModuleType, Imported] = WeakKeyDictionary()


def note_imports() -> None:
    """Note the source of each module that is imported from now on and is not installed; once is enough."""
    if not any(isinstance(finder, _NotingFinder) for finder in sys.meta_path):
        at = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else len(sys.meta_path)
        sys.meta_path.insert(at, _NotingFinder())


def noting(spec: ModuleSpec) -> ModuleSpec:
    """Let a module note its source when it is made; for finders that stand beside Python's own.

    One that is made of no source, but is compiled, is looked at in the same moment.
    """
    loader: Any = spec.loader
    if (own := _LOADERS.get(type(loader))) is not None:
        spec.loader = own(loader.name, loader.path)
    return spec


def note_source(module: ModuleType, path: str, data: bytes) -> None:
    """Note of which source a module is made that is not made by Python's own import.

    Args:
        module: It.
        path: Its file.
        data: What was read of it, and is run.
    """
    _NOTED[module] = Imported(path, data, None)


def imported_source(name: str) -> Imported | None:
    """Return the source of which an imported module was made.

    Returns:
        None if it is not known: the module is not imported, is not made of a Python file, or it was imported before
        sources were noted and its file has changed since this process began.
    """
    module = sys.modules.get(name)
    if not isinstance(module, ModuleType):
        return None
    noted = _NOTED.get(module)
    file = getattr(module, "__file__", None)
    if noted is not None or not isinstance(file, str) or not file.endswith(".py"):
        return noted
    return _older_than_process(module, file)


def has_changed(name: str) -> bool:
    """Tell whether the file of an imported module holds another source than the module was made of, or is gone.

    It has also if that is not known; it has not if the module is made of no Python file.
    """
    module = sys.modules.get(name)
    known = _NOTED.get(module) if isinstance(module, ModuleType) else None
    if known is None:
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            return False  # another thread is about to read its source
        file = str(getattr(module, "__file__", None))
        archive = getattr(getattr(module, "__loader__", None), "archive", None)
        return file.endswith(".py") and not _is_older_than_import(module, archive or file)
    try:
        if facts_of(os.stat(known.path)) == known.status:
            return False
        return digest(_read(known.path)[0]) != known.digest
    except OSError:
        return True


def is_file_imported(name: str, path: str, status: os.stat_result, source: str) -> bool:
    """Tell whether a module, if it is imported, was surely made of a file as it is now.

    Args:
        name: Of the module.
        path: The file.
        status: Of it.
        source: What stands for its content.
    """
    module = sys.modules.get(name)
    if module is None:
        return True
    noted = _NOTED.get(module) if isinstance(module, ModuleType) else None
    if noted is not None:
        return noted.digest == source
    return getattr(module, "__file__", None) == path and _is_settled_before(module, status)


def is_older(status: os.stat_result, moment: int) -> bool:
    """Tell whether a file surely changed last before a moment: so one that changes after it will have another status.

    Renaming one into its place is a change.
    """
    return not is_racy((status.st_mtime_ns, status.st_ctime_ns), moment)


def is_installed(path: str) -> bool:
    """Tell whether a file belongs to Python or to an installed package, whose versions count; never one of our own."""
    return not path.startswith(OWN_FOLDER + os.sep) and (path.startswith(PYTHON) or lies_in_package(path))


def _is_older_than_import(module: Any, path: str) -> bool:
    """Tell whether a file was there before its module can have been imported, as it is now.

    Installers link files of one environment into another one, which changes their status; so only the time of the
    content counts for what is installed.
    """
    try:
        status = os.stat(path)
    except OSError:
        return False
    return _is_settled_before(module, status, with_status=not is_installed(path))


def _older_than_process(module: ModuleType, path: str) -> Imported | None:
    """Return the source of a module that was imported before sources were noted, if its file is surely the same."""
    try:
        data, status = _read(path)
    except OSError:
        return None
    if not _is_settled_before(module, status):
        return None
    known = _NOTED[module] = Imported(path, data, status)
    return known


class _NotingFinder:
    """Finds what Python's own path finder finds, with a loader that notes the source."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how a module is imported; of an installed one, as usual."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or is_installed(os.path.abspath(spec.origin)):
            return spec
        return noting(spec)


class _NotingLoader(SourceFileLoader):
    """Notes the source of a module while it is made.

    Python believes a `.pyc` file that was made of a source of the same size and second. One that is not surely younger
    than the last change of the source is not used here: two edits of the same size are both seen.
    """

    _at_hand: tuple[bytes, os.stat_result] | None = None
    _bytecode_counts = True
    _module: ModuleType | None = None  # that is made; None while somebody only looks at its code

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code in it."""
        self._module = module
        try:
            super().exec_module(module)
        finally:
            self._module = None

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of the module's source as it is now."""
        data, status = self._at_hand = _read(self.path)
        _check(self.path, data)
        self._bytecode_counts = _is_bytecode_younger(self.path, status)
        try:
            code = super().get_code(fullname)
        finally:
            self._at_hand = None
        if self._module is not None:
            _NOTED[self._module] = Imported(self.path, data, status)
        return code

    def path_stats(self, path: str) -> dict[str, Any]:
        """Return time and size of the source: of what was read, not of what the file is by now."""
        if self._at_hand is None:
            return dict(super().path_stats(path))
        return {"mtime": self._at_hand[1].st_mtime, "size": self._at_hand[1].st_size}

    def get_data(self, path: str) -> bytes:
        """Return a file's content: the source once read, and bytecode that counts."""
        if self._at_hand is not None:
            if path == self.path:
                return self._at_hand[0]
            if not self._bytecode_counts:
                raise FileNotFoundError(path)
        return bytes(super().get_data(path))


class _CheckedBytecode(SourcelessFileLoader):
    """Makes a module of a compiled file that has no source, if what looks at sources accepts it."""

    def get_data(self, path: str) -> bytes:
        """Return a file's content."""
        data = bytes(super().get_data(path))
        _check(path, data)
        return data


class _CheckedExtension(ExtensionFileLoader):
    """Loads a compiled extension module, if what looks at sources accepts its file."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Load the file."""
        if SOURCE_CHECKS:
            _check(self.path, _read(self.path)[0])
        return super().create_module(spec)


_LOADERS: dict[type, Callable[[str, str], Any]] = {
    SourceFileLoader: _NotingLoader,
    SourcelessFileLoader: _CheckedBytecode,
    ExtensionFileLoader: _CheckedExtension,
}
"""What makes modules in place of Python's own loaders."""


def _check(path: str, data: bytes) -> None:
    """Let all that looks at sources look at a file.

    Raises:
        ImportError: It may not be run.
    """
    for check in SOURCE_CHECKS:
        check(path, data)


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """Read a file and its status, which are of one moment."""
    while True:
        with open(path, "rb") as file:
            before, data = os.fstat(file.fileno()), file.read()
            if facts_of(before) == facts_of(os.fstat(file.fileno())):
                return data, before


def facts_of(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what of a file's status changes when it does."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _is_settled_before(module: Any, status: os.stat_result, with_status: bool = True) -> bool:
    """Tell whether a file changed last before its module can have been imported; its content, or its status too.

    The begin of a process is known to a hundredth of a second, and the interpreter needs longer than that until it imports
    anything; so what is edited just before a command is no change. A shell that runs its last command in its own process
    (`sh -c "make install && brainsmith build ..."`) began long before Python did; so for what was imported after this
    package, the moment at which the package was imported counts.
    """
    moment = _BEGUN_NS + _BEGIN_TICK_NS if id(module) in _IMPORTED_BEFORE else _HERE_NS
    return max(status.st_mtime_ns, status.st_ctime_ns if with_status else 0) < moment


def _is_bytecode_younger(path: str, source: os.stat_result) -> bool:
    """Tell whether the bytecode that is kept of a source was surely written after the source changed last."""
    try:
        return is_older(source, os.stat(cache_from_source(path)).st_mtime_ns)
    except (OSError, NotImplementedError):
        return False


def _begun_ns() -> int:
    """Return when this process began; 0 where the system does not say so."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        since_boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return time.time_ns() - since_boot + ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


_BEGIN_TICK_NS = 10_000_000
_BEGUN_NS = _begun_ns()
_BEFORE = takewhile(lambda one: one[0] != "brainsmith", list(sys.modules.items()))
_IMPORTED_BEFORE = {id(module): module for _, module in _BEFORE}
_HERE_NS = IMPORTED_NS - _BEGIN_TICK_NS  # the times of files may be a tick behind the clock
