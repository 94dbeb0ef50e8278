"""Find the plugins that installed distributions offer through the entry point group `brainsmith.plugins`.

An entry point names a module or package, whose decorators are scanned, or a callable that returns a table:

    {"kernels": [{"name": ..., "module": ..., "class_name": ...}], "backends": [...], "steps": [...]}

The table is read from the source where it is a literal there. Where it is computed, the callable runs once, in a child
process, so that discovery imports nothing into this one.
"""

from __future__ import annotations

import os

from brainsmith.errors import Problem
from brainsmith.plugin.adapters.adapter import Reading, package_folders, scan_files, scan_listing
from brainsmith.plugin.distributions import InfoFolder, info_folders, offers, search_folders
from brainsmith.plugin.files import SourceFile, list_sources
from brainsmith.plugin.isolation import UNREADABLE, isolated, unreadable
from brainsmith.plugin.snapshot import AdapterResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

GROUP = "brainsmith.plugins"


class EntryPoint:
    """One entry point of the group.

    Attributes:
        name: Its name in the group.
        module: The module that it names.
        attribute: The callable in it; empty if it names the module.
        distribution: The distribution's name.
        version: The distribution's version.
    """

    __slots__ = ("attribute", "distribution", "module", "name", "version")

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


class EntryPointAdapter:
    """Finds the plugins of installed distributions."""

    name = "entry_points"

    def is_available(self) -> bool:
        """Tell that entry points can always be listed."""
        return True

    def discover_plugins(self) -> list[PluginInfo]:
        """Return the records of all plugins that distributions offer."""
        from brainsmith.settings import load_settings

        return self.discover(Reading(load_settings())).records

    def get_metadata(self) -> dict[str, Any]:
        """Return name and group."""
        return {"name": self.name, "group": GROUP}

    def discover(self, reading: Reading) -> AdapterResult:
        """List the group's entry points and scan what they name."""
        result = AdapterResult(self.name)
        folders = search_folders()
        infos = info_folders(folders)
        zipped = any(os.path.isfile(folder) for folder in folders if not folder.endswith(".zip"))
        offering = []
        for info in infos:
            path = os.path.join(info.path, "entry_points.txt")
            try:
                if offers(info, GROUP):
                    offering.append(info)
                    result.watched.append(path)
            except OSError as error:
                result.watched.append(path)
                result.problems.append(unreadable(path, error))
        found = list_entry_points(offering, zipped, result.problems) if offering or zipped else []
        for point in found:
            own = AdapterResult(self.name)
            problem = isolated(point.origin, self._read, point, own)
            result.add(own)
            if problem is not None:
                result.problems.append(problem)
        names = sorted({point.distribution for point in found})
        result.detail = (
            f"distributions: {', '.join(names)}" if names else "no installed distribution offers plugins"
        )
        return result

    def _read(self, point: EntryPoint, result: AdapterResult) -> None:
        """Read one entry point into an empty result; what an earlier attempt left there is dropped."""
        result.clear()
        files, folder = module_files(point.module)
        if not files:
            text = f"it names the module {point.module!r}, which is not installed"
            result.problems.append(Problem(point.origin, 0, 0, text))
            return
        if point.attribute:
            from brainsmith.plugin.adapters.published_table import read_table

            result.watched.extend(file.path for file in files)
            read_table(point, files, result)
        elif folder:
            scan_listing(result, list_sources(folder, point.module), point.distribution, _extra(point))
        else:
            scan_files(result, files, point.distribution, _extra(point))


def _extra(point: EntryPoint) -> dict[str, Any]:
    return {"entry_point": point.name, "distribution_version": point.version}


def list_entry_points(offering: list[InfoFolder], zipped: bool, problems: list[Problem]) -> list[EntryPoint]:
    """List the entry points of the group through stevedore, importing none.

    stevedore remembers its own list by times that it rounds to minutes, and without the distributions; so it is
    given the list that the metadata folders hold now.

    Args:
        offering: The metadata folders that declare the group.
        zipped: Whether `sys.path` has archives too, whose metadata only Python's own finders can read.
        problems: Where what cannot be read is told.
    """
    from importlib.metadata import PathDistribution, entry_points
    from pathlib import Path

    from stevedore import ExtensionManager

    found: list[tuple[Any, str, str]] = []
    for info in offering:
        try:
            entries = PathDistribution(Path(info.path)).entry_points.select(group=GROUP)
        except (*UNREADABLE, AttributeError) as error:  # whatever another's metadata may hold
            text = f"its entry points cannot be read: {error}"
            problems.append(Problem(os.path.join(info.path, "entry_points.txt"), 0, 0, text))
            continue
        found.extend((entry, info.name, info.version) for entry in entries)
    if zipped:
        known = {entry for entry, _, _ in found}
        try:
            found.extend(
                (entry, entry.dist.name, entry.dist.version)
                for entry in entry_points(group=GROUP)
                if entry not in known and entry.dist is not None
            )
        except (*UNREADABLE, AttributeError) as error:
            text = f"the entry points in the archives on sys.path cannot be read: {error}"
            problems.append(Problem("sys.path", 0, 0, text))
    ExtensionManager.ENTRY_POINT_CACHE[GROUP] = [entry for entry, _, _ in found]
    listed = ExtensionManager.make_test_instance([], namespace=GROUP).list_entry_points()
    points = [
        EntryPoint(entry.name, entry.value, distribution_key(name), version)
        for entry, (_, name, version) in zip(listed, found, strict=True)
    ]
    return sorted(points, key=lambda point: (point.distribution, point.name))


def distribution_key(name: str) -> str:
    """Return a distribution's name as package indexes compare them (PEP 503): `acme-plugins` for `Acme_Plugins`."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))


def module_files(module: str) -> tuple[list[SourceFile], str]:
    """Find a module's source without importing anything.

    Returns:
        Its file (as a list, empty if there is none), and its folder if it is a package.
    """
    top, *rest = module.split(".")
    folders = package_folders(top)
    if not folders:
        path = _single_module(top) if not rest else ""
        return ([SourceFile(path, module, False)] if path else []), ""
    for base in folders:
        folder = os.path.join(base, *rest)
        if os.path.isdir(folder):
            init = os.path.join(folder, "__init__.py")
            return [SourceFile(init, module, True)] if os.path.isfile(init) else [], folder
        if os.path.isfile(folder + ".py"):
            return [SourceFile(folder + ".py", module, False)], ""
    return [], ""


def _single_module(name: str) -> str:
    from importlib.util import find_spec

    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return ""
    return spec.origin if spec is not None and spec.origin and spec.origin.endswith(".py") else ""
