"""The reference: a page for each part of the package, made from the list of public names in docs/stability.md.

What a page says of a name is its docstring, which mkdocstrings reads from the source. Many public names are imported when
they are asked for, which no source shows; so the names are looked up in the running package first, and each is
described where it is defined.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ERRORS = "brainsmith.errors"
FOLDER = "reference"
_ROW = re.compile(r"^\| `(brainsmith[\w.]*)` \| (.+) \| .+ \|$", re.MULTILINE)


class PublicName(NamedTuple):
    """A name that users may import, and where it is defined."""

    module: str
    name: str
    definition: str

    @property
    def path(self) -> str:
        """The name as it is imported: `brainsmith.ops.Tensor`."""
        return f"{self.module}.{self.name}"


def public_names(root: Path) -> list[PublicName]:
    """Return all names that docs/stability.md calls public, in its order; then the errors."""
    listed = (root / "docs" / "stability.md").read_text(encoding="utf-8").partition("\n## Modules\n")[2]
    rows = [(module, re.findall(r"`(\w+)`", names)) for module, names in _ROW.findall(listed)]
    errors = vars(import_module(ERRORS))
    own = [
        name
        for name, value in errors.items()
        if getattr(value, "__module__", "") == ERRORS and name[0] != "_"
    ]
    return [
        PublicName(module, name, _definition(module, name))
        for module, names in [*rows, (ERRORS, own)]
        for name in names
    ]


def reference_pages(root: Path) -> dict[str, str]:
    """Return the pages in Markdown, by their addresses; the first one lists the others."""
    parts: dict[str, list[PublicName]] = {}
    for name in public_names(root):
        parts.setdefault(_part(name.module), []).append(name)
    described: dict[str, PublicName] = {}
    pages = {}
    for part, names in parts.items():
        pages[f"{FOLDER}/{part}.md"] = f"# {part}\n\n" + "\n\n".join(_sections(part, names, described)) + "\n"
    return {f"{FOLDER}/index.md": _index(parts), **pages}


def _definition(module: str, name: str) -> str:
    """Return where a name is defined. A value has no such place but where it is a name of."""
    if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}"):
        return f"{module}.{name}"
    value = getattr(import_module(module), name)
    if inspect.ismodule(value):
        return value.__name__
    if inspect.isclass(value) or inspect.isfunction(value):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{module}.{name}"


def _part(module: str) -> str:
    """Return the part of the package whose page has a module: `brainsmith.rtl` for `brainsmith.rtl.cores`."""
    return ".".join(module.split(".")[:2])


def _sections(part: str, names: list[PublicName], described: dict[str, PublicName]) -> Iterator[str]:
    """Yield what a page says: each module's first sentence, then its names.

    A name is described once; what is defined as another name is, is a link to that one.
    """
    module = ""
    for name in names:
        if name.module != module:
            module = name.module
            if module != part:
                yield f"## {module}"
            yield str(inspect.getdoc(import_module(module))).partition("\n\n")[0]
        level = 2 if module == part else 3
        first = described.setdefault(name.definition, name)
        if first is not name:
            yield f"{'#' * level} {name.path} {{ #{name.path} }}"
            yield f"The same as [`{first.path}`]({_part(first.module)}.md#{first.path})."
            continue
        if name.definition != name.path:
            yield f'<a id="{name.path}"></a>'
        yield _block(name.definition, heading=name.path, toc_label=name.name, heading_level=str(level))


def _block(path: str, **options: str) -> str:
    lines = "".join(f"\n        {option}: {value}" for option, value in options.items())
    return f"::: {path}\n    options:{lines}"


def _index(parts: dict[str, list[PublicName]]) -> str:
    rows = []
    for part, names in parts.items():
        shown = ", ".join(f"[`{name.name}`]({part}.md#{name.path})" for name in names)
        rows.append(f"| [`{part}`]({part}.md) | {shown} |")
    return "# Reference\n\n| module | public names |\n| --- | --- |\n" + "\n".join(rows) + "\n"
