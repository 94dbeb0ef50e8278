"""Load, reload and unload bundles at run time, with the bundles that they need: all, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.bundles.bundle_registry import BUNDLES
from brainsmith.bundles.bundle_source import find_source
from brainsmith.bundles.opening import info_of, open_bundle
from brainsmith.errors import (
    BundleClashError,
    BundleDependencyError,
    BundleError,
    BundleVersionError,
    DynamicLoadingError,
)
from brainsmith.plugin.log import debug
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.version import Version

if TYPE_CHECKING:
    import os

    from brainsmith.bundles.bundle import Bundle, BundleInfo
    from brainsmith.bundles.bundle_source import BundleSource
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.records import RecordList


def load_plugin(
    path: str | os.PathLike[str],
    *,
    isolation: str | None = None,
    sha256: str | None = None,
    time_limit: float | None = None,
) -> Bundle:
    """Load a bundle and register it; bundles that it needs are loaded first, from those that discovery finds.

    Args:
        path: A native library, a Python file, a `plugin.json`, or a folder with one. A `plugin.json` beside a library
            or Python file is read; what is stated here overrides it.
        isolation: `"process"` runs a native library in a process of its own.
        sha256: What the file's must be, in hexadecimal digits.
        time_limit: Seconds in which a call of an isolated library must end.

    Raises:
        DynamicLoadingError: The setting `dynamic_loading` is off (a NotImplementedError).
        BundleError: It cannot be loaded; what is wrong has its own class. Everything is as before, and what this call
            had loaded is unloaded.
    """
    _refuse_if_off()
    debug("loading %s", path)
    given = {"isolation": isolation, "sha256": sha256, "time_limit": time_limit}
    brought: list[str] = []
    try:
        return _load(find_source(path, **given), (), brought)
    except BaseException as error:  # an interruption too must leave nothing half loaded; it is raised again
        debug("loading %s failed: %s", path, error)
        BUNDLES.remove_all(reversed(brought), error)
        raise


def unload_plugin(name: str) -> None:
    """Unload a bundle: its clean-up runs, its ops and plugins are removed, a native library is unmapped.

    Raises:
        DynamicLoadingError: The setting `dynamic_loading` is off.
        PluginNotFoundError: No such bundle is loaded; close names are suggested.
        BundleDependencyError: Another bundle needs it.
        BundleError: Its clean-up failed; it is unloaded all the same.
    """
    _refuse_if_off()
    debug("unloading %s", name)
    BUNDLES.unregister(name)


def reload_plugin(name: str) -> bool:
    """Load a bundle again if its file or `plugin.json` has changed; the old version stays if the new one fails.

    Returns:
        Whether it had changed.

    Raises:
        DynamicLoadingError: The setting `dynamic_loading` is off.
        PluginNotFoundError: No such bundle is loaded.
        BundleError: The new version cannot be loaded, or is another bundle. The old one is registered as before, for
            which it was initialised again if its place had been taken.
    """
    _refuse_if_off()
    before = BUNDLES.entry(name)
    old: BundleSource | None = before.source
    if old is None:
        raise BundleError(
            f"bundle {name!r} was registered as an object: there is no file to load it from again"
        )
    source = find_source(old.path, **old.given)
    if source.content == old.content:
        debug("%s: its files have not changed", name)
        return False
    debug("reloading %s from %s", name, source.file)
    _replace(name, source)
    _close_replaced(name, before.bundle)
    return True


def list_plugins() -> RecordList:
    """Return the records of the loaded bundles."""
    return BUNDLES.list_plugins()


def get_plugin_info(name: str) -> PluginInfo:
    """Return the record of a loaded bundle.

    Raises:
        PluginNotFoundError: No such bundle is loaded; close names are suggested.
    """
    return BUNDLES.entry(name).record


def is_plugin_loaded(name: str) -> bool:
    """Tell whether a bundle of this name is loaded."""
    return BUNDLES.is_registered(name)


def _refuse_if_off() -> None:
    settings = get_plugin_manager().settings
    if not settings.dynamic_loading:
        where = settings.sources.get("dynamic_loading", "the settings")
        raise DynamicLoadingError(
            f"bundles cannot be loaded or unloaded at run time: dynamic_loading is off (from {where})\n"
            "  to turn it on: BRAINSMITH_DYNAMIC_LOADING=1, or dynamic_loading: true under plugin_system in "
            ".brainsmith/config.yaml"
        )


def _load(source: BundleSource, ahead: tuple[str, ...], brought: list[str]) -> Bundle:
    """Load a bundle after those that it needs.

    Args:
        source: What it is loaded from.
        ahead: The bundles that wait for it, the outermost first.
        brought: The names of bundles that were loaded; more are added.
    """
    if source.manifest is not None:
        info = info_of(source.manifest)
        BUNDLES.check_free(info)
        _load_needs(info, ahead, brought)
    bundle, found = open_bundle(source)
    try:
        _load_needs(bundle.info, ahead, brought)
        BUNDLES.enter(bundle, found, source)
    except BaseException:  # an interruption can come before and after the bundle is in the list
        if BUNDLES.holds(bundle):  # what was interrupted was done
            brought.append(bundle.info.name)
        else:
            bundle.give_way()
        raise
    brought.append(bundle.info.name)
    return bundle


def _load_needs(info: BundleInfo, ahead: tuple[str, ...], brought: list[str]) -> None:
    """Load what a bundle needs and is not loaded yet."""
    chain = (*ahead, info.name)
    for name, versions in info.depends_on:
        if name in chain:
            circle = " -> ".join([*chain[chain.index(name) :], name])
            raise BundleDependencyError(f"bundles depend on each other in a cycle: {circle}")
        if BUNDLES.wait_for(name):
            continue
        wanted = f"{name} {versions}".rstrip()
        record = _discovered(name, f"bundle '{info}' needs the bundle '{wanted}'")
        if Version.parse(record.version) not in versions:
            raise BundleVersionError(
                f"bundle '{info}' needs the bundle '{wanted}', and {record.extra['path']} is {record.version}"
            )
        debug("%s needs %s: loading it first", info, wanted)
        try:
            _load(find_source(record.extra["path"]), chain, brought)
        except BundleClashError:
            if not BUNDLES.wait_for(name):  # else another thread has loaded it meanwhile
                raise


def _discovered(name: str, why: str) -> PluginInfo:
    records = [info for info in get_plugin_manager().everything().records if info.type == "bundle"]
    for info in records:
        if info.name == name and "path" in info.extra:
            return info
    found = ", ".join(sorted({info.name for info in records})) or "none"
    raise BundleDependencyError(
        f"{why}, which is neither loaded nor found; found are: {found}\n"
        "  bundles are found by their plugin.json in the project's plugins folder"
    )


def _replace(name: str, source: BundleSource) -> None:
    """Let what a source holds now take a bundle's place; if that fails, all is as before."""
    brought: list[str] = []
    bundle: Bundle | None = None
    BUNDLES.get_plugin(name).step_aside()
    try:
        bundle, found = open_bundle(source)
        if bundle.info.name != name:
            raise BundleError(f"{source.path}: it is the bundle '{bundle.info}' now, and no longer {name!r}")
        _load_needs(bundle.info, (), brought)
        BUNDLES.replace(name, bundle, found, source)
    except BaseException as error:  # likewise
        if bundle is not None and BUNDLES.holds(bundle):  # what was interrupted was done
            raise
        if bundle is not None:
            bundle.give_way()
        if BUNDLES.is_registered(name):
            BUNDLES.get_plugin(name).resume()
        BUNDLES.remove_all(reversed(brought), error)
        raise


def _close_replaced(name: str, old: Bundle) -> None:
    """Close what has been replaced. A library whose calls do not end is unloaded when nothing uses it any more."""
    try:
        old.close()
    except BundleError as error:
        raise BundleError(
            f"bundle '{BUNDLES.get_plugin(name)}' is loaded, but the library of '{old}', whose place it has taken, "
            f"will be unloaded only when its calls have ended: {error}"
        ) from error
