"""Find what code depends on: the modules that it imports, and what these import in turn.

A module that is imported counts with the source that it was made of, any other with its file. So a key that is made
before a module is imported may not be true any more once it is: who keeps a result makes its key again afterwards.

Imports are read in the source, wherever they stand, and nothing is imported. What a module imports by a name that it
computes is not seen: such modules are given as roots, all below a package as `package.*`.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder
from types import MappingProxyType
from typing import TYPE_CHECKING

from brainsmith.store.files import read_bytes
from brainsmith.store.fingerprint import digest
from brainsmith.store.imported_sources import imported_source, is_installed
from brainsmith.structs import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:[^)#]|#[^\n]*)*\)|[^;\n]+)|import[ \t]+([^;\n]+))",
    re.M,
)
_TYPES_ONLY = re.compile(r"^([ \t]*)if (?:typing\.)?TYPE_CHECKING:[ \t]*\n(?:\1[ \t]+.*\n|[ \t]*\n)*", re.M)
_COMMENT = re.compile(r"#[^\n]*")
_NAME = re.compile(r"[\w.*]+")


class Sources(Struct):
    """The modules that some code is made of.

    Attributes:
        digests: What stands for each one's source, by its name.
        files: Where each one's source lies.
        unknown: Modules that are imported, and whose file has changed since, before it was known: nothing that they
            compute can be tied to a source.
    """

    digests: dict[str, str]
    files: dict[str, str]
    unknown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._fingerprint = ""  # of many modules; it is asked for again and again

    def of_files(self) -> dict[str, str]:
        """Return the digests by file."""
        return {path: self.digests[name] for name, path in self.files.items()}

    def fingerprint(self) -> str | None:
        """Return what stands for all of them; None if one is unknown."""
        if self.unknown:
            return None
        if not self._fingerprint:
            lines = (f"{name} {known}" for name, known in sorted(self.digests.items()))
            self._fingerprint = digest("\n".join(lines))
        return self._fingerprint


def sources_of(
    roots: Iterable[str], folders: Mapping[str, str] = MappingProxyType({}), without: tuple[str, ...] = ()
) -> Sources:
    """Return the modules that some modules are made of: themselves, what they import, and their packages.

    Those of the roots' own packages count, and others that are not installed; the versions of what is installed are
    for the caller to know.

    Args:
        roots: Names of modules; `package.*` is a package and everything below it.
        folders: Where packages lie that no path leads to, by their names.
        without: Packages that do not count, and are not followed.
    """
    roots = list(roots)
    own = {root.partition(".")[0] for root in roots}
    finder = _ModuleFinder(folders)
    digests: dict[str, str] = {}
    files: dict[str, str] = {}
    unknown = []
    seen: set[str] = set()
    waiting = [name for root in roots for name in finder.expanded(root)]
    while waiting:
        name = waiting.pop()
        if name in seen or name.partition(".")[0] in without:
            continue
        seen.add(name)
        path = finder.file_of(name)
        if path is None or (name.partition(".")[0] not in own and is_installed(path)):
            continue
        read = _source(name, path)
        if read is None:
            unknown.append(name)
            continue
        files[name] = path
        digests[name], text = read
        waiting.extend(imports_in(text, name, os.path.basename(path) == "__init__.py"))
    return Sources(digests, files, tuple(sorted(unknown)))


def _source(name: str, path: str) -> tuple[str, bytes] | None:
    """Return digest and text of a module's source; None if it cannot be known."""
    if name in sys.modules:
        known = imported_source(name)
        return None if known is None else (known.digest, known.data)
    try:
        data = read_bytes(path)
    except OSError:
        return None
    return digest(data), data


def imports_in(source: bytes, module: str, is_package: bool) -> Iterator[str]:
    """Yield every name that may be a module which a source imports, with the packages that they lie in."""
    text = _TYPES_ONLY.sub("", source.decode("utf-8", "replace").replace("\r\n", "\n").replace("\\\n", " "))
    parts = module.split(".")
    yield from _with_packages(module)
    for start, names, plain in _IMPORT.findall(text):
        if plain:
            for item in _COMMENT.sub("", plain).split(","):
                if found := _NAME.match(item.strip()):
                    yield from _with_packages(found[0])
            continue
        level = len(start) - len(start.lstrip("."))
        base = parts[: len(parts) + is_package - level] if level else []
        package = ".".join([*base, *filter(None, [start.lstrip(".")])])
        yield from _with_packages(package)
        for item in _COMMENT.sub("", names).strip(" ()").split(","):
            if (found := _NAME.match(item.strip(" \n\t()"))) and found[0] != "*":
                yield f"{package}.{found[0]}"


def _with_packages(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


class _ModuleFinder:
    """Finds modules as Python's own import does, and imports nothing."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders
        self._found: dict[str, list[str]] = {}

    def file_of(self, name: str) -> str | None:
        """Return the Python file of a module; None if there is none: it is built in, a namespace, or no module at all."""
        module = sys.modules.get(name)
        if module is not None:
            file = getattr(module, "__file__", None)
            return file if isinstance(file, str) and file.endswith(".py") else None
        head, _, last = name.rpartition(".")
        if not head:
            return self._top_file(name)
        for folder in self.folders_of(head):
            for path in (os.path.join(folder, last, "__init__.py"), os.path.join(folder, f"{last}.py")):
                if os.path.isfile(path):
                    return path
        return None

    def folders_of(self, package: str) -> list[str]:
        """Return the folders in which a package's modules lie."""
        if package not in self._found:
            self._found[package] = self._search(package)
        return self._found[package]

    def expanded(self, root: str) -> list[str]:
        """Return the modules that a root names."""
        if not root.endswith(".*"):
            return [root]
        package = root[:-2]
        names = [package]
        for folder in self.folders_of(package):
            for here, below, files in os.walk(folder):
                below[:] = [name for name in below if name.isidentifier() and name != "__pycache__"]
                parts = [part for part in os.path.relpath(here, folder).split(os.sep) if part != "."]
                inner = ".".join([package, *parts])
                stems = [file[:-3] for file in files if file.endswith(".py")]
                stems = [stem for stem in stems if stem.isidentifier() and stem != "__init__"]
                names += [inner, *(f"{inner}.{stem}" for stem in stems)]
        return names

    def _top_file(self, name: str) -> str | None:
        if name in self._folders:
            path = os.path.join(self._folders[name], "__init__.py")
            return path if os.path.isfile(path) else None
        if name in sys.builtin_module_names or name in sys.stdlib_module_names:
            return None
        spec = PathFinder.find_spec(name)
        return spec.origin if spec is not None and spec.origin and spec.origin.endswith(".py") else None

    def _search(self, package: str) -> list[str]:
        module = sys.modules.get(package)
        if module is not None:
            return list(getattr(module, "__path__", ()))
        if package in self._folders:
            return [self._folders[package]]
        head, _, last = package.rpartition(".")
        if head:
            folders = [os.path.join(folder, last) for folder in self.folders_of(head)]
            return [folder for folder in folders if os.path.isdir(folder)]
        if package in sys.stdlib_module_names:
            return []
        spec = PathFinder.find_spec(package)
        return list((spec.submodule_search_locations if spec is not None else None) or ())
