"""Read what a catalogue shows from the registry and from sources. Nothing is imported."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from brainsmith.plugin.collections import means_kernel, ranked
from brainsmith.plugin.distributions import metadata
from brainsmith.plugin.facts import details_or_reason
from brainsmith.plugin.licence import distribution_of, stated_by
from brainsmith.plugin.precedence import listing_order, meant_by_name, split_name
from brainsmith.web.catalogue.addresses import page_addresses
from brainsmith.web.catalogue.data_sheet import read_data_sheet
from brainsmith.web.catalogue.entry import CatalogueEntry, Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def read_entries(registry: Registry, records: Iterable[PluginInfo]) -> tuple[list[CatalogueEntry], list[str]]:
    """Return what a catalogue shows of each record, in the order of listings.

    Args:
        registry: Decides which kernel a name means.
        records: Of all types.

    Returns:
        The entries, and what is wrong with data sheets that cannot be used.
    """
    found = sorted(records, key=lambda info: (*listing_order(info), info.reference))
    keys = _keys(found)
    related = _kernels(registry, found)
    backends, inferring = _of_kernels(found, keys, related)
    rivals = _rivals(found)
    providers = {framework: _provider(framework) for framework in {info.framework for info in found}}
    # Those of one file in a row, so that it is parsed once.
    read = {id(info): details_or_reason(info) for info in sorted(found, key=lambda info: info.origin)}
    problems: list[str] = []
    entries = []
    addresses = page_addresses([(one.type, one.framework, one.name, one.reference) for one in found])
    for info, address in zip(found, addresses, strict=True):
        details, reason = read[id(info)]
        sheet, problem = read_data_sheet(info) if info.type == "backend" else (None, "")
        if problem:
            problems.append(problem)
        provider, same = providers[info.framework], rivals[info.type, info.name]
        entries.append(
            CatalogueEntry(
                info=info,
                key=keys[id(info)],
                details=details,
                reason=reason,
                provider=provider,
                licence=str(info.extra.get("license") or provider.licence),
                source=source_path(info),
                address=address,
                kernels=tuple(keys[id(kernel)] for kernel in related.get(id(info), ())),
                backends=tuple(keys[id(one)] for one in ranked(backends.get(keys[id(info)], ()))),
                inferred_by=tuple(keys[id(one)] for one in inferring.get(keys[id(info)], ())),
                rivals=tuple(keys[id(one)] for one in same if one is not info),
                is_meant=len(same) == 1 or meant_by_name(same) is info,
                sheet=sheet,
            )
        )
    return entries, problems


def _keys(records: Sequence[PluginInfo]) -> dict[int, str]:
    """Return a key of each record, by its identity."""
    counts = Counter((info.type, info.qualified) for info in records)
    return {
        id(info): f"{info.type}:{info.qualified}"
        + (f" {info.reference}" if counts[info.type, info.qualified] > 1 else "")
        for info in records
    }


def _kernels(registry: Registry, records: Iterable[PluginInfo]) -> dict[int, list[PluginInfo]]:
    """Return the kernels that backends and transforms state, by the identity of these."""
    named: dict[str, list[PluginInfo]] = {}
    stating = []
    for info in records:
        if info.type == "kernel":
            named.setdefault(info.name, []).append(info)
        elif info.kernel and info.type in ("backend", "transform"):
            stating.append(info)
    return {
        id(info): [
            kernel
            for kernel in named.get(split_name(info.kernel or "")[1], ())
            if means_kernel(registry, info, kernel)
        ]
        for info in stating
    }


def _of_kernels(
    records: Iterable[PluginInfo], keys: Mapping[int, str], related: Mapping[int, list[PluginInfo]]
) -> tuple[dict[str, list[PluginInfo]], dict[str, list[PluginInfo]]]:
    """Return the backends of kernels, and the transforms that infer them, by the kernels' keys."""
    backends: dict[str, list[PluginInfo]] = {}
    inferring: dict[str, list[PluginInfo]] = {}
    for info in records:
        for kernel in related.get(id(info), ()):
            table = backends if info.type == "backend" else inferring
            table.setdefault(keys[id(kernel)], []).append(info)
    return backends, inferring


def _rivals(records: Iterable[PluginInfo]) -> dict[tuple[str, str], list[PluginInfo]]:
    """Return all records of each type and name."""
    found: dict[tuple[str, str], list[PluginInfo]] = {}
    for info in records:
        found.setdefault((info.type, info.name), []).append(info)
    return found


def _provider(framework: str) -> Provider:
    folder = None if framework == "project" else distribution_of(framework)
    if folder is None:
        return Provider(framework, "this project" if framework == "project" else framework, "", "")
    version = folder.version or dict(metadata(folder)).get("Version", "")
    return Provider(framework, folder.name.replace("_", "-"), version, stated_by(folder))


def source_path(info: PluginInfo) -> str:
    """Return a plugin's file as its package names it; of a file in no package, its folder's name and its own."""
    if not info.file:
        return ""
    parts = info.file.replace(os.sep, "/").split("/")
    package = info.module.split(".")
    stem = parts[-1].removesuffix(".py")
    depth = len(package) + 1 if stem == "__init__" else len(package)
    inside = parts[-depth:]
    named = [*inside[:-1], *([] if stem == "__init__" else [stem])]
    return "/".join(inside if named == package else parts[-2:])
