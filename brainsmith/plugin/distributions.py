"""Look at the installed distributions: the names and times of their dist-info folders, no importlib.metadata."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.source_files import read_source
from brainsmith.store.files import read_bytes, stamp, working_folder

GROUP = "brainsmith.plugins"
"""The entry point group through which distributions offer plugins."""

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSTALLED = ("site-packages", "dist-packages")
_SUFFIXES = (".dist-info", ".egg-info")


class InfoFolder:
    """One distribution's metadata folder.

    Attributes:
        path: The `.dist-info` or `.egg-info` folder.
        name: The distribution's name, as in the folder's name.
        version: Its version; empty where the folder's name has none.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        stem = os.path.basename(path).rpartition(".")[0]
        self.name, _, rest = stem.partition("-")
        self.version = rest.partition("-")[0]


def search_folders() -> list[str]:
    """Return the folders on `sys.path` that can hold distributions, each once: all but the standard library's."""
    library = os.path.dirname(os.__file__)
    own = (library, os.path.join(library, "lib-dynload"))
    found = []
    for path in sys.path:
        folder = path or working_folder()
        if folder and folder not in own and folder not in found:
            found.append(folder if folder.startswith(os.sep) else os.path.abspath(folder))
    return found


def environment(packages: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return what changes when a distribution is installed, upgraded or removed, or is found elsewhere.

    Args:
        packages: Top-level packages whose place matters.

    Returns:
        The metadata folders by search folder, then the place of each package on `sys.path` (empty for one that is
        found in another way).
    """
    folders = search_folders()
    state: list[tuple[str, ...]] = []
    for folder in folders:
        if os.path.basename(folder) in _INSTALLED:  # only installers write there, so its own time shows it
            state.append((folder, str(stamp(folder))))
            continue
        try:
            names = [name for name in os.listdir(folder) if name.endswith(_SUFFIXES)]
        except OSError:
            continue
        if names:
            names.sort()
            state.append((folder, *names, *(str(stamp(os.path.join(folder, name))) for name in names)))
    for package in packages:
        suffix = os.path.join(package, "__init__.py")
        state.append((package, next((f for f in folders if os.path.exists(os.path.join(f, suffix))), "")))
    return tuple(state)


def metadata_names(folders: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder that can be listed, with the names of the metadata folders in it, sorted."""
    for folder in folders:
        try:
            yield folder, sorted(name for name in os.listdir(folder) if name.endswith(_SUFFIXES))
        except OSError:
            continue


def info_folders(folders: list[str]) -> list[InfoFolder]:
    """Return the metadata folders in some folders; the first of a name wins, however it is spelled, as for Python."""
    return list(installed(folders).values())


def installed(folders: list[str] | None = None) -> dict[str, InfoFolder]:
    """Return the distributions in some folders, or else this Python's, by their names as indexes compare them."""
    found: dict[str, InfoFolder] = {}
    for folder, names in metadata_names(search_folders() if folders is None else folders):
        for name in names:
            info = InfoFolder(f"{folder}{os.sep}{name}")
            found.setdefault(distribution_key(info.name), info)
    return found


def installed_versions() -> dict[str, str]:
    """Return the version of each distribution that Python finds, by its name as package indexes compare them."""
    return {name: version_in(info) for name, info in installed().items()}


def version_in(info: InfoFolder) -> str:
    """Return a distribution's version, which is read from its metadata where the folder's name has none."""
    return info.version or dict(metadata(info)).get("Version", "")


def metadata(info: InfoFolder) -> list[tuple[str, str]]:
    """Return the fields of a distribution's metadata, each with its value, in order; none where it cannot be read."""
    for name in ("METADATA", "PKG-INFO"):  # an `.egg-info` has the second
        try:
            text = read_bytes(os.path.join(info.path, name)).decode("utf-8", "replace")
            break
        except OSError:
            continue
    else:
        return []
    fields = (line.partition(": ") for line in text.partition("\n\n")[0].splitlines())
    return [(name, value.strip()) for name, colon, value in fields if colon]


def offers(info: str, group: str) -> bool:
    """Tell whether a distribution declares entry points of a group, by a look at the text.

    Args:
        info: Its metadata folder.
        group: The group.

    Raises:
        OSError: The text is there and cannot be read.
    """
    try:
        return f"[{group}]".encode() in read_source(os.path.join(info, "entry_points.txt"))
    except (FileNotFoundError, NotADirectoryError):  # most declare none; an `.egg-info` may be one file
        return False


def version_of_package(package: str, places: list[str] | None = None) -> str:
    """Return the version of the distribution that installed a top-level package; empty if that is not recorded.

    Args:
        package: Its name.
        places: The folders in which Python finds it, if that is known; another copy's distribution says nothing of
            this one.
    """
    prefix = package.lower()
    named = [info for info in info_folders(search_folders()) if info.name.lower().startswith(prefix)]
    if len(named) == 1 and places == [os.path.join(os.path.dirname(named[0].path), package)]:
        return named[0].version  # reading its list of files would only confirm it
    for info in named:
        if _installs(info, package, places):
            return info.version
    return ""


def _installs(info: InfoFolder, package: str, places: list[str] | None) -> bool:
    wanted = f"{package}/".encode()
    for file in ("RECORD", "SOURCES.txt", "top_level.txt"):
        try:
            data = read_bytes(os.path.join(info.path, file))
        except OSError:
            continue
        if data.startswith(wanted) or b"\n" + wanted in data:
            return places is None or os.path.join(os.path.dirname(info.path), package) in places
        if file == "top_level.txt" and data.strip() == package.encode():
            return True  # installed in place, from its sources
    return False


def distribution_key(name: str) -> str:
    """Return a distribution's name as package indexes compare them (PEP 503): `acme-plugins` for `Acme_Plugins`."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))
