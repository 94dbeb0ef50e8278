"""`brainsmith diff`: what differs between two builds, from the model and the blueprint to layers and figures."""

from __future__ import annotations

from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.build.build_differences import differences
from brainsmith.cli.terminal import in_columns
from brainsmith.errors import UsageError
from brainsmith.figures import as_stated, plural
from brainsmith.steps.step_reports import read_report

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.build.build_differences import BuildDifference
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_MOST = 40
_LONG = 60


def run(options: Options, terminal: Terminal) -> int:
    """Print each difference with both values; numbers also by how much."""
    first, second = (options.required(name) for name in ("DIR1", "DIR2"))
    found = differences(_report(first), _report(second))
    document = {
        section: [{"what": one.what, "before": one.before, "after": one.after} for one in each]
        for section, each in found.items()
    }
    terminal.give(lambda: {**document, "error": None}, lambda: _show(found, terminal))
    return 0


def _report(folder: str) -> dict[str, Any]:
    """Return the report of a build.

    Raises:
        UsageError: The folder has none.
        BuildError: It is damaged.
    """
    found = read_report(Path(folder) / "report.json")
    if found is None:
        raise UsageError(f"{folder} is no folder of a build: it has no report.json")
    return found


def _show(found: dict[str, list[BuildDifference]], terminal: Terminal) -> None:
    for section, each in found.items():
        terminal.write(f"{section}: {plural(len(each), 'difference') if each else 'the same'}")
        if each:
            rows = [[""] * 5, *map(_row, each[:_MOST])]
            for row in in_columns(rows)[1:]:
                terminal.write(f"  {'  '.join(row)}".rstrip())
        if len(each) > _MOST:
            terminal.write(f"  ... {len(each) - _MOST} more, which --json prints")


def _row(one: BuildDifference) -> list[str]:
    return ["", one.what, _said(one.before), _said(one.after), _change(one)]


def _said(value: Any) -> str:
    if value is None:
        return "-"
    text = f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}..."


def _change(one: BuildDifference) -> str:
    before, after = as_stated(one.before), as_stated(one.after)
    return f"{after / before - 1:+.1%}" if before and after is not None else ""
