"""Find this package's own plugins: the decorators in its plugin folders."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING, __version__
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Adapter, Reading, scan_listing

if TYPE_CHECKING:
    from typing import Any


PLUGIN_FOLDERS = ("transforms", "kernels", "backends", "steps", "ops", "targets")
"""The folders of this package that hold plugins."""


class BrainSmithAdapter(Adapter):
    """Finds the plugins that come with BrainSmith."""

    name = "brainsmith"

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

    def get_metadata(self) -> dict[str, Any]:
        """Return name, version and folder."""
        return {"name": self.name, "version": __version__, "folder": self.folder}

    def discover(self, reading: Reading) -> AdapterResult:
        """Scan the plugin folders."""
        result = AdapterResult(self.name)
        result.version = __version__
        result.watched.append(self.folder)
        for name in PLUGIN_FOLDERS:
            listing = reading.sources_in(os.path.join(self.folder, name), f"brainsmith.{name}")
            scan_listing(result, reading, listing, "brainsmith")
        result.detail = f"own plugins in {self.folder}"
        return result
