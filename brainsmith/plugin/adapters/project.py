"""Find the plugins and bundles of a project: its `plugins` folder, and the folders that the settings name."""

from __future__ import annotations

import os

from brainsmith.errors import Problem
from brainsmith.plugin.adapters.adapter import Reading, scan_listing
from brainsmith.plugin.loading import folder_module
from brainsmith.plugin.snapshot import AdapterResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.settings import Settings


class ProjectAdapter:
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

    def discover_plugins(self) -> list[PluginInfo]:
        """Return the records of all plugins in the folders."""
        return self.discover(Reading()).records

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
                    from brainsmith.plugin.adapters.plugin_json import discover_manifests

                    discover_manifests(result, listing.manifests)
            elif folder in self.settings.plugin_folders:
                source = self.settings.sources.get("plugin_folders", "settings")
                result.problems.append(
                    Problem(source, 0, 0, f"plugin_folders names {folder}, which does not exist")
                )
        result.status = "available" if present else "absent"
        result.detail = ", ".join(present) if present else "no project with a plugins folder here"
        return result
