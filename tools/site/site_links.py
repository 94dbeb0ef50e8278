"""Where the site shows each file of the repository, and its pages' links, which are written for a code host.

One rule: a link leads to a file of the repository, relative to the file that it is in. The site has a place for each such
file (`address`): a page stays a page, a text is shown as a page of code, and anything else is a file to download. What a
page of `docs` or the README links to is on the site, and so on from there; so every version of the site is complete,
shows the files as they were, and needs no code host.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

DOCS = "docs/"
FIRST = "README.md"
"""The landing page."""

LANGUAGES = {
    ".c": "c", ".cff": "yaml", ".cpp": "cpp", ".h": "c", ".json": "json", ".py": "python", ".rs": "rust",
    ".sv": "systemverilog", ".tcl": "tcl", ".toml": "toml", ".txt": "text", ".v": "verilog",
    ".yaml": "yaml", ".yml": "yaml",
}  # fmt: skip
"""The texts that are shown as pages of code, by their endings."""

_CODE = re.compile(
    r"^( *)(`{3,}|~{3,}).*?^ *\2`*\s*?$|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`)", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=[)\s])")
_ELSEWHERE = re.compile(r"#|/|[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""How a link begins that leads to no other file of the repository."""


def address(path: str) -> str:
    """Return where the site has a file of the repository, relative to the pages' root.

    Args:
        path: The file, relative to the repository: `docs/cli.md`, `README.md`, `blueprints/x.yaml`.

    Returns:
        `cli.md`, `index.md`, `source/blueprints/x.yaml.md`. A folder whose name begins with a dot loses it, for many
        hosts do not serve these.
    """
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    if path == FIRST:
        return "index.md"
    folder, name = posixpath.split(path)
    if name.endswith(".md"):
        return path if name == FIRST else posixpath.join(folder, name.lower())
    visible = re.sub(r"(^|/)\.", r"\1", path)
    return f"source/{visible}" + (".md" if Path(path).suffix in LANGUAGES else "")


def target(link: str, path: str) -> str | None:
    """Return the file of the repository that a link of a file leads to; None if it leads elsewhere, or out of it."""
    if _ELSEWHERE.match(link):
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(path), link.partition("#")[0]))
    return None if found == ".." or found.startswith("../") else found


def links(text: str) -> list[str]:
    """Return what the links and images of a page lead to; what is code has none."""
    return _LINK.findall(_CODE.sub("", text))


def rewrite(text: str, path: str, root: Path) -> str:
    """Let the links of a page lead to where the site has their files.

    A link that leads to no file stays as it is: building the site reports it, with its page.

    Args:
        text: The page in Markdown.
        path: Its file, relative to the repository.
        root: The repository.
    """
    folder = posixpath.dirname(address(path))

    def moved(match: re.Match[str]) -> str:
        link = match.group()
        found = _file(target(link, path), root)
        if found is None:
            return link
        return posixpath.relpath(address(found), folder or ".") + "".join(link.partition("#")[1:])

    return _outside_code(text, lambda part: _LINK.sub(moved, part))


def shown_files(root: Path) -> list[str]:
    """Return all files that the site shows: the pages of `docs`, the README, and what they lead to, directly or not."""
    waiting = [FIRST, *(str(page.relative_to(root)) for page in sorted((root / DOCS).rglob("*.md")))]
    found = set(waiting)
    while waiting:
        path = waiting.pop()
        if path.endswith(".md"):
            new = {name for name in _targets(root, path) if name not in found}
            found |= new
            waiting.extend(sorted(new))
    return sorted(found)


def as_page(path: str, text: str) -> str:
    """Return the page that shows a text as code. It is reached by links, and no result of a search."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    code = f"{fence}{LANGUAGES[Path(path).suffix]}\n{text.rstrip()}\n{fence}"
    return f"---\nsearch:\n  exclude: true\n---\n# {posixpath.basename(path)}\n\n`{path}`\n\n{code}\n"


def _targets(root: Path, path: str) -> Iterator[str]:
    for link in links((root / path).read_text(encoding="utf-8")):
        found = _file(target(link, path), root)
        if found is not None:
            yield found


def _file(path: str | None, root: Path) -> str | None:
    """Return the file that is shown for a path: of a folder its README; None if there is none."""
    if path is not None and (root / path).is_dir():
        path = posixpath.normpath(posixpath.join(path, FIRST))
    return path if path is not None and (root / path).is_file() else None


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply a function to what is between the blocks and the spans of code."""
    parts, at = [], 0
    for code in _CODE.finditer(text):
        parts += [change(text[at : code.start()]), code.group()]
        at = code.end()
    return "".join([*parts, change(text[at:])])
