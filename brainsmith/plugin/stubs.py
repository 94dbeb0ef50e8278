"""Write type stubs of `brainsmith.plugins`, so that editors complete `tfm.finn.` with signatures and docstrings.

The stubs hold all that the sources say: neither FINN nor QONNX has to be typed, installed where the editor runs, or
imported.
"""

from __future__ import annotations

import keyword
import os
from inspect import signature as python_signature

from brainsmith import TYPE_CHECKING
from brainsmith.errors import OutputError, PluginLoadError
from brainsmith.plugin.collections import CLASSES, Backends, Collection, Kernels
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
    f"{plugin_type}s": plugin_type for plugin_type in ("transform", "kernel", "backend", "step", "op")
}
"""The collections in `brainsmith.plugins`, and the plugin type of each."""

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
'''

_BASES = {Collection: "_Plugins", Kernels: "_KernelPlugins", Backends: "_BackendPlugins"}
_SPECIAL = ("__getitem__", "__contains__", "__iter__", "__len__")
_OFFERED = {
    cls: [name for name in vars(cls) if name in _SPECIAL or (name.islower() and not name.startswith("_"))]
    for cls in _BASES
}
"""What the collections themselves are asked for."""


def write_stubs(registry: Registry, reexports: Mapping[str, str], folder: str) -> str:
    """Write the stubs of the module `brainsmith.plugins`.

    Args:
        registry: What is there.
        reexports: The other names in `brainsmith.plugins`, and the modules that they come from.
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
    lines = [_HEAD.format(reexports="\n".join(imports)), *map(_base, _BASES)]
    for name, plugin_type in COLLECTIONS.items():
        chosen = [info for info in records if info.type == plugin_type]
        lines.extend(_collection(name, plugin_type, chosen, details))
    exported = ", ".join(f'"{name}"' for name in sorted([*COLLECTIONS, *reexports]))
    lines.append(f"__all__ = [{exported}]")
    return "\n".join(lines) + "\n"


def _base(cls: type[Collection]) -> str:
    """Return the class of a collection's class: what collections offer, with the first line of each docstring."""
    lines = [f"class {_BASES[cls]}({'type' if cls is Collection else _BASES[Collection]}):"]
    for name in _OFFERED[cls]:
        function = getattr(cls, name)
        lines.append(f"    def {name}{python_signature(function)}:")
        first = (function.__doc__ or "").partition("\n")[0]
        lines += [f'        """{first}"""'] if first else ["        ..."]
    return "\n".join([*lines, ""])


def _details(info: PluginInfo) -> Details | None:
    try:
        return details_of(info)
    except PluginLoadError:
        return None


def _collection(
    name: str, plugin_type: str, records: list[PluginInfo], details: Mapping[PluginInfo, Details | None]
) -> Iterator[str]:
    """Yield the class of one collection: in it one class for each framework, then the bare names.

    It is a class, though the collection is an object: only so do type checkers let its plugins be base classes
    and annotations.
    """
    base = _BASES[CLASSES.get(plugin_type, Collection)]
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
    return usual and not any(name in offered for offered in _OFFERED.values())


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
