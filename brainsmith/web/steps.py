"""The section of the build's steps: time, where each result came from, verification."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import total
from brainsmith.web.charts import Bar, bar_chart
from brainsmith.web.elements import cell, section, sentence, sort_key, table
from brainsmith.web.step_result import StepResult
from brainsmith.web.verdict import describe

_USUAL = "numpy"
_COLUMNS = ("#", "Step", "Time", "Verification", "Max. error", "Source", "Framework")


def steps_section(steps: Sequence[StepResult]) -> Markup:
    """Show time per step as bars, and each step with its verification."""
    if not steps:
        return section("steps", "Steps", sentence("No step ran."))
    reused = any(step.reused for step in steps)
    note = "of reused steps (hatched) as they took when they ran" if reused else ""
    chart = bar_chart("Time per step", [_bar(*one) for one in enumerate(steps)], figures.seconds, note)
    rows = table("Steps", _COLUMNS, [_row(*one) for one in enumerate(steps)], numeric={0, 2, 4})
    return section("steps", "Steps", tag("div", chart, rows, class_="split"), note=_note(steps))


def _note(steps: Sequence[StepResult]) -> str:
    seconds = total(step.seconds for step in steps)
    time = "" if seconds is None else f" in {figures.seconds(seconds)}"
    reused = sum(step.reused for step in steps)
    origin = f"{reused} reused from an earlier build with the same content" if reused else "none was reused"
    ran = total(step.original_seconds for step in steps if step.reused)
    they = "it" if reused == 1 else "they"
    before = "" if ran is None else f", where {they} took {figures.seconds(ran)}"
    return f"{figures.plural(len(steps), 'step')}{time}; {origin}{before}."


def _original(step: StepResult) -> float | None:
    """Return what a step took when it ran; None for a reused one of which that is not known."""
    return step.original_seconds if step.reused else step.seconds


def _bar(index: int, step: StepResult) -> Bar:
    style, mark = ("reused", "reused") if step.reused else ("plain", "")
    return Bar(f"{index + 1}  {step.name}", _original(step), style, mark, f"step-{index}")


def _row(index: int, step: StepResult) -> Markup:
    found = step.compared
    kind = "bad" if step.failed else "open" if found is None else "bad" if found.mismatches else "good"
    if found is not None and (found.changed is not None or found.changes_outputs):
        kind = "partial"
    error = found.max_error if found else None
    return tag(
        "tr",
        cell(index + 1),
        tag("th", step.name, scope="row"),
        cell(figures.seconds(_original(step)), _original(step)),
        tag("td", tag("span", describe(step), class_=f"state {kind}"), _notes(step)),
        cell(figures.small(error), error),
        tag(
            "td",
            f"reused in {figures.seconds(step.seconds)}" if step.reused else "run",
            title=step.cache or None,
            data_order=sort_key((step.seconds or 0) if step.reused else -1),
        ),
        tag("td", step.framework or figures.ABSENT),
        id=f"step-{index}",
    )


def _notes(step: StepResult) -> Markup | None:
    found = step.compared
    since = [f"compared with the results of {found.reference}"] if found and found.reference else []
    where = [f"executed by {found.target}"] if found and found.target not in ("", _USUAL) else []
    notes = [*(step.verified.notes if step.verified else ()), *since, *where]
    return tag("ul", [tag("li", note) for note in notes], class_="fine") if notes else None
