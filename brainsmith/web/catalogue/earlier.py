"""The catalogue that a folder holds: what its `catalogue.json` states, and which files it made."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from brainsmith.web.catalogue.changes import LISTS
from brainsmith.web.catalogue.site import DATA, SCHEMA

_SIDES = {"before", "after"}


def read_earlier(folder: Path) -> dict[str, Any] | None:
    """Return what the catalogue in a folder states; None where no readable one is."""
    try:
        found = json.loads((folder / DATA).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if _is_catalogue(found) else None


def other_files(folder: Path, earlier: dict[str, Any]) -> list[str]:
    """Return the files in a folder that the catalogue in it did not make, links to folders among them."""
    ours = {*earlier["files"], *(plugin.get("page", "") for plugin in earlier["plugins"].values())}
    others = []
    for place, folders, names in os.walk(folder):
        inside = Path(place)
        found = [inside / name for name in names] + [
            path for path in map(inside.joinpath, folders) if path.is_symlink()
        ]
        others += [str(path.relative_to(folder)) for path in found]
    return sorted(set(others) - ours)


def _is_catalogue(found: Any) -> bool:
    """Tell whether a value is what `catalogue.json` holds, as far as it is read."""
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return False
    files, plugins, changes = (found.get(name) for name in ("files", "plugins", "changes"))
    return (
        isinstance(files, list)
        and all(isinstance(name, str) for name in files)
        and isinstance(plugins, dict)
        and all(map(_is_plugin, plugins.values()))
        and isinstance(changes, list)
        and all(map(_is_change, changes))
    )


def _is_plugin(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    texts = [found.get(name) for name in ("type", "framework", "name")]
    return all(isinstance(text, str) for text in (*texts, found.get("page", "")))


def _is_change(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    lists = [found.get(name) for name in LISTS]
    counts, providers = found.get("plugins"), found.get("providers")
    return (
        all(isinstance(one, list) and all(map(_is_listed, one)) for one in lists)
        and _has_sides(counts, int)
        and _has_sides(providers, list)
        and all(isinstance(name, str) for side in _SIDES for name in found["providers"][side])
    )


def _is_listed(found: Any) -> bool:
    """Tell whether a value is a plugin in one of the lists of a change."""
    if not _is_plugin(found) or not isinstance(found.get("key"), str):
        return False
    fields = found.get("fields", {})
    return isinstance(fields, dict) and all(_has_sides(one, object) for one in fields.values())


def _has_sides(found: Any, kind: type) -> bool:
    return (
        isinstance(found, dict)
        and set(found) >= _SIDES
        and all(isinstance(found[side], kind) for side in _SIDES)
    )
