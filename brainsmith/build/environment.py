"""What builds are made with: packages, tools and plugins, by content, so that two machines or days can be compared."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import util
from pathlib import Path

from brainsmith.build.keys import (
    MISSING,
    PACKAGES,
    UNREACHED,
    all_files,
    framework_versions,
    plugin_places,
    plugin_sources,
    source_files,
    stamp_of,
)
from brainsmith.plugin.distributions import distribution_key, info_folders, installed_versions
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.package_files import plugin_file
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.plugin_versions import version_of
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.tools import find_program, find_tools, which
from brainsmith.settings import load_settings
from brainsmith.store.files import stamp
from brainsmith.store.fingerprint import digest
from brainsmith.store.reads import file_digest
from brainsmith.store.values import Kept

Environment = Mapping[str, Mapping[str, str]]
"""By kind (`package`, `tool`, `plugin`, `plugin file`) a version, or a digest, for each name."""

_MOST = 6
_NOT_USED = ("vivado", "cargo")
"""Tools that no point needs."""

_RUN = ("g++", "make")
"""Those that builds run and that no package brings."""

_DIGEST = re.compile(r"\(([0-9a-f]{12})[0-9a-f]{28}\)")


def fingerprint() -> str:
    """Return what stands for the environment of this process, as the keys of steps have it; it holds on this machine."""
    registry, _ = get_plugin_manager().all_records()
    sources = plugin_sources(plugin_places(load_settings(), registry))
    return digest(json.dumps([framework_versions(), sources], sort_keys=True))


def environment() -> Environment:
    """Return the environment of this process, which is the same on every machine that has the same."""
    registry, _ = get_plugin_manager().all_records()
    tools = {tool.name: tool.version or tool.status for tool in find_tools() if tool.name not in _NOT_USED}
    return {
        "package": {**_packages(), "distributed": installed_versions().get("distributed", MISSING)},
        "tool": tools,
        "plugin": dict(_plugins(_own(registry))),
        "plugin file": dict(_plugin_files(plugin_places(load_settings(), registry))),
    }


def environment_of(
    records: Iterable[PluginInfo],
    registry: Registry,
    tools: bool,
    frameworks: Mapping[str, str] | None = None,
) -> Environment:
    """Return what a build depends on, which is the same on every machine that has the same.

    Args:
        records: The plugins that it uses. All that belong to no framework count besides, since any step may use them.
        registry: Where plugins are.
        tools: Whether it runs tools.
        frameworks: As `framework_versions` gave them a moment ago; None to ask.
    """
    packages = {name: version for name, version in _packages(frameworks).items() if version != MISSING}
    packages |= _packages_elsewhere(registry)
    found = {tool: _tool_version(tool) for tool in _RUN} if tools else {}
    return {
        "package": packages,
        "tool": {name: version for name, version in found.items() if version != MISSING},
        "plugin": dict(_plugins([*records, *_own(registry)])),
        "plugin file": dict(_plugin_files(plugin_places(load_settings(), registry))),
    }


def differences(here: Environment, there: Environment) -> list[str]:
    """Say what another environment has that this one has not, or otherwise, or not; an empty list if nothing."""
    found = [line for kind in here for line in _differ(kind, here[kind], there.get(kind, {}))]
    rest = len(found) - _MOST
    return found if rest <= 0 else [*found[:_MOST], f"... {rest} more"]


def short(value: str) -> str:
    """Return a version with its digest, for people: twelve digits of it."""
    return _DIGEST.sub(r"(\1)", value)


def _differ(kind: str, here: Mapping[str, str], there: Mapping[str, str]) -> Iterator[str]:
    for name in sorted({*here, *there}):
        mine, theirs = here.get(name), there.get(name)
        if mine == theirs:
            continue
        if mine is None or theirs is None:
            yield f"{kind} {name} is {'missing' if theirs is None else 'only'} there"
        elif kind == "plugin file":
            yield f"{kind} {name} has other content there"
        else:
            yield f"{kind} {name} is {short(mine)} here and {short(theirs)} there"


def _own(registry: Registry) -> list[PluginInfo]:
    """Return the plugins that belong to no framework, as of the discovery that was just made."""
    return [info for info in registry.known() if plugin_file(info) and info.framework not in FRAMEWORKS]


def _plugins(records: Iterable[PluginInfo]) -> Iterator[tuple[str, str]]:
    """Yield of each plugin its full name, and version, distribution and the digest of its file."""
    digests: dict[str, str] = {}
    for info in sorted(dict.fromkeys(records), key=lambda info: (info.type, info.qualified)):
        file = plugin_file(info)
        if file not in digests:
            digests[file] = f"({file_digest(file)})" if file else "(no file)"
        version = info.extra.get("distribution_version") or version_of(info)
        brought = "" if info.framework == "project" else f"of {info.framework} {version}".rstrip()
        yield (
            f"{info.type}:{info.qualified}",
            " ".join(filter(None, (info.version, brought, digests[file]))),
        )


def _packages(frameworks: Mapping[str, str] | None = None) -> dict[str, str]:
    found = framework_contents(frameworks) if frameworks is not None else None
    while found is None:  # sources may change meanwhile
        found = framework_contents(framework_versions())
    return {PACKAGES.get(name, name): version for name, version in found.items() if " " not in name}


def _packages_elsewhere(registry: Registry) -> dict[str, str]:
    """Return the versions of what is installed in the other environments that have plugins here: `acme: numpy`."""
    found: dict[str, str] = {}
    for info in registry.known():
        environment = info.extra.get("environment")
        if environment and f"{environment}: python" not in found:
            found[f"{environment}: python"] = str(info.extra.get("python_version", "")) or MISSING
            installed = info_folders(list(info.extra["folders"]))
            found |= {f"{environment}: {distribution_key(each.name)}": each.version for each in installed}
    return {name: version for name, version in found.items() if version != MISSING}


def framework_contents(versions: Mapping[str, str]) -> dict[str, str] | None:
    """Return versions with the content of sources in place of their times, so that they are the same on every machine.

    Args:
        versions: As `framework_versions` gave them.

    Returns:
        None if sources have changed since.
    """
    found = dict(versions)
    for package in PACKAGES:
        if package in versions:
            version, _, state = versions[package].removesuffix(")").partition(" (")
            spec = util.find_spec(package)
            roots = spec.submodule_search_locations if spec is not None else None
            without = UNREACHED if package == "brainsmith" else ()
            content = _sources_digest(roots[0], without, state) if roots else ""
            if not content:
                return None
            found[package] = f"{version} ({content})"
    return found


def _sources_digest(root: str, without: tuple[str, ...], at: str = "") -> str:
    """Return the digest of all sources of a package, which is kept for as long as their times and sizes are the same.

    Args:
        root: Its folder.
        without: Folders in it that do not count.
        at: What `stamp_of` gave of it before, if that is known; if it gives something else now, the digest is empty.
    """
    kept, state = Kept(load_settings().cache_dir, "environment", root), at or stamp_of(root, without)
    known = kept.load(state)
    if isinstance(known, str):
        return known
    if at and stamp_of(root, without) != at:
        return ""
    own = [
        f"{name} {content}"
        for name, content in _contents(Path(root))
        if name.partition("/")[0] not in without
    ]
    made = digest("\n".join(own))
    kept.save(state, made, {"of": root})
    return made


def _tool_version(name: str) -> str:
    """Return the version of a program on `PATH`, which is asked for once as long as its time and size are the same."""
    path = which(name)
    kept, state = Kept(load_settings().cache_dir, "environment", path), repr(stamp(path))
    known = kept.load(state) if path else MISSING
    if isinstance(known, str):
        return known
    tool = find_program(name, "")
    if tool.version:
        kept.save(state, tool.version, {"of": path})
    return tool.version or tool.status


def _plugin_files(places: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield names and digests of the plugins' files: below their folder's name, with a number where two have one name."""
    seen = Counter[str]()
    for place in places:
        seen[place.name] += 1
        number = f" ({seen[place.name]})" if seen[place.name] > 1 else ""
        for name, content in _contents(place, all_files):
            yield f"{place.name}{number}/{name}", content


def _contents(place: Path, of: Callable[[Path], list[Path]] = source_files) -> Iterator[tuple[str, str]]:
    """Yield the sources of a folder, or a file with what lies beside it: names in it, and digests."""
    folder = place if place.is_dir() else place.parent
    for file in of(place):
        yield str(file.relative_to(folder)), file_digest(str(file))
