"""Find the plugins and bundles of a project: its `plugins` folder, and the folders that the settings name."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Adapter, Reading, scan_files, scan_listing
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.source_files import SourceFile
from brainsmith.settings import PROJECT_FOLDER

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.settings import Settings


class ProjectAdapter(Adapter):
    """Finds plugins in folders that belong to no installed package."""

    name = "project"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def folders(self) -> list[str]:
        """Return the folders that are scanned, each once: the project's own first."""
        own = [os.path.join(self.settings.project, "plugins")] if self.settings.project else []
        return list(dict.fromkeys([*own, *self.settings.plugin_folders]))

    def is_available(self) -> bool:
        """Tell whether any of the folders exists."""
        return any(os.path.isdir(folder) for folder in self.folders())

    def get_metadata(self) -> dict[str, Any]:
        """Return name, project and folders."""
        return {"name": self.name, "project": self.settings.project, "folders": self.folders()}

    def discover(self, reading: Reading) -> AdapterResult:
        """Scan the folders."""
        result = AdapterResult(self.name)
        present = []
        for folder in self.folders():
            result.watched.append(folder)
            if os.path.isdir(folder):
                present.append(folder)
                listing = reading.sources_in(folder, folder_module(folder))
                scan_listing(result, reading, listing, "project", {"folder": folder})
                if listing.manifests:
                    # hardly any project has bundles
                    from brainsmith.plugin.adapters.plugin_json import discover_manifests

                    discover_manifests(result, listing.manifests)
            elif folder in self.settings.plugin_folders:
                source = self.settings.sources.get("plugin_folders", "settings")
                text = f"plugin_folders names {folder}, which does not exist"
                result.problems.append(Problem(source, 0, 0, text))
        for folder in self.settings.overlooked_folders:
            if not any(f"{folder}{os.sep}".startswith(f"{read}{os.sep}") for read in self.folders()):
                self._mention(folder, result, reading)
        result.status = "available" if present else "absent"
        result.detail = ", ".join(present) if present else "no project with a plugins folder here"
        return result

    def _mention(self, folder: str, result: AdapterResult, reading: Reading) -> None:
        """Report a folder that is not read, if the files in it are plugins: whoever wrote them believes that it is."""
        result.watched.append(folder)
        module = folder_module(folder)
        files = [
            SourceFile(os.path.join(folder, name), f"{module}.{name[:-3]}", False)
            for name, _ in reading.definitions.entries(folder)
            if name.endswith(".py")
        ]
        found = AdapterResult(self.name)
        scan_files(found, reading, files, "project")
        result.watched.extend(found.watched)
        named: dict[str, list[PluginInfo]] = {}
        for info in found.records:
            named.setdefault(info.file, []).append(info)
        for file, records in named.items():
            names = ", ".join(f"{info.type} {info.name!r}" for info in records)
            verb = "is" if len(records) == 1 else "are"
            text = f"{names} {verb} not found, because nothing is read from {folder}: {self._advice(folder)}"
            result.problems.append(Problem(file, records[0].line, 0, text))
        if found.problems and not named:
            text = f"nothing is read from this folder: {self._advice(folder)}"
            result.problems.append(Problem(folder, 0, 0, text))
        result.problems.extend(found.problems)

    def _advice(self, folder: str) -> str:
        """Return what makes a folder one that is read."""
        holder, name = os.path.split(folder)
        right = os.path.join(holder, "plugins")
        verb = "move its files to" if os.path.isdir(right) else "rename it to"
        what = [] if name == "plugins" else [f"{verb} {right}"]
        if holder != self.settings.project:
            what.append(f"make the folder {os.path.join(holder, PROJECT_FOLDER)}, which marks a project")
        return ", and ".join(what)
