"""Adapters find the plugins of one source (a framework, a project, installed packages) without importing them."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.classes import Classes
from brainsmith.plugin.definitions import Definitions
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.isolation import unreadable
from brainsmith.plugin.package_files import package_folders
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.scan import may_hold_plugins
from brainsmith.plugin.source_files import Listing, SourceFile, list_sources, source_or_nothing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from brainsmith.plugin.questions import Answers


class Reading:
    """What the adapters of one discovery share: what is known of files, and every package that one read.

    FINN's classes descend from QONNX's, so both adapters need QONNX's files; they are read once.

    Attributes:
        definitions: What is known of files that have not changed.
        earlier: What each adapter found before something changed, by the adapter's name; empty if nothing is known.
        changed: The files and folders that changed since, and what was known of each that is a file.
        frameworks: Those that are asked for; None for all.
        expected: The packages that will be asked for, so that ancestry is worked out once for all of them.
    """

    def __init__(
        self,
        definitions: Definitions | None = None,
        earlier: dict[str, AdapterResult] | None = None,
        changed: dict[str, dict[tuple[str, bool], Answers]] | None = None,
        frameworks: tuple[str, ...] | None = None,
        expected: tuple[str, ...] = (),
    ) -> None:
        self.definitions = Definitions() if definitions is None else definitions
        self.earlier = earlier or {}
        self.changed = changed or {}
        self.frameworks = frameworks
        self._sources: dict[tuple[str, str, bool], PythonSource] = {}
        self._packages: dict[str, Package | None] = {}
        self._classes: dict[tuple[str, ...], Classes] = {}
        self.expected = expected

    def source(self, file: SourceFile) -> PythonSource:
        """Return a file's source; the same for all who ask in this discovery.

        Raises:
            OSError: The file cannot be read.
        """
        key = (file.path, file.module, file.is_package)
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = self.definitions.source(file)
        return source

    def sources(self, files: Iterable[SourceFile], problems: list[Problem]) -> Iterator[PythonSource]:
        """Yield the source of each file; those that cannot be read are noted as problems."""
        for file in files:
            try:
                source = self.source(file)
            except OSError as error:
                problems.append(unreadable(file.path, error))
            else:
                yield source

    def sources_in(self, folder: str, module: str) -> Listing:
        """List the Python files that can be imported below a folder."""
        return list_sources(folder, module, self.definitions.entries)

    def folders_of(self, package: str) -> list[str]:
        """Return the folders of a top-level package; empty if it is not installed."""
        found = self.definitions.made(f"folders of {package}", lambda: ((), package_folders(package)))
        folders: list[str] = found
        return folders

    def package(self, name: str) -> Package | None:
        """Read an installed top-level package; None if it is not installed."""
        if name not in self._packages:
            folders = self.folders_of(name)
            self._packages[name] = Package(name, folders, self) if folders else None
        return self._packages[name]

    def classes(self, packages: tuple[str, ...]) -> Classes:
        """Return the classes of some packages, and of all that are expected to be asked for, that can be plugins."""
        wanted = tuple(dict.fromkeys([*self.expected, *packages]))
        if wanted not in self._classes:
            present = [package for name in wanted if (package := self.package(name)) is not None]
            self._classes[wanted] = Classes(present)
        return self._classes[wanted]


class Adapter:
    """Finds the plugins of one source.

    Attributes:
        name: As it stands in the setting `frameworks`, and in health.
    """

    name = ""

    def is_available(self) -> bool:
        """Tell whether there is anything to read; True unless an adapter overrides it."""
        return True

    def discover_plugins(self) -> list[PluginInfo]:
        """Return the records of all its plugins."""
        return self.discover(Reading()).records

    def discover(self, reading: Reading) -> AdapterResult:
        """Find plugins, groups and problems, and note the files on which the result depends."""
        raise NotImplementedError


class Package:
    """A package's files, read.

    Attributes:
        folders: Where it lies; several for a namespace package.
        sources: Its Python files.
        watched: Every file and folder that was listed.
        problems: The files that could not be read.
    """

    def __init__(self, name: str, folders: list[str], reading: Reading) -> None:
        self.name = name
        self.folders = folders
        self.sources: list[PythonSource] = []
        self.watched: list[str] = []
        self.problems: list[Problem] = []
        for folder in folders:
            listing = reading.sources_in(folder, name)
            self.watched.extend(listing.folders)
            self.problems.extend(unreadable(*closed) for closed in listing.closed)
            self.watched.extend(file.path for file in listing.files)
            self.sources.extend(reading.sources(listing.files, self.problems))


def scan_files(
    result: AdapterResult,
    reading: Reading,
    files: Sequence[SourceFile],
    framework: str,
    extra: dict[str, str] | None = None,
) -> None:
    """Scan files for decorated plugins, into a result."""
    more = tuple((extra or {}).items())
    result.watched.extend(file.path for file in files)
    for source in reading.sources(files, result.problems):
        records, groups, problems = source.ask("decorated", framework, more)
        if records:
            result.records.extend(map(PluginInfo.from_plain, records))
        if groups:
            result.groups.update(groups)
        if problems:
            result.problems.extend(Problem(*values) for values in problems)


def scan_listing(
    result: AdapterResult,
    reading: Reading,
    listing: Listing,
    framework: str,
    extra: dict[str, str] | None = None,
) -> None:
    """Scan a folder's listing for decorated plugins, into a result."""
    result.watched.extend(listing.folders)
    result.problems.extend(unreadable(*closed) for closed in listing.closed)
    scan_files(result, reading, listing.files, framework, extra)
    for path in listing.misnamed:
        result.watched.append(path)
        if may_hold_plugins(source_or_nothing(path)):
            text = "its name is not a Python identifier, so it cannot be imported and its plugins are not found: rename it"
            result.problems.append(Problem(path, 0, 0, text))
