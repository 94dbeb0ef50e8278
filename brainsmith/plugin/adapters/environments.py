"""Find the plugins of other Python environments, which the setting `environments` names: nothing there is run.

What distributions offer there in the group `brainsmith.plugins` is scanned as that of this Python is. Transforms, steps and
ops can be used: a worker of their environment runs them.
"""

from __future__ import annotations

import importlib
import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginEnvironmentError, Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Adapter, Reading, scan_files, scan_listing
from brainsmith.plugin.adapters.entry_points import EntryPoint
from brainsmith.plugin.distributions import GROUP, distribution_key, info_folders, offers
from brainsmith.plugin.environments.place import READY, read_environment, root_of
from brainsmith.plugin.isolation import isolated, unreadable
from brainsmith.plugin.node_claims import op_type_of
from brainsmith.plugin.package_files import module_files

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.environments.place import PluginEnvironment
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.settings import Settings

USED = ("transform", "step", "op")
"""The plugin types that a worker runs."""


class EnvironmentPoint(EntryPoint):
    """An entry point of another environment, whose name is the framework of its plugins."""

    def __init__(
        self, environment: PluginEnvironment, name: str, value: str, owner: str, version: str
    ) -> None:
        super().__init__(name, value, environment.name, version)
        self._owner = owner

    @property
    def origin(self) -> str:
        """How messages name it."""
        return f"environment {self.distribution!r}: {self._owner} {self.version}, entry point {self.name!r}"


class EnvironmentAdapter(Adapter):
    """Finds the plugins of other environments."""

    name = "environments"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def is_available(self) -> bool:
        """Tell whether the settings name any."""
        return bool(self.settings.environments)

    def get_metadata(self) -> dict[str, Any]:
        """Return name and environments."""
        return {"name": self.name, "environments": sorted(self.settings.environments)}

    def discover(self, reading: Reading) -> AdapterResult:
        """Scan each environment."""
        result = AdapterResult(self.name)
        importlib.invalidate_caches()  # Python's finders keep what they listed within a tick of the clock
        said = []
        for name, stated in sorted(self.settings.environments.items()):
            root = root_of(name, stated)
            result.watched += [
                root,
                os.path.join(root, "pyvenv.cfg"),
                os.path.join(root, READY),
                stated["python"] or root,
            ]
            try:
                environment = read_environment(name, self.settings)
            except PluginEnvironmentError as error:
                source = self.settings.sources.get("environments", "settings")
                result.problems.append(Problem(source, 0, 0, str(error)))
                continue
            said.append(f"{name}: Python {environment.version}{self._read(environment, result, reading)}")
        result.status = "available" if said else "absent"
        result.detail = "; ".join(said) if said else "the settings name no environment that can be used"
        return result

    def _read(self, environment: PluginEnvironment, result: AdapterResult, reading: Reading) -> str:
        """Read all that an environment offers; say what of it is not used."""
        result.watched += environment.folders
        unused = []
        for point in self._points(environment, result):
            own = AdapterResult(self.name)
            problem = isolated(point.origin, self._scan, point, environment, own, reading)
            own.groups.clear()
            unused += [_shown(info) for info in own.records if info.type not in USED]
            own.records = [_foreign(info, environment) for info in own.records if info.type in USED]
            result.add(own)
            if problem is not None:
                result.problems.append(problem)
        return f" (only transforms, steps and ops are used, not {', '.join(unused)})" if unused else ""

    @staticmethod
    def _points(environment: PluginEnvironment, result: AdapterResult) -> list[EnvironmentPoint]:
        offering = []
        for info in info_folders(environment.folders):
            path = os.path.join(info.path, "entry_points.txt")
            try:
                if offers(info.path, GROUP):
                    offering.append(info)
                    result.watched.append(path)
            except OSError as error:
                result.problems.append(unreadable(path, error))
        if not offering:
            return []
        # importlib.metadata costs as much as a cached discovery does
        from brainsmith.plugin.adapters.offers import offers_of

        return [
            EnvironmentPoint(
                environment, one.name, one.value, distribution_key(one.distribution), one.version
            )
            for one in offers_of(offering, GROUP, result.problems)
        ]

    def _scan(
        self, point: EnvironmentPoint, environment: PluginEnvironment, result: AdapterResult, reading: Reading
    ) -> None:
        """Read one entry point into an empty result; what an earlier attempt left there is dropped."""
        result.clear()
        files, folder = module_files(point.module, environment.folders)
        if not files:
            text = f"it names the module {point.module!r}, which is not installed there"
            result.problems.append(Problem(point.origin, 0, 0, text))
            return
        extra = {"entry_point": point.name, "distribution_version": point.version}
        if point.attribute:
            # an entry point may name a module only
            from brainsmith.plugin.adapters.decorated_object import read_decorated

            if read_decorated(
                point, lambda module: module_files(module, environment.folders)[0], result, reading, extra
            ):
                return
            result.watched.extend(file.path for file in files)
            self._read_table(point, files[0].path, result, reading, extra)
        elif folder:
            scan_listing(result, reading, reading.sources_in(folder, point.module), point.distribution, extra)
        else:
            scan_files(result, reading, files, point.distribution, extra)

    def _read_table(
        self,
        point: EnvironmentPoint,
        path: str,
        result: AdapterResult,
        reading: Reading,
        extra: dict[str, str],
    ) -> None:
        """Enter what a table says that is a literal; one that is computed would run code of the environment."""
        # an entry point may name a module only
        from brainsmith.plugin.adapters.published_table import literal_table, read_table
        from brainsmith.plugin.source_files import SourceFile

        if literal_table(path, point.attribute) is None:
            text = (
                f"{point.module}:{point.attribute} is no decorated plugin, and no function that returns a literal table: "
                "discovery runs no code of another environment"
            )
            result.problems.append(Problem(point.origin, 0, 0, text))
            return
        read_table(point, [SourceFile(path, point.module, False)], result, reading.definitions, self.settings)
        result.records = [info.replace(extra={**info.extra, **extra}) for info in result.records]


def _shown(info: PluginInfo) -> str:
    """Return how messages name what is not used; a hardware operator with the type of its nodes."""
    op_type = op_type_of(info)
    nodes = f" (nodes {op_type!r})" if info.type in ("kernel", "backend") and op_type != info.name else ""
    return f"{info.type} {info.name!r}{nodes}"


def _foreign(info: PluginInfo, environment: PluginEnvironment) -> PluginInfo:
    """Return a record as that of a plugin of another environment.

    Several environments may have one module: the reference says whose it is, so that each has an object of its own.
    """
    where = {
        "environment": environment.name,
        "folder": environment.root,
        "python": environment.python,
        "python_version": environment.version,
        "folders": tuple(environment.folders),
        "time_limit": environment.time_limit,
    }
    return info.replace(reference=f"{environment.name}@{info.reference}", extra={**info.extra, **where})
