"""Import plugins: the one module that does."""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.framework_preparer import prepare_frameworks_of
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX, folder_module, mount_folder
from brainsmith.plugin.read_rules import FRAMEWORKS, is_of_framework
from brainsmith.shown import typed_text
from brainsmith.store.files import read_bytes

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo


def import_object(info: PluginInfo) -> Any:
    """Import the object that a record refers to.

    No lock but Python's own is held meanwhile, so a plugin may use the hub while it is imported.

    Raises:
        PluginLoadError: The import failed, or the module has no such object.
    """
    from brainsmith.monitoring.work_span import WorkSpan  # a listing loads nothing

    about: dict[str, Any] = {"brainsmith.plugin.name": info.qualified, "brainsmith.plugin.type": info.type}
    place, _, line = info.origin.rpartition(":")
    if line.isdecimal():
        about |= {"code.file.path": place, "code.line.number": int(line)}
    with WorkSpan("load", f"{__name__}.import_object", about):
        return _found(info)


def _found(info: PluginInfo) -> Any:
    if info.type == "bundle" and "path" in info.extra:
        raise PluginLoadError(
            f"bundle {info.qualified!r} is not loaded: brainsmith.plugins.load_plugin({info.extra['path']!r}) loads it"
        )
    if "environment" in info.extra:
        # hardly any plugin is in another environment
        from brainsmith.plugin.environments.foreign_plugins import foreign_object

        return foreign_object(info)
    module_name, _, qualname = info.reference.partition(":")
    module = import_module(module_name, info)
    value: Any = module
    for part in qualname.split("."):
        try:
            value = getattr(value, part)
        except AttributeError as error:
            raise PluginLoadError(
                f"{info.type} {info.qualified!r} ({info.origin}): module {module_name!r} has no {qualname!r}"
            ) from error
    return value


def import_module(module_name: str, info: PluginInfo) -> ModuleType:
    """Import the module of a record, after what its framework needs to be importable.

    Raises:
        UntrustedPluginError: It is not trusted; nothing of it was run.
        PluginLoadError: The import failed, for whatever reason; a plugin may raise anything. Or the module changed since
            it was imported, and cannot be loaded anew.
    """
    if not is_of_framework(info) and module_name not in sys.modules:
        from brainsmith.plugin.trust import refuse_untrusted  # our own plugins are trusted

        refuse_untrusted(info)
    if module_name in sys.modules:
        from brainsmith.plugin.import_reads import refuse_changed_modules  # parses: for who loads a plugin

        refuse_changed_modules([module_name])
    try:
        if info.module.startswith(FOLDER_PREFIX):
            mount_folder(info.module.partition(".")[0], info.extra["folder"], of_plugins=True)
        prepare_frameworks_of(info)
        return _imported(module_name, info)
    except (Exception, SystemExit) as error:
        raise PluginLoadError(
            f"{info.type} {info.qualified!r} ({info.origin}) cannot be loaded: importing {module_name!r} raised "
            f"{describe_error(error)}{_missing_framework(error)}"
        ) from error


def _missing_framework(error: BaseException) -> str:
    """Return what to do about a framework that is not installed, if an import failed for want of one."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError):
        return ""
    from brainsmith.plugin.not_found import INSTALL  # only where an import failed

    return f"\n  {name.upper()} is not installed: {INSTALL[name]}" if name in INSTALL else ""


def _imported(module_name: str, info: PluginInfo) -> ModuleType:
    """Import a module, with its source and what it reads from outside noted."""
    # Targets and bundles import this file for what describes an error; they do not pay for what reads sources.
    from brainsmith.plugin.import_reads import note_imported, note_reads
    from brainsmith.plugin.read_rules import read_rules
    from brainsmith.store.imported_sources import note_imports
    from brainsmith.store.read_recorder import Recorder

    note_imports()
    if module_name in sys.modules or module_name.partition(".")[0] in FRAMEWORKS:
        # Imported also if it is there: another thread may still be importing it.
        return __import__(module_name, fromlist=("__name__",))
    folder = info.extra.get("folder")
    with Recorder(read_rules(sources=(folder,) if folder else ())) as recorder:
        module = __import__(module_name, fromlist=("__name__",))
    note_reads(module_name, recorder.reads, recorder.hiding)
    note_imported(recorder.imported)
    return module


def import_file(path: str) -> tuple[ModuleType, ModuleType | None]:
    """Run a Python file as a module below that of its folder; each call runs it anew.

    What it imports from beside it (`from . import x`) is imported once, as usual.

    Returns:
        The module, and the one in whose place it now stands, if there was one.

    Raises:
        PluginLoadError: It is no Python, or raised.
    """
    from types import ModuleType  # a Python file of a bundle is rare

    from brainsmith.store.imported_sources import note_source  # so too

    folder, base = os.path.split(path)
    package = folder_module(folder)
    mount_folder(package, folder)
    module = ModuleType(f"{package}.{os.path.splitext(base)[0]}")
    module.__file__, module.__package__ = path, package
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module
    try:
        __import__(package)
        data = read_bytes(path)
        note_source(module, path, data)
        exec(compile(data, path, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:
        set_module(module.__name__, before)
        if isinstance(error, Exception | SystemExit):
            raise PluginLoadError(f"{path} cannot be loaded: it raised {describe_error(error)}") from error
        raise
    return module, before


def set_module(name: str, module: ModuleType | None) -> None:
    """Let a module, or nothing, be what the imports of a name give."""
    if module is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module


def describe_error(error: BaseException) -> str:
    """Return an error's class and text, and the line that raised it."""
    return f"{typed_text(error)}{_innermost(error)}"


def _innermost(error: BaseException) -> str:
    """Return ` (file:line)` of the plugin's own line that raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and not file.endswith(
            ("plugin/plugin_loading.py", "plugin\\plugin_loading.py")
        ):
            place = f" ({file}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place
