"""Open what a bundle is loaded from: run its Python file, or load its library; nothing is registered yet."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.bundles.bundle import Bundle, BundleInfo
from brainsmith.bundles.compatibility import check_host
from brainsmith.bundles.life_cycle import take_back, take_registered
from brainsmith.bundles.modules import drop, modules_below
from brainsmith.errors import BundleDefinitionError, BundleError, PluginLoadError, UntrustedPluginError
from brainsmith.plugin.journal import Journal
from brainsmith.plugin.log import debug
from brainsmith.plugin.mounted_folders import folder_module
from brainsmith.plugin.plugin_loading import describe_error, import_file, set_module
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.trust import why_folder_not_trusted
from brainsmith.plugin.version import Version
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from types import ModuleType

    from brainsmith.bundles.bundle_source import BundleSource
    from brainsmith.bundles.life_cycle import Registered
    from brainsmith.plugin.adapters.plugin_json import Manifest


class LibraryBundle(Bundle):
    """A bundle of the ops of a native library, which is unloaded when the bundle is removed."""

    def __init__(self, info: BundleInfo, library: Any, path: str) -> None:
        super().__init__(info, path)
        self.library = library
        self.set_custom_operations_fn(lambda: list(library.ops))

    def close(self) -> None:
        """Unload the library."""
        self.library.close()


def open_bundle(source: BundleSource) -> tuple[Bundle, list[Registered]]:
    """Return the bundle of a source, and what decorators in its Python file registered.

    Raises:
        BundleError: It cannot be opened, or is not what its `plugin.json` says.
        UntrustedPluginError: It is not trusted.
    """
    reason = why_folder_not_trusted(str(Path(source.file).absolute().parent), load_settings(), source.file)
    if reason:
        raise UntrustedPluginError(f"{source.file} is not opened, because it is not trusted: {reason}")
    if source.manifest is not None:
        check_host(info_of(source.manifest))
    bundle, found = (_open_library(source), []) if source.is_library else _open_module(source)
    if source.manifest is not None:
        try:
            _agree(bundle, source.manifest)
        except BaseException:  # whatever it was, what was opened is closed again, and it is raised
            bundle.give_way()
            raise
    return bundle, found


def info_of(manifest: Manifest) -> BundleInfo:
    """Return what a `plugin.json` says of its bundle."""
    names = {field.name for field in fields(BundleInfo)}
    return BundleInfo(**{key: value for key, value in manifest.values.items() if key in names})


def _agree(bundle: Bundle, manifest: Manifest) -> None:
    """Check that a bundle is the one that its `plugin.json` describes, and let it be known as that."""
    stated = info_of(manifest)
    if (bundle.info.name, bundle.info.version) != (stated.name, stated.version):
        raise BundleDefinitionError(
            f"{manifest.path}:{manifest.line}: it describes '{stated}', and {manifest.file} is '{bundle.info}'"
        )
    check_host(bundle.info)
    if isinstance(bundle, LibraryBundle):
        bundle.info = replace(
            stated,
            description=stated.description or bundle.info.description,
            author=stated.author or bundle.info.author,
        )
    else:
        needs = {**dict(stated.depends_on), **dict(bundle.info.depends_on)}
        licence = bundle.info.license or stated.license
        bundle.info = replace(bundle.info, depends_on=tuple(needs.items()), license=licence)


def _open_library(source: BundleSource) -> Bundle:
    from brainsmith.native import open_library

    debug("%s: opening the native library", source.file)
    limit = {} if source.time_limit is None else {"time_limit": source.time_limit}
    library = open_library(source.file, isolation=source.isolation, sha256=source.sha256, **limit)
    try:
        newest = library.max_brainsmith
        info = BundleInfo(
            library.name,
            Version.parse(library.version),
            Version.parse(library.min_brainsmith or f"{Version.current().major}.0.0"),
            Version.parse(newest) if newest else None,
            library.description or "",
            getattr(library, "author", "") or "",
        )
    except BundleDefinitionError as error:
        library.close()
        raise BundleDefinitionError(f"{source.file}: {error}") from None
    return LibraryBundle(info, library, source.file)


def _open_module(source: BundleSource) -> tuple[Bundle, list[Registered]]:
    for what, value in (("isolation", source.isolation), ("time_limit", source.time_limit)):
        if value is not None:
            raise BundleError(
                f"{source.file}: {what} is for native libraries; a Python file runs in this process"
            )
    _check_sha256(source)
    debug("%s: running the Python file", source.file)
    journal = Journal()
    with REGISTRY.recording(journal):
        try:
            bundle = _run_file(source.file)
            found = take_registered(journal)
        except PluginLoadError as error:
            raise BundleError(str(error)) from error
        finally:
            take_back(journal)
    return bundle, found


def _run_file(path: str) -> Bundle:
    package = folder_module(str(Path(path).parent))
    imported = modules_below(package)
    try:
        module, before = import_file(path)
        try:
            bundle = _bundle_in(module, path)
        except BaseException:  # an interruption too must leave the module that was there before
            set_module(module.__name__, before)
            raise
    except BaseException:  # likewise of the modules that it had imported
        drop(_others(modules_below(package), imported))
        raise
    bundle.module, bundle.before = module, before
    bundle.helpers = _others(modules_below(package), {**imported, module.__name__: module})
    return bundle


def _others(modules: dict[str, ModuleType], known: dict[str, ModuleType]) -> dict[str, ModuleType]:
    return {name: module for name, module in modules.items() if name not in known}


def _check_sha256(source: BundleSource) -> None:
    if source.sha256 is None:
        return
    found = hashlib.sha256(Path(source.file).read_bytes()).hexdigest()
    if found != source.sha256.lower():
        raise BundleError(f"{source.file}: its sha256 must be {source.sha256}, and is {found}")
    debug("%s: its sha256 is as stated", source.file)


def _bundle_in(module: ModuleType, path: str) -> Bundle:
    """Return a module's `bundle`, or what its `create_bundle()` returns."""
    value = getattr(module, "bundle", None)
    create = getattr(module, "create_bundle", None)
    if value is None and create is None:
        raise BundleDefinitionError(f"{path}: it must define `bundle` or `create_bundle()`, and has neither")
    what = "bundle"
    if value is None:
        what = "what create_bundle() returns"
        try:
            value = create()  # type: ignore[misc]
        except (Exception, SystemExit) as error:  # the user's code may even exit
            raise BundleError(f"{path}: create_bundle() raised {describe_error(error)}") from error
    if not isinstance(value, Bundle):
        raise BundleDefinitionError(
            f"{path}: {what} must be a Bundle, such as BundleBuilder()....build(), not {value!r}"
        )
    return value
