"""A docstring as a reader wants it: paragraphs flow, sections have headings, and what is laid out by hand stays so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from brainsmith.markup import Markup, tag
from brainsmith.web.catalogue.page_frame import prose

_HEADING = re.compile(
    r"(Args|Arguments|Parameters|Attributes|Returns|Return|Yields|Raises|Notes?|Examples?|See Also|References|"
    r"Limitations|Assumptions|Warnings?):?\s*"
)
_LAID_OUT = re.compile(r"^(?:\s|[-*+>|=#~]|\d+[.)]\s|:\w+)")
_DEFINED = re.compile(r"^(\s+)(\*{0,2}\w[\w., *|\[\]]{0,60}?(?:\s*\([^)]*\))?):\s+(.*)$")


def documentation(docstring: str) -> list[Markup]:
    """Return a docstring as elements."""
    return [one for block in _blocks(docstring) for one in _written(block)]


def _blocks(docstring: str) -> Iterator[list[str]]:
    """Yield runs of lines without an empty one between them."""
    lines = [line.rstrip() for line in docstring.splitlines()]
    for empty, run in groupby(lines, key=lambda line: not line):
        if not empty:
            yield list(run)


def _written(block: list[str]) -> Iterator[Markup]:
    heading = _HEADING.fullmatch(block[0])
    if heading and (len(block) == 1 or block[1].startswith((" ", "-", "\t"))):
        yield tag("h3", heading[1])
        rest = block[1:]
        if rest and set(rest[0]) == {"-"}:
            rest = rest[1:]
        if rest:
            yield from _under_heading(rest)
        return
    if any(_LAID_OUT.match(line) for line in block):
        yield tag("pre", "\n".join(block))
        return
    yield tag("p", prose(" ".join(block)))


def _under_heading(lines: list[str]) -> Iterator[Markup]:
    """Write names and their meanings as a list; anything else as it is laid out."""
    pairs: list[tuple[str, list[str]]] = []
    indent = ""
    for line in lines:
        found = _DEFINED.match(line)
        if found and (not pairs or found[1] == indent):
            indent = found[1]
            pairs.append((found[2], [found[3]]))
        elif pairs and line.startswith(f"{indent} "):
            pairs[-1][1].append(line.strip())
        else:
            yield tag("pre", "\n".join(lines))
            return
    items = [[tag("dt", tag("code", name)), tag("dd", prose(" ".join(words)))] for name, words in pairs]
    yield tag("dl", items, class_="defined")
