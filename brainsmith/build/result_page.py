"""A finished build as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.report import PAGE
from brainsmith.markup import tag

if TYPE_CHECKING:
    from brainsmith.build.result import BuildResult


def result_page(result: BuildResult) -> str:
    """Return the lines of the summary as a table, the warnings, and a link to the report."""
    rows, warnings = [], []
    for line in result.summary().splitlines():
        if line.startswith("warning: "):
            warnings.append(tag("li", line.removeprefix("warning: ")))
        elif line[:10].strip():
            rows.append(tag("tr", tag("th", line[:10].strip()), tag("td", line[11:])))
    page = result.output / PAGE
    link = tag("a", PAGE, href=page.resolve().as_uri()) if page.is_file() else None
    return str(tag("div", tag("table", rows), tag("ul", warnings) if warnings else None, link))
