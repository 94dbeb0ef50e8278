"""Import plugins: the one module that does."""

from __future__ import annotations

import os
import sys

from brainsmith.errors import PluginLoadError
from brainsmith.forks import lock_of
from brainsmith.store.files import read_bytes
from brainsmith.store.fingerprint import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from brainsmith.plugin.info import PluginInfo

FOLDER_PREFIX = "brainsmith_folder_"
"""Plugin folders that are no packages are imported below a module of this name and a digest of their path."""

_LOCK = lock_of()
_FOLDERS: dict[str, str] = {}
"""The mounted folders that are packages, by the name of their module."""
_PLUGINS: set[str] = set()
"""The mounted folders of which plugins are imported by their records."""


def load(info: PluginInfo) -> Any:
    """Return the real object of a record: the same that an import statement gives.

    Raises:
        PluginLoadError: The import failed; the plugin's own error is shown and chained.
    """
    from brainsmith.plugin.registry import REGISTRY

    return REGISTRY.load(info)


def import_object(info: PluginInfo) -> Any:
    """Import the object that a record refers to.

    No lock but Python's own is held meanwhile, so a plugin may use the hub while it is imported.

    Raises:
        PluginLoadError: The import failed, or the module has no such object.
    """
    if info.type == "bundle" and "path" in info.extra:
        raise PluginLoadError(
            f"bundle {info.qualified!r} is not loaded: brainsmith.plugins.load_plugin({info.extra['path']!r}) loads it"
        )
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
        PluginLoadError: The import failed, for whatever reason; a plugin may raise anything. Or the module changed since
            it was imported, and cannot be loaded anew.
    """
    if module_name in sys.modules:
        from brainsmith.plugin.renewal import refuse_changed

        refuse_changed([module_name])
    try:
        _prepare(info)
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
    from brainsmith.plugin.not_found import INSTALL

    return f"\n  {name.upper()} is not installed: {INSTALL[name]}" if name in INSTALL else ""


def _imported(module_name: str, info: PluginInfo) -> ModuleType:
    """Import a module, with its source and what it reads from outside noted."""
    from brainsmith.plugin.read_rules import FRAMEWORKS, read_rules
    from brainsmith.plugin.renewal import note_imported, note_reads
    from brainsmith.store.imported import note_imports
    from brainsmith.store.recorder import Recorder

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


def _prepare(info: PluginInfo) -> None:
    if info.module.startswith(FOLDER_PREFIX):
        name = info.module.partition(".")[0]
        mount_folder(name, info.extra["folder"])
        _PLUGINS.add(name)
    if info.framework == "finn" or any(need.startswith("finn") for need in info.requires):
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
    elif info.framework == "qonnx" or any(need.startswith("qonnx") for need in info.requires):
        from brainsmith.plugin.adapters.framework_mends import mend_frameworks

        mend_frameworks()


def folder_module(folder: str) -> str:
    """Return the name of the module below which the files of a folder are imported: the same in every process."""
    return FOLDER_PREFIX + short_digest(folder)


def mount_folder(name: str, folder: str) -> None:
    """Make a folder importable as a package, without touching `sys.path`."""
    with _LOCK:
        if name in sys.modules or name in _FOLDERS:
            return
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            _FOLDERS[name] = folder
            if _FolderFinder not in sys.meta_path:
                sys.meta_path.append(_FolderFinder)
            return
        sys.modules[name] = _package_of(name, folder)


def _package_of(name: str, folder: str) -> ModuleType:
    """Return a package of a folder without `__init__.py`; `importlib.resources` finds the folder's files by it."""
    from importlib.machinery import ModuleSpec, NamespaceLoader
    from types import ModuleType

    package = ModuleType(name, f"The plugin folder {folder}.")
    package.__path__ = [folder]
    loader = NamespaceLoader(name, [folder], lambda name, path: None)
    package.__spec__ = ModuleSpec(name, loader, is_package=True)
    package.__spec__.submodule_search_locations = [folder]
    return package


def plugin_mounts() -> frozenset[str]:
    """Return the modules below which plugins are imported by their records: nobody else knows these names."""
    return frozenset(_PLUGINS)


def unmount(name: str) -> None:
    """Forget a mounted folder and all modules below it, and that Python knows what is in it."""
    with _LOCK:
        modules = [known for known in list(sys.modules) if known == name or known.startswith(f"{name}.")]
        # Of a folder without `__init__.py` Python asks the module above it, so all are asked before one is forgotten.
        folders = [
            folder for module in modules for folder in getattr(sys.modules.get(module), "__path__", ())
        ]
        for module in modules:
            sys.modules.pop(module, None)
        for folder in folders:
            sys.path_importer_cache.pop(folder, None)


def import_file(path: str) -> tuple[ModuleType, ModuleType | None]:
    """Run a Python file as a module below that of its folder; each call runs it anew.

    What it imports from beside it (`from . import x`) is imported once, as ever.

    Returns:
        The module, and the one in whose place it now stands, if there was one.

    Raises:
        PluginLoadError: It is no Python, or raised.
    """
    from types import ModuleType

    from brainsmith.store.imported import note_source

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
        stand_in(module.__name__, before)
        if isinstance(error, Exception | SystemExit):
            raise PluginLoadError(f"{path} cannot be loaded: it raised {describe_error(error)}") from error
        raise
    return module, before


def stand_in(name: str, module: ModuleType | None) -> None:
    """Let a module, or nothing, be what the imports of a name give."""
    if module is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module


class _FolderFinder:
    """Lets Python's own import run the `__init__.py` of a mounted folder."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return how a mounted folder is imported."""
        if name not in _FOLDERS:
            return None
        from importlib.util import spec_from_file_location

        from brainsmith.store.imported import noting

        folder = _FOLDERS[name]
        init = os.path.join(folder, "__init__.py")
        spec = spec_from_file_location(name, init, submodule_search_locations=[folder])
        return spec and noting(spec)


def describe_error(error: BaseException) -> str:
    """Return an error's class and text, and the line that raised it."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    place = _innermost(error)
    return f"{text}{place}"


def _innermost(error: BaseException) -> str:
    """Return ` (file:line)` of the plugin's own line that raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""
    trace = error.__traceback__
    place = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and not file.endswith(("plugin/loading.py", "plugin\\loading.py")):
            place = f" ({file}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place
