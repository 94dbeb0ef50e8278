"""Find the targets of a folder or package that discovery does not read by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.errors import PluginDefinitionError, PluginNotFoundError
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.adapter import Reading, scan_listing
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.package_files import package_folders

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo


def find_targets(package_path: str | os.PathLike[str]) -> list[PluginInfo]:
    """Return the records of the targets in a folder or package, which is read and not imported.

    Args:
        package_path: A folder, or the dotted name of a package that can be imported.

    Raises:
        PluginNotFoundError: There is no such folder or package.
        PluginDefinitionError: A file there cannot be read, or a decorator is invalid; all are named.
    """
    result, reading = AdapterResult("project"), Reading()
    folder = Path(package_path).absolute()
    if folder.is_dir():
        listing = reading.sources_in(str(folder), folder_module(str(folder)))
        scan_listing(result, reading, listing, "project", {"folder": str(folder)})
    else:
        name = os.fspath(package_path)
        scan_listing(result, reading, reading.sources_in(_package_folder(name), name), "project")
    if result.problems:
        raise PluginDefinitionError("\n".join(str(problem) for problem in result.problems))
    return [info for info in result.records if info.type == "target"]


def _package_folder(name: str) -> str:
    top, *inner = name.split(".")
    for folder in package_folders(top):
        place = Path(folder, *inner)
        if place.is_dir():
            return str(place)
    raise PluginNotFoundError(f"{name!r} is neither a folder nor a package that can be imported")
