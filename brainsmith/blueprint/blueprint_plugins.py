"""Load the plugins that a blueprint names, and no others.

From its second use on in a fresh process this takes a few milliseconds: which plugins a blueprint names is
kept, by the blueprint's path and content and by what discovery read, so that neither yaml nor the resolver
is imported.
"""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import BlueprintError
from brainsmith.plugin.collections import CLASSES, Collection
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.store.files import read_bytes
from brainsmith.store.fingerprint import digest
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.blueprint.schema import Blueprint
    from brainsmith.blueprint.selection import Selection
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.manager import PluginManager
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.store.about import About

_COLLECTIONS = {"transforms": "transform", "kernels": "kernel", "backends": "backend", "steps": "step"}


def load_blueprint_plugins(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a blueprint and return collections of the plugins that it names; each is imported when first used.

    With the setting `discovery_mode: blueprint` the door (`brainsmith.plugins`) shows the same plugins from
    now on.

    Args:
        path: The blueprint.

    Returns:
        `transforms`, `kernels`, `backends`, `steps`: collections; `skipped`: what is optional and absent, and
        why.

    Raises:
        BlueprintError: All errors of the file.
    """
    manager = get_plugin_manager()
    records, skipped = _named(os.fspath(path), manager)
    manager.use_blueprint(os.fspath(path), records)
    named = frozenset((info.type, info.reference) for info in records)
    names = ", ".join(info.name for info in records) or "none"
    restriction = f"there are only the plugins that {os.fspath(path)} names: {names}"

    def registry() -> Registry:
        return manager.all_records()[0].part(named, restriction)

    collections = {key: CLASSES.get(kind, Collection)(kind, registry) for key, kind in _COLLECTIONS.items()}
    return {**collections, "skipped": list(skipped)}


def select_blueprint(path: str | os.PathLike[str], *, files: bool = True) -> tuple[Blueprint, Selection]:
    """Read a blueprint and look up its names, as `check_blueprint` does; kept while nothing has changed.

    Args:
        path: The file.
        files: Whether the golden data's files must be there.

    Raises:
        BlueprintError: All errors of the file.
    """
    from brainsmith.blueprint.plain import FORM, from_plain

    entry = _KeptBlueprint(os.fspath(path), get_plugin_manager())
    plain = entry.load()
    if plain is None or plain[3] != FORM:
        return entry.read(files)
    blueprint, selection = from_plain(plain[4], entry.registry)
    if files:
        from brainsmith.blueprint.loader import missing_files

        missing = missing_files(blueprint)
        if missing:
            raise BlueprintError(missing)
    return blueprint, selection


def _named(path: str, manager: PluginManager) -> tuple[tuple[PluginInfo, ...], tuple[str, ...]]:
    entry = _KeptBlueprint(path, manager)
    plain = entry.load()
    if plain is not None:
        names, skipped = plain[1:3]
        found = [entry.registry.scanned(plugin_type, reference) for plugin_type, reference in names]
        records = tuple(info for info in found if info is not None)
        if len(records) == len(names):
            return records, skipped
    selection = entry.read(files=False)[1]
    return selection.records, selection.skipped


class _KeptBlueprint:
    """What is kept on disk of one blueprint: its plugins, its messages, and all of it in its plain form."""

    def __init__(self, path: str, manager: PluginManager) -> None:
        self.registry, identity = manager.all_records()
        self._path = path
        # Messages show the path as it was written, so that is part of the key.
        self._absolute = os.path.abspath(path)  # noqa: PTH100  (pathlib takes longer than all of this)
        self._kept = Kept(manager.settings.cache_dir, "blueprints", f"{self._absolute}|{path}")
        try:
            content = read_bytes(path)
        except OSError:  # reading it says so
            content = b""
        self._stamp = (content, identity)

    def load(self) -> Any:
        """Give what is kept; None if there is nothing, or something has changed since, such as a file that it extends."""
        plain = None if self.registry.has_run_time_plugins() else self._kept.load(self._stamp)
        return plain if plain is not None and all(_digest_is(*file) for file in plain[0].items()) else None

    def read(self, files: bool) -> tuple[Blueprint, Selection]:
        """Read and resolve the file, and keep the result."""
        from brainsmith.blueprint.plain import FORM, to_plain
        from brainsmith.blueprint.resolve import check_blueprint

        blueprint, selection = check_blueprint(self._path, self.registry, files=files)
        if not self.registry.has_run_time_plugins():
            names = [(info.type, info.reference) for info in selection.records]
            sources = dict(blueprint.sources)
            about: About = {"of": self._path, "files": sources, "origin": {}}
            plain = (sources, names, selection.skipped, FORM, to_plain((blueprint, selection)))
            self._kept.save(self._stamp, plain, about)
        return blueprint, selection


def _digest_is(path: str, known: str) -> bool:
    """Tell whether a file still has the content with a digest."""
    try:
        return digest(read_bytes(path)) == known
    except OSError:
        return False
