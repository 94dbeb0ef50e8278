"""Load the plugins that a blueprint names, and no others.

From its second use on in a fresh process this takes a few milliseconds: which plugins a blueprint names is
kept, by the blueprint's path, size and time and by what discovery read, so that neither yaml nor the resolver
is imported.
"""

from __future__ import annotations

import os

from brainsmith.kept import Kept
from brainsmith.plugin.collections import collection
from brainsmith.plugin.files import stamp
from brainsmith.plugin.manager import get_plugin_manager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.manager import PluginManager
    from brainsmith.plugin.registry import Registry

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
    only = frozenset((info.type, info.reference) for info in records)
    registry = _whole(manager)
    plugins: dict[str, Any] = {key: collection(kind, registry, only) for key, kind in _COLLECTIONS.items()}
    plugins["skipped"] = list(skipped)
    return plugins


def _whole(manager: PluginManager) -> Any:
    def whole() -> Registry:
        return manager.all_records()[0]

    return whole


def _named(path: str, manager: PluginManager) -> tuple[tuple[PluginInfo, ...], tuple[str, ...]]:
    registry, identity = manager.all_records()
    absolute = os.path.abspath(path)  # noqa: PTH100  (pathlib takes longer than all of this)
    kept = Kept(manager.settings.cache_dir, "blueprints", absolute)
    file_stamp = (stamp(path), identity)
    plain = kept.load(file_stamp)
    if plain is not None:
        names, skipped = plain
        found = [registry.scanned(plugin_type, reference) for plugin_type, reference in names]
        records = tuple(info for info in found if info is not None)
        if len(records) == len(names):
            return records, skipped
    selection = _resolve(path, registry)
    records = tuple(selection.records)
    if all(registry.scanned(info.type, info.reference) for info in records):  # none was made at run time
        kept.save(file_stamp, ([(info.type, info.reference) for info in records], tuple(selection.skipped)))
    return records, tuple(selection.skipped)


def _resolve(path: str, registry: Registry) -> Any:
    from brainsmith.blueprint.resolve import check_blueprint

    return check_blueprint(path, registry, files=False)[1]
