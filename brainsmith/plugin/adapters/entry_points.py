"""Find the plugins that installed distributions offer through the entry point group `brainsmith.plugins`.

An entry point names a module or package, whose decorators are scanned, a decorated class or function, or a callable that
returns a table:

    {"kernels": [{"name": ..., "module": ..., "class_name": ...}], "backends": [...], "steps": [...]}

The table is read from the source where it is a literal there. Where it is computed, the callable runs once, in a child
process, so that discovery imports nothing into this one.
"""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Adapter, Reading, scan_files, scan_listing
from brainsmith.plugin.distributions import (
    GROUP,
    InfoFolder,
    distribution_key,
    info_folders,
    offers,
    search_folders,
)
from brainsmith.plugin.isolation import isolated, unreadable
from brainsmith.plugin.package_files import module_files
from brainsmith.plugin.precedence import framework_identifier
from brainsmith.plugin.source_files import SourceFile
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.settings import Settings


class EntryPoint:
    """One entry point of the group.

    Attributes:
        name: Its name in the group.
        module: The module that it names.
        attribute: The callable in it; empty if it names the module.
        distribution: The distribution's name.
        version: The distribution's version.
    """

    def __init__(self, name: str, value: str, distribution: str, version: str) -> None:
        self.name = name
        self.module, _, rest = value.partition(":")
        self.module = self.module.strip()
        self.attribute = rest.partition("[")[0].strip()
        self.distribution = distribution
        self.version = version

    @property
    def origin(self) -> str:
        """How messages name it."""
        return f"{self.distribution} {self.version}, entry point {self.name!r}"

    @property
    def extra(self) -> dict[str, Any]:
        """What the records of its plugins hold besides: by it trust knows where they come from."""
        return {"entry_point": self.name, "distribution_version": self.version}


class EntryPointAdapter(Adapter):
    """Finds the plugins of installed distributions."""

    name = "entry_points"

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = load_settings() if settings is None else settings

    def get_metadata(self) -> dict[str, Any]:
        """Return name and group."""
        return {"name": self.name, "group": GROUP}

    def discover(self, reading: Reading) -> AdapterResult:
        """List the group's entry points and scan what they name."""
        result = AdapterResult(self.name)
        listed = reading.definitions.made("entry points", lambda: _list_points(reading.frameworks))
        points, problems, watched = listed
        result.watched.extend(watched)
        result.problems.extend(Problem(*values) for values in problems)
        found = [EntryPoint(*values) for values in points]
        for point in found:
            own = AdapterResult(self.name)
            problem = isolated(point.origin, self._read, point, own, reading)
            result.add(own)
            if problem is not None:
                result.problems.append(problem)
        names = ", ".join(sorted({point.distribution for point in found}))
        result.detail = f"distributions: {names}" if names else "no installed distribution offers plugins"
        return result

    def _read(self, point: EntryPoint, result: AdapterResult, reading: Reading) -> None:
        """Read one entry point into an empty result; what an earlier attempt left there is dropped."""
        result.clear()
        files, folder = self._files(point.module, reading)
        if not files:
            result.watched.extend(search_folders())  # it may come
            text = f"it names the module {point.module!r}, which is not installed"
            result.problems.append(Problem(point.origin, 0, 0, text))
            return
        if point.attribute:
            # an entry point may name a module only
            from brainsmith.plugin.adapters.decorated_object import read_decorated
            from brainsmith.plugin.adapters.published_table import read_table

            if read_decorated(
                point, lambda module: self._files(module, reading)[0], result, reading, point.extra
            ):
                return
            result.watched.extend(file.path for file in files)
            read_table(point, files, result, reading.definitions, self.settings)
        elif folder:
            listing = reading.sources_in(folder, point.module)
            scan_listing(result, reading, listing, point.distribution, point.extra)
        else:
            scan_files(result, reading, files, point.distribution, point.extra)

    @staticmethod
    def _files(module: str, reading: Reading) -> tuple[list[SourceFile], str]:
        """Return what `module_files` does, of what is known of this discovery's files."""
        places, folder = reading.definitions.made(f"files of {module}", lambda: _plain_files(module))
        return [SourceFile(*place) for place in places], folder


def _list_points(frameworks: tuple[str, ...] | None) -> tuple[list[str], tuple[Any, ...]]:
    """Return the files that were read, and the entry points, the problems and those files in plain forms."""
    folders = search_folders()
    problems: list[Problem] = []
    watched = []
    offering = []
    for info in info_folders(folders):
        path = os.path.join(info.path, "entry_points.txt")
        try:
            if offers(info.path, GROUP):
                offering.append(info)
                watched.append(path)
        except OSError as error:
            watched.append(path)
            problems.append(unreadable(path, error))
    zipped = any(os.path.isfile(folder) for folder in folders if not folder.endswith(".zip"))
    points = list_entry_points(offering, zipped, frameworks, problems) if offering or zipped else []
    return watched, (points, [problem.to_plain() for problem in problems], watched)


def _plain_files(module: str) -> tuple[list[str], tuple[list[tuple[str, str, bool]], str]]:
    """Return the folders that would show that a module has come, and what `module_files` does, in plain form."""
    files, folder = module_files(module)
    plain = [(file.path, file.module, file.is_package) for file in files]
    return [] if files else search_folders(), (plain, folder)


def list_entry_points(
    offering: list[InfoFolder], zipped: bool, frameworks: tuple[str, ...] | None, problems: list[Problem]
) -> list[tuple[str, str, str, str]]:
    """Have stevedore list and filter the entry points of the group; nothing that they name is imported.

    Args:
        offering: The metadata folders that declare the group.
        zipped: Whether `sys.path` has archives too.
        frameworks: Only those of these distributions; None for all.
        problems: Gets what cannot be read.

    Returns:
        What each `EntryPoint` is made of, by distribution and name.
    """
    from brainsmith.plugin.adapters.group_listing import GroupListing  # imports stevedore

    names = None if frameworks is None else frozenset(map(framework_identifier, frameworks))
    listing = GroupListing(
        GROUP,
        offering,
        zipped,
        lambda offer: names is None or framework_identifier(distribution_key(offer.distribution)) in names,
    )
    problems.extend(listing.problems)
    offers = [extension.plugin for extension in listing]
    points = [(one.name, one.value, distribution_key(one.distribution), one.version) for one in offers]
    return sorted(points, key=lambda point: (point[2], point[0]))
