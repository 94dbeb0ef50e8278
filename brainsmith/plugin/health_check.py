"""Report which frameworks, caches, tools and packages work here, and what to do about those that do not."""

from __future__ import annotations

import os
from collections import Counter

from brainsmith import TYPE_CHECKING, __version__
from brainsmith.errors import BrainsmithError
from brainsmith.plugin.node_claims import claim_message, claims
from brainsmith.plugin.not_found import INSTALL
from brainsmith.plugin.packages import check_pairs, framework_failure
from brainsmith.plugin.precedence import ADAPTED, clashes, duplicate_message
from brainsmith.plugin.tools import find_tools
from brainsmith.plugin.trust import OFF, why_not_trusted
from brainsmith.setting_checks import CHECKS
from brainsmith.settings import cache_dir
from brainsmith.store.files import write_atomically
from brainsmith.store.inventory import all_entries
from brainsmith.store.safety import make_private, why_replaceable, why_untrusted
from brainsmith.store.shared.shared_cache import shown_address

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.manager import PluginManager
    from brainsmith.settings import Settings

SCHEMA = "brainsmith.health/1"
"""The version of the form of `check`'s result."""


def check(manager: PluginManager) -> dict[str, Any]:
    """Check the registry, the caches, the adapters, the tools and the packages.

    `status` is `healthy` if the registry, the caches and every enabled, installed framework work, `degraded` if some
    of them do not, and `broken` if no plugin can be found at all. Optional tools do not change it.

    Returns:
        Plain values, as `brainsmith health --json` prints them: `schema`, `status`, `version`, `problems` (one
        sentence each), `cache_available`, `frameworks_available`, `frameworks` (plugins by framework), `adapters`,
        `duplicates`, `caches`, `tools`, `packages`, `settings`, `trust`.
    """
    try:
        settings = manager.settings
        snapshot = manager.everything()
    except BrainsmithError as error:
        return _report("broken", [str(error)], check_caches(cache_dir()), check_pairs(cache_dir()))
    records = snapshot.records
    caches = check_caches(settings.cache_dir)
    adapters = {}
    for summary in snapshot.adapters:
        adapters[summary["name"]] = _check_adapter(summary, True, settings.cache_dir)
    for name in ADAPTED:
        adapters.setdefault(name, _check_adapter({"name": name}, False, settings.cache_dir))
    duplicates = find_duplicates(records)
    packages = check_pairs(settings.cache_dir)
    problems = list(_problems(adapters, duplicates, caches, packages))
    return _report(
        "broken" if not records else "degraded" if problems else "healthy",
        problems if records else ["no plugin was found", *problems],
        caches,
        packages,
        frameworks=dict(Counter(info.framework for info in records)),
        adapters=adapters,
        duplicates=duplicates,
        settings=describe_settings(settings),
        trust=_trust(settings, records),
    )


def _report(
    status: str,
    problems: list[str],
    caches: dict[str, Any],
    packages: list[dict[str, str]],
    **found: Any,
) -> dict[str, Any]:
    """Return the report; of what could not be found, which is all where a setting is wrong, there is nothing in it."""
    return {
        "schema": SCHEMA,
        "status": status,
        "version": __version__,
        "problems": problems,
        "cache_available": caches["writable"],
        "frameworks_available": len(found.get("frameworks", ())),
        "frameworks": found.get("frameworks", {}),
        "adapters": found.get("adapters", {}),
        "duplicates": found.get("duplicates", []),
        "caches": caches,
        "tools": {tool.name: tool.to_plain() for tool in find_tools()},
        "packages": packages,
        "settings": found.get("settings", {}),
        "trust": found.get("trust", {"mode": "", "untrusted": {}, "advice": ""}),
    }


def _check_adapter(summary: dict[str, Any], enabled: bool, cache_dir: str) -> dict[str, Any]:
    """Return the status of an adapter; a framework that was found must be importable too."""
    name, status, detail, advice = summary["name"], summary.get("status"), summary.get("detail"), ""
    if not enabled:
        summary, status, detail = {}, "disabled", "the setting frameworks leaves it out"
        advice = f"to use it: add {name} to plugin_system: frameworks in .brainsmith/config.yaml"
    elif status == "absent" and name in INSTALL:
        advice = f"it is not installed; to install it: {INSTALL[name]}"
    elif status == "failed":
        advice = "BRAINSMITH_PLUGIN_DEBUG=1 brainsmith plugins list shows each step"
    elif failure := framework_failure(name, summary["version"], cache_dir):
        status, detail = "failed", f"its plugins are listed, but cannot be loaded: {failure}"
        advice = INSTALL.get(name, "")
    return {
        "status": status,
        "version": summary.get("version", ""),
        "plugins": summary.get("plugins", 0),
        "detail": detail,
        "problems": list(summary.get("messages", ())),
        "advice": advice,
    }


def find_duplicates(records: Iterable[PluginInfo]) -> list[dict[str, Any]]:
    """Return the names that two objects of one framework claim, and the types of nodes that two plugins claim.

    In a framework that is not ours that is a fact: the second one has a longer name. Elsewhere it is an error of
    somebody, and using the name says so.
    """
    records = list(records)
    clashing = list(clashes(records))
    found = [
        (
            info,
            False,
            f"{info.type} {info.qualified} at {info.origin} is the second of its name; {first} keeps the name",
        )
        for info in records
        if (first := info.get("second_of"))
    ]
    found += [(second, True, duplicate_message(first, second)) for first, second in clashing]
    later = {id(second) for _, second in clashing}
    for (domain, op_type), claimants in claims(info for info in records if id(info) not in later).items():
        if len(claimants) > 1:
            found.append((claimants[-1], True, claim_message(domain, op_type, claimants)))
    return [
        {"plugin": info.qualified, "type": info.type, "clash": clash, "text": text}
        for info, clash, text in found
    ]


def _trust(settings: Settings, records: list[PluginInfo]) -> dict[str, Any]:
    """Say which plugins may be imported, how many may not and why, and whether trust is off."""
    off = f"trust is off ({settings.sources.get('trust')}): all plugins may be imported, whoever they are of"
    try:
        untrusted = Counter(filter(None, (why_not_trusted(info, settings) for info in records)))
    except BrainsmithError as error:
        return {"mode": settings.trust, "untrusted": {}, "advice": str(error)}
    return {
        "mode": settings.trust,
        "untrusted": dict(untrusted),
        "advice": off if settings.trust == OFF else "",
    }


def check_caches(folder: str) -> dict[str, Any]:
    """Say whether the caches can be written, and what lies in them."""
    kinds: dict[str, dict[str, int]] = {}
    try:
        entries = all_entries(folder)
    except BrainsmithError:  # another user's, which is reported below
        entries = []
    for entry in entries:
        kind = kinds.setdefault(entry.kind.name, {"entries": 0, "bytes": 0})
        kind["entries"] += 1
        kind["bytes"] += entry.bytes
    reason = _why_not_writable(folder)
    advice = f"{reason}; every run takes longer. Make it writable, or set XDG_CACHE_HOME" if reason else ""
    place, why = why_replaceable(folder)
    if why and not advice:
        advice = (
            f"{place} {why}, who could replace the cache folder, so nothing compiled is loaded from it. "
            "Set XDG_CACHE_HOME to a folder of your own"
        )
    return {
        "path": folder,
        "writable": not reason,
        "entries": len(entries),
        "bytes": sum(entry.bytes for entry in entries),
        "kinds": dict(sorted(kinds.items())),
        "advice": advice,
    }


def _why_not_writable(folder: str) -> str:
    probe = os.path.join(folder, f"probe.{os.getpid()}")
    try:
        make_private(folder)
        if reason := why_untrusted(folder):
            return f"the cache folder {reason}"
        write_atomically(probe, b"brainsmith health\n")
        os.unlink(probe)
    except OSError as error:
        return f"the cache folder cannot be written: {error.strerror}"
    return ""


def describe_settings(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return each setting's value and where it comes from."""
    described = {
        name: {"value": getattr(settings, name), "source": settings.sources.get(name, "default")}
        for name in CHECKS
        if not name.startswith("remote_")
    }
    if settings.shared_cache is not None:
        described["shared_cache"]["value"] = shown_address(settings.shared_cache)  # it may hold a password
    project = {"value": settings.project, "source": "the nearest folder upwards with .brainsmith in it"}
    return {**described, "project": project}


def _problems(
    adapters: dict[str, dict[str, Any]],
    duplicates: list[dict[str, Any]],
    caches: dict[str, Any],
    packages: list[dict[str, str]],
) -> Iterable[str]:
    """Yield what keeps the hub from being healthy."""
    for name, adapter in adapters.items():
        if adapter["status"] == "failed":
            yield f"{name}: {adapter['detail']}"
        else:
            yield from adapter["problems"]
    yield from (duplicate["text"] for duplicate in duplicates if duplicate["clash"])
    if caches["advice"]:
        yield f"{caches['path']}: {caches['advice']}"
    yield from (f"{pair['name']}: {pair['detail']}" for pair in packages if pair["status"] == "fails")
