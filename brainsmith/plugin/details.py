"""Read what is asked of one plugin only, and costs parsing: its parameters and its docstring."""

from __future__ import annotations

import ast
import inspect
import os
import time
from functools import lru_cache, partial
from typing import NamedTuple

from brainsmith import TYPE_CHECKING
from brainsmith.errors import PluginLoadError
from brainsmith.plugin.bindings import places_of
from brainsmith.plugin.isolation import UNREADABLE, on_enough_stack, unreadable
from brainsmith.plugin.package_files import module_files
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.source_files import SourceFile, read_source
from brainsmith.plugin.syntax import DefinitionNode
from brainsmith.settings import cache_dir
from brainsmith.store.files import is_racy, stamp, stamps
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.store.files import Stamp

    SourceOf = Callable[[str], PythonSource | None]

REQUIRED = "<required>"
"""The default of a parameter that has none."""


class Parameter(NamedTuple):
    """One parameter of a constructor or function.

    Attributes:
        name: Its name, with `*` or `**` in front if it takes many.
        default: Its default as Python text, or `REQUIRED`.
        annotation: Its type as Python text; empty if it has none.
        keyword_only: Whether it can be given by name only.
    """

    name: str
    default: str = REQUIRED
    annotation: str = ""
    keyword_only: bool = False

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default == REQUIRED and not self.name.startswith("*")

    def __str__(self) -> str:
        text = f"{self.name}: {self.annotation}" if self.annotation else self.name
        if self.default == REQUIRED:
            return text
        return f"{text} = {self.default}" if self.annotation else f"{text}={self.default}"

    def __repr__(self) -> str:
        return f"Parameter({str(self)!r})"


class Details(NamedTuple):
    """What the source says of one plugin.

    Attributes:
        parameters: Of the constructor or function, without `self`.
        docstring: Cleaned of its indentation; empty if there is none.
        bases: Of a class: the names of its bases as written.
    """

    parameters: tuple[Parameter, ...]
    docstring: str
    bases: tuple[str, ...]


def details_of(info: PluginInfo) -> Details:
    """Read a plugin's details from its source, without importing it.

    They are kept on disk as long as every file that says something of it, its bases' too, is the same.

    Raises:
        PluginLoadError: The source does not exist, or does not define the plugin.
    """
    if info.type == "bundle" and "path" in info.extra:
        return Details((), "", ())  # its source is no Python: all it says is in the record
    folders = info.extra.get("folders")
    found = [] if info.file else module_files(info.import_name, folders and list(folders))[0]
    path = info.file or next((file.path for file in found), "")
    if not path or not os.path.isfile(path):
        raise PluginLoadError(
            f"{info.type} {info.qualified!r}: its source {path or info.module!r} does not exist"
        )
    kept = Kept(cache_dir(), "details", f"{path}|{info.reference}|and bases")
    plain = kept.load(None)
    if plain is None or stamps(plain[0]) != plain[1]:
        begin = time.time_ns()
        files = {path: stamp(path)}
        try:
            details = on_enough_stack(_read, info, path, files)
        except SyntaxError as error:
            raise PluginLoadError(f"{path}:{error.lineno}: the file is not Python: {error.msg}") from error
        except UNREADABLE as error:
            raise PluginLoadError(str(unreadable(path, error))) from error
        # Stamps that are too young do not show every change.
        if not any(is_racy(one, begin) for one in files.values()):
            parameters = [tuple(parameter) for parameter in details.parameters]
            plain = (list(files), list(files.values()), parameters, details.docstring, details.bases)
            kept.save(None, plain, {"of": f"{info.type} {info.qualified}", "stamped": (0, 1), "origin": {}})
        return details
    _, _, parameters, docstring, bases = plain
    return Details(tuple(Parameter(*values) for values in parameters), docstring, tuple(bases))


def _read(info: PluginInfo, path: str, files: dict[str, Stamp]) -> Details:
    source = _parsed(path, info.import_name, path.endswith("__init__.py"), read_source(path))
    name = info.reference.partition(":")[2]
    node = _find(source, name)
    if node is None:
        raise PluginLoadError(f"{path} does not define {name!r}; it may be imported there from elsewhere")
    docstring = inspect.cleandoc(ast.get_docstring(node, clean=False) or "")
    if not isinstance(node, ast.ClassDef):
        return Details(tuple(_parameters(node.args, skip=0)), docstring, ())
    bases = tuple(ast.unparse(base) for base in node.bases)
    folders = info.extra.get("folders")
    source_of = partial(_source_of, files=files, folders=folders and list(folders))
    return Details(_constructor(source, node, frozenset(), source_of) or (), docstring, bases)


def _find(source: PythonSource, name: str) -> DefinitionNode | None:
    """Return the last definition of a name, which is the one that counts."""
    return next((item.node for item in reversed(source.definitions) if item.name == name), None)


def _constructor(
    source: PythonSource, node: ast.ClassDef, seen: frozenset[str], source_of: SourceOf
) -> tuple[Parameter, ...] | None:
    """Return the parameters of `__init__`, the class's own or the one that it inherits; None if none can be seen."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return tuple(_parameters(item.args, skip=1))
    if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return tuple(_fields(node))
    for base in node.bases:
        found = _class_of(source, ast.unparse(base), source_of)
        if found is not None and found[1].name not in seen:
            parameters = _constructor(*found, seen | {node.name}, source_of)
            if parameters is not None:
                return parameters
    return None


def _class_of(
    source: PythonSource, name: str, source_of: SourceOf
) -> tuple[PythonSource, ast.ClassDef] | None:
    """Return the class that a name in a file means, and its file; followed through imports, none of them run."""
    for place, name_there in places_of(source, name, source_of):
        node = _find(place, name_there)
        if isinstance(node, ast.ClassDef):
            return place, node
    return None


def _source_of(module: str, files: dict[str, Stamp], folders: list[str] | None) -> PythonSource | None:
    found = module_files(module, folders)[0] if module else []
    if not found:
        return None
    file = found[0]
    files[file.path] = stamp(file.path)
    return _parsed(file.path, file.module, file.is_package, read_source(file.path))


@lru_cache(maxsize=12)
def _parsed(path: str, module: str, is_package: bool, data: bytes) -> PythonSource:
    """Return a file's source; the last few are kept, since plugins that share files and bases are asked in a row."""
    return PythonSource(SourceFile(path, module, is_package), data)


def _parameters(arguments: ast.arguments, skip: int) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults.extend(arguments.defaults)
    for argument, default in list(zip(positional, defaults, strict=True))[skip:]:
        yield _parameter(argument, default)
    if arguments.vararg:
        yield Parameter(f"*{arguments.vararg.arg}", annotation=_text(arguments.vararg.annotation))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, default, keyword_only=True)
    if arguments.kwarg:
        yield Parameter(f"**{arguments.kwarg.arg}", annotation=_text(arguments.kwarg.annotation))


def _parameter(argument: ast.arg, default: ast.expr | None, keyword_only: bool = False) -> Parameter:
    text = REQUIRED if default is None else ast.unparse(default)
    return Parameter(argument.arg, text, _text(argument.annotation), keyword_only)


def _fields(node: ast.ClassDef) -> Iterator[Parameter]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            text = REQUIRED if item.value is None else ast.unparse(item.value)
            yield Parameter(item.target.id, text, _text(item.annotation))


def _text(node: Any) -> str:
    return ast.unparse(node) if node is not None else ""
