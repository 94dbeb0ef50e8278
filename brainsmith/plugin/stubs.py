"""Write type stubs of the door, so that editors complete `tfm.finn.` with signatures and docstrings.

The stubs hold all that the sources say: neither FINN nor QONNX has to be typed, installed where the editor runs, or
imported.
"""

from __future__ import annotations

import keyword
import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import OutputError, PluginLoadError
from brainsmith.plugin.details import details_of
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.precedence import framework_identifier, named
from brainsmith.plugin.stub_signatures import signature
from brainsmith.store.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from brainsmith.plugin.details import Details
    from brainsmith.plugin.info import PluginInfo

DEFAULT_FOLDER = "typings"
"""Where pyright looks for stubs by default (`stubPath`)."""

COLLECTIONS = {
    "transforms": "transform",
    "kernels": "kernel",
    "backends": "backend",
    "steps": "step",
    "ops": "op",
}
"""The door's collections, and the plugin type of each."""

_HEAD = '''\
"""The plugins that `brainsmith plugins stubs` found. Written by it: run it again when plugins change."""

# ruff: noqa
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Dict, List, Literal, Optional, Set, Tuple, Type, TypeAlias, Union

from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.records import RecordList
{reexports}

class _Transformation:
    def apply(self, model: Any) -> tuple[Any, bool]:
        """Change a model; the flag tells whether to apply it again."""
    def __getattr__(self, name: str) -> Any: ...

class _Operator:
    def __getattr__(self, name: str) -> Any: ...

class _Plugins(type):
    def list_plugins(self) -> RecordList:
        """Return the records, without importing anything."""
    def get_plugin(self, name: str) -> Any:
        """Return the object of `Name` or `framework:Name`."""
    def get_info(self, name: str) -> PluginInfo:
        """Return the record of `Name` or `framework:Name`, without importing anything."""
    def frameworks(self) -> list[str]:
        """Return the frameworks that have plugins here."""
    def items(self) -> list[tuple[str, PluginInfo]]:
        """Return pairs (name, record), without importing anything."""
    def values(self) -> list[PluginInfo]:
        """Return the records, without importing anything."""
    def __getitem__(self, name: str) -> Any: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[PluginInfo]: ...
    def __len__(self) -> int: ...

class _KernelPlugins(_Plugins):
    def backends(self, kernel: str) -> RecordList:
        """Return the backends that implement a kernel."""

class _BackendPlugins(_Plugins):
    def of(self, kernel: str) -> RecordList:
        """Return the backends that implement a kernel."""
'''

_BASES = {"kernel": "_KernelPlugins", "backend": "_BackendPlugins"}
_TAKEN = ("list_plugins", "get_plugin", "get_info", "frameworks", "items", "values", "backends", "of")
"""What the collections themselves are asked for; a plugin of such a name is reached by `collection["Name"]`."""


def write_stubs(registry: Registry, reexports: Mapping[str, str], folder: str) -> str:
    """Write the stubs of the module `brainsmith.plugins`.

    Args:
        registry: What is there.
        reexports: The door's names that are no collections, and the modules that they come from.
        folder: Where the stub package goes.

    Returns:
        The path of the stub.

    Raises:
        OutputError: The folder cannot be written.
    """
    path = os.path.join(folder, "brainsmith", "plugins.pyi")
    text = stub_text(registry, reexports)
    try:
        # Without its own __init__, type checkers take the installed package's module, not the stub.
        write_atomically(os.path.join(folder, "brainsmith", "__init__.pyi"), b"__version__: str\n")
        write_atomically(path, text.encode())
    except OSError as error:
        raise OutputError(f"{path}: the stubs cannot be written: {error.strerror}") from error
    return path


def stub_text(registry: Registry, reexports: Mapping[str, str]) -> str:
    """Return the text of the stub."""
    records = registry.records()
    # Plugins that share a file follow each other, so that it is parsed once.
    details = {info: _details(info) for info in sorted(records, key=lambda info: (info.file, info.line))}
    imports = [f"from {module} import {name} as {name}" for name, module in sorted(reexports.items())]
    lines = [_HEAD.format(reexports="\n".join(imports))]
    for name, plugin_type in COLLECTIONS.items():
        chosen = [info for info in records if info.type == plugin_type]
        lines.extend(_collection(name, plugin_type, chosen, details))
    exported = ", ".join(f'"{name}"' for name in sorted([*COLLECTIONS, *reexports]))
    lines.append(f"__all__ = [{exported}]")
    return "\n".join(lines) + "\n"


def _details(info: PluginInfo) -> Details | None:
    try:
        return details_of(info)
    except PluginLoadError:
        return None


def _collection(
    name: str, plugin_type: str, records: list[PluginInfo], details: Mapping[PluginInfo, Details | None]
) -> Iterator[str]:
    """Yield the class of one collection: in it one class for each framework, then the bare names.

    It is a class, though the door's collection is an object: only so do type checkers let its plugins be base classes
    and annotations.
    """
    base = _BASES.get(plugin_type, "_Plugins")
    yield f"class {name}(metaclass={base}):"
    # Names that several frameworks have, and none with precedence, mean nothing alone.
    bare = {name: info for name, info in named(records) if name == info.name and _is_usable(name)}
    for framework in dict.fromkeys(info.framework for info in records):
        own = {info.name: info for info in records if info.framework == framework}
        class_name = _class_name(framework, bare)
        yield f"    class {class_name}(metaclass={base}):"
        for info in own.values():
            yield from _indented(_indented(_plugin(name, info, details[info])))
        yield ""
    for info in bare.values():
        owner = _class_name(info.framework, bare)
        alias = ": TypeAlias" if plugin_type != "step" else ""
        yield f"    {info.name}{alias} = {owner}.{info.name}"
    if not records:
        yield "    ..."
    yield ""


def _class_name(framework: str, bare: Iterable[str]) -> str:
    """Return the name of a framework's class; one that a plugin has, or no identifier, is hidden."""
    identifier = framework_identifier(framework)
    return identifier if _is_usable(identifier) and identifier not in bare else f"_{identifier}"


def _is_usable(name: str) -> bool:
    usual = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    return usual and name not in _TAKEN


def _plugin(collection: str, info: PluginInfo, details: Details | None) -> Iterator[str]:
    if not _is_usable(info.name):
        yield f'# {collection}["{info.qualified}"]: its name is not an identifier, or is taken'
        return
    docstring = details.docstring if details is not None else info.description
    parameters = signature(details.parameters) if details is not None else "*args: Any, **kwargs: Any"
    if info.type == "step":
        yield "@staticmethod"
        yield f"def {info.name}({parameters}) -> Any:"
        yield from _indented(_docstring(docstring)) if docstring else ("    ...",)
        return
    yield f"class {info.name}({'_Transformation' if info.type == 'transform' else '_Operator'}):"
    if docstring:
        yield from _indented(_docstring(docstring))
    yield f"    def __init__(self{', ' if parameters else ''}{parameters}) -> None: ..."


def _docstring(text: str) -> Iterator[str]:
    safe = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if safe.endswith('"'):
        safe = f'{safe[:-1]}\\"'
    first, *rest = safe.splitlines()
    yield f'"""{first}' + ("" if rest else '"""')
    if rest:
        yield from rest
        yield '"""'


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" if line else "" for line in lines)
