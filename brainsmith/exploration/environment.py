"""What a point is built with: packages, tools and plugins, by content, so that two machines can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata, util
from pathlib import Path

from brainsmith.build.keys import (
    LIBRARIES,
    PACKAGES,
    framework_versions,
    plugin_places,
    plugin_sources,
    python_version,
    source_files,
)
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.tools import find_tools
from brainsmith.settings import load_settings
from brainsmith.store.fingerprint import digest
from brainsmith.store.reads import file_digest

Environment = Mapping[str, Mapping[str, str]]
"""By kind (`package`, `tool`, `plugin`, `plugin file`) a version, or a digest, for each name."""

_MOST = 6
_NOT_USED = ("vivado", "cargo")
"""Tools that no point needs."""

_SHORT = 12


def fingerprint() -> str:
    """Return what stands for the environment of this process, as the keys of steps have it; it holds on this machine."""
    registry, _ = get_plugin_manager().all_records()
    sources = plugin_sources(plugin_places(load_settings(), registry))
    return digest(json.dumps([framework_versions(), sources], sort_keys=True))


def environment() -> Environment:
    """Return the environment of this process, which is the same on every machine that has the same."""
    registry, _ = get_plugin_manager().all_records()
    own = [info for info in registry.records() if info.file and info.framework not in FRAMEWORKS]
    return {
        "package": dict(_packages()),
        "tool": {
            tool.name: tool.version or tool.status for tool in find_tools() if tool.name not in _NOT_USED
        },
        "plugin": {
            f"{info.framework}:{info.name} ({info.type})": file_digest(info.file)[:_SHORT] for info in own
        },
        "plugin file": dict(_plugin_files(plugin_places(load_settings(), registry))),
    }


def differences(here: Environment, there: Environment) -> list[str]:
    """Say what another environment has that this one has not, or otherwise, or not; an empty list if nothing."""
    found = [line for kind in here for line in _differ(kind, here[kind], there.get(kind, {}))]
    rest = len(found) - _MOST
    return found if rest <= 0 else [*found[:_MOST], f"... {rest} more"]


def _differ(kind: str, here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*here, *there}):
        mine, theirs = here.get(name), there.get(name)
        if mine == theirs:
            continue
        if mine is None or theirs is None:
            yield f"{kind} {name} is {'missing' if theirs is None else 'only'} there"
        elif kind.startswith("plugin"):
            yield f"{kind} {name} has other content there"
        else:
            yield f"{kind} {name} is {mine} here and {theirs} there"


def _packages() -> Iterator[tuple[str, str]]:
    yield "python", python_version()
    for package, distribution in PACKAGES.items():
        spec = util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            root = Path(spec.submodule_search_locations[0])
            lines = [f"{name} {content}" for name, content in _contents(root)]
            yield distribution, f"{_version(distribution)} ({digest(chr(10).join(lines))[:_SHORT]})"
    for library in (*LIBRARIES, "distributed"):
        yield library, _version(library)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "missing"


def _plugin_files(places: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for place in places:
        for name, content in _contents(place):
            yield f"{place.name}/{name}", content[:_SHORT]


def _contents(place: Path) -> Iterator[tuple[str, str]]:
    """Yield the sources of a folder, or a file with what lies beside it: names in it, and digests."""
    folder = place if place.is_dir() else place.parent
    for file in source_files(place):
        yield str(file.relative_to(folder)), file_digest(str(file))
