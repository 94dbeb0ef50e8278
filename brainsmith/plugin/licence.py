"""Under which licence a plugin is: as its record states, or else as its distribution does."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.distributions import distribution_key, info_folders, metadata, search_folders

if TYPE_CHECKING:
    from brainsmith.plugin.distributions import InfoFolder
    from brainsmith.plugin.info import PluginInfo

_DISTRIBUTIONS = {"finn": ("finn-plus", "finn")}
"""Of frameworks whose distribution has another name."""

_CLASSIFIER = "License :: "


def licence_of(info: PluginInfo) -> str:
    """Return an SPDX expression, or what the distribution's metadata says in its place; empty if nothing does."""
    stated = info.extra.get("license")
    if stated:
        return str(stated)
    folder = distribution_of(info.framework)
    return "" if folder is None else stated_by(folder)


def licence_of_distribution(*names: str, version: str = "") -> str:
    """Return what the metadata of the first installed distribution of some names says; empty if nothing does.

    Args:
        names: As package indexes compare them.
        version: The version that must be installed; empty for any.
    """
    folder = _installed(names, version)
    return "" if folder is None else stated_by(folder)


def distribution_of(framework: str) -> InfoFolder | None:
    """Return the metadata folder of the distribution that a framework's plugins come from; None if it is not installed."""
    return _installed(_DISTRIBUTIONS.get(framework, (distribution_key(framework),)))


def _installed(names: tuple[str, ...], version: str = "") -> InfoFolder | None:
    for folder in info_folders(search_folders()):
        if distribution_key(folder.name) in names and version in ("", folder.version):
            return folder
    return None


def stated_by(folder: InfoFolder) -> str:
    """Return the licence that a metadata folder states: an expression, a short text, classifiers, or the name of a file."""
    found: dict[str, list[str]] = {}
    for name, value in metadata(folder):
        found.setdefault(name, []).append(value)
    for name in ("License-Expression", "License"):
        if name in found:
            return found[name][0]
    classified = [value for value in found.get("Classifier", ()) if value.startswith(_CLASSIFIER)]
    if classified:
        return " AND ".join(value.rpartition(" :: ")[2] for value in classified)
    files = [name for name in found.get("License-File", ()) if "licen" in name.lower()]
    return f"see {files[0]}" if files else ""
