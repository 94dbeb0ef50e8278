"""What stands for the folders of this machine in what machines share, and for which discoveries they may share."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING, __version__
from brainsmith.plugin.distributions import GROUP, metadata_names, offers, search_folders
from brainsmith.plugin.precedence import ADAPTED

if TYPE_CHECKING:
    from brainsmith.settings import Settings

_FORM = 2

OWN = "own"
"""The name of this package's folder."""


class Places:
    """The folders in which the files of a discovery lie, each with a name that means the same on every machine.

    Attributes:
        folders: By name: this package's, the project's, those that the settings name, and those with distributions that
            count.
        content: What else decides what a discovery finds: what these distributions are, and the names in plugin folders.
    """

    def __init__(self, settings: Settings) -> None:
        found = _distributions()
        self.folders = {OWN: os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
        self._modules = {OWN: "brainsmith"}
        if settings.project:
            self.folders["project"] = settings.project
        plugin_folders = [os.path.join(settings.project, "plugins")] if settings.project else []
        plugin_folders += settings.plugin_folders
        for at, folder in enumerate((*plugin_folders, *settings.overlooked_folders)):
            from brainsmith.plugin.mounted_folders import folder_module  # many have no such folder

            self.folders[f"plugins{at}"] = folder
            self._modules[f"plugins{at}"] = folder_module(folder)
        for at, (folder, _) in enumerate(found):
            self.folders[f"packages{at}"] = folder
            self._modules[f"packages{at}"] = ""
        names = tuple(_names_in(folder) for folder in plugin_folders)
        self.content = (len(settings.overlooked_folders), names, tuple(content for _, content in found))

    def key(self, asked: object, settings: Settings) -> str:
        """Return the text that stands for a discovery on every machine.

        Args:
            asked: Its modes, frameworks and types.
            settings: Those that hold.
        """
        frameworks, _, groups, project, _, *more = settings.key()
        stated = (frameworks, groups, project is not None, *more)
        return repr((_FORM, __version__, sys.implementation.cache_tag, asked, stated, self.content))

    def module_of(self, place: str, path: str) -> str:
        """Return the name under which a file is imported; empty where no module lies there.

        Args:
            place: The name of a folder.
            path: Of the file, from there.
        """
        start = self._modules.get(place)
        if start is None or not path.endswith(".py"):
            return ""
        inside = path[:-3].removesuffix(f"{os.sep}__init__").replace(os.sep, ".")
        return start if inside == "__init__" else f"{start}.{inside}" if start else inside


def _names_in(folder: str) -> tuple[str, ...]:
    """Return the names of modules in a plugin folder: projects that have nothing in common differ in them."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(name for name in names if name.removesuffix(".py").isidentifier() and name != "__pycache__")


def _distributions() -> list[tuple[str, tuple[str, ...]]]:
    """Return the folders with what discovery reads of distributions: the frameworks, and whatever offers plugins."""
    found: dict[str, set[str]] = {}
    folders = search_folders()
    for folder, names in metadata_names(folders):
        framework = [name for name in names if name.lower().startswith(ADAPTED)]
        offering = [name for name in _with_entry_points(folder, names) if _offers(f"{folder}{os.sep}{name}")]
        counted = {*framework, *offering}
        if counted:
            found[folder] = counted
    for package in ADAPTED:
        for folder in folders:
            if os.path.exists(os.path.join(folder, package, "__init__.py")):
                found.setdefault(folder, set()).add(package)
                break
    return [(folder, tuple(sorted(found[folder]))) for folder in folders if folder in found]


def _with_entry_points(folder: str, names: list[str]) -> list[str]:
    """Return the metadata folders that have entry points: most have none, and this is the fastest way to know."""
    if not names:
        return []
    try:
        here = os.open(folder, os.O_RDONLY)
    except OSError:
        return names
    try:
        return [name for name in names if os.access(f"{name}{os.sep}entry_points.txt", os.F_OK, dir_fd=here)]
    finally:
        os.close(here)


def _offers(info: str) -> bool:
    try:
        return offers(info, GROUP)
    except OSError:  # discovery reports it, and then shares nothing
        return False
