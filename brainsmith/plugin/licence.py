"""Under which licence a plugin is: as its record states, or else as its distribution does."""

from __future__ import annotations

import os

from brainsmith.plugin.distributions import distribution_key, info_folders, search_folders
from brainsmith.store.files import read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

_DISTRIBUTIONS = {"finn": ("finn-plus", "finn")}
"""Of frameworks whose distribution has another name."""

_CLASSIFIER = "License :: "


def licence_of(info: PluginInfo) -> str:
    """Return an SPDX expression, or what the distribution's metadata says in its place; empty if nothing does."""
    stated = info.extra.get("license")
    if stated:
        return str(stated)
    names = _DISTRIBUTIONS.get(info.framework, (distribution_key(info.framework),))
    for folder in info_folders(search_folders()):
        if distribution_key(folder.name) in names:
            return _of_metadata(folder.path)
    return ""


def _of_metadata(folder: str) -> str:
    """Return what a metadata folder says: an expression, a short text, classifiers, or else the name of the file."""
    try:
        text = read_bytes(os.path.join(folder, "METADATA")).decode("utf-8", "replace")
    except OSError:
        return ""
    found: dict[str, list[str]] = {}
    for line in text.partition("\n\n")[0].splitlines():
        name, colon, value = line.partition(": ")
        if colon:
            found.setdefault(name, []).append(value.strip())
    for name in ("License-Expression", "License"):
        if name in found:
            return found[name][0]
    classified = [value for value in found.get("Classifier", ()) if value.startswith(_CLASSIFIER)]
    if classified:
        return " AND ".join(value.rpartition(" :: ")[2] for value in classified)
    files = [name for name in found.get("License-File", ()) if "licen" in name.lower()]
    return f"see {files[0]}" if files else ""
