"""A finished build as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.report import PAGE, summary_pairs
from brainsmith.markup import tag

if TYPE_CHECKING:
    from brainsmith.build.result import BuildResult


def result_page(result: BuildResult) -> str:
    """Return the lines of the summary as a table, the warnings, and a link to the report."""
    pairs = summary_pairs(result.report, result.output)
    rows = [tag("tr", tag("th", name), tag("td", value)) for name, value in pairs]
    warnings = [tag("li", warning) for warning in result.report["warnings"]]
    page = result.output / PAGE
    link = tag("a", PAGE, href=page.resolve().as_uri()) if page.is_file() else None
    return str(tag("div", tag("table", rows), tag("ul", warnings) if warnings else None, link))
