"""Copy results of steps to a shared cache, or from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from brainsmith.build.keys import framework_versions, plugin_sources
from brainsmith.build.shared_results import INDEX, KIND, META
from brainsmith.store.shared.shared_cache import HERE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from brainsmith.build.cache import BuildCache
    from brainsmith.build.shared_results import SharedResults


def push_results(cache: BuildCache, shared: SharedResults) -> Iterator[str]:
    """Write all results that machines may share; yield for each why it was not written, empty if it was."""
    there = frozenset(shared.cache.keys(KIND))
    for key in cache.entry_keys():
        if shared.cache.is_resting:
            return
        yield cache.offer(key, shared, there)


def pull_results(cache: BuildCache, shared: SharedResults, folders: Iterable[Path]) -> Iterator[str]:
    """Keep all results that hold here; yield for each that is there why it was not copied, empty if it was.

    Args:
        cache: Where they are kept.
        shared: Where they are.
        folders: Where plugins lie that belong to no framework.
    """
    current = {
        "plugins": plugin_sources(folders),
        "frameworks": json.dumps(framework_versions(), sort_keys=True),
    }
    for place in shared.cache.keys(KIND):
        if shared.cache.is_resting:
            return
        if not place.endswith(f"-{INDEX}"):
            files = shared.entry(place)
            if files is None:
                yield "it is damaged, or holds what may not be shared"
                continue
            parts = shared.portable.local(json.loads(files[META])["parts"], current)
            if parts is None:
                yield "it is of other plugins or frameworks, or of another kind of machine"
            else:
                yield _install(cache, shared, parts, files)


def _install(cache: BuildCache, shared: SharedResults, parts: dict[str, str], files: dict[str, bytes]) -> str:
    before = frozenset(cache.entry_keys())
    try:
        return HERE if cache.install(parts, files, shared) in before else ""
    except OSError as error:
        return f"it cannot be written here: {error.strerror}"
