"""What a build gives back, and what it tells while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brainsmith.store.reads import Reads

if TYPE_CHECKING:
    from pathlib import Path

    from brainsmith.build.shortfalls import Shortfall
    from brainsmith.progress import Work
    from brainsmith.web.step_result import StepResult


@dataclass(frozen=True)
class Progress:
    """Something that a build did; `str()` of it is one line for a terminal.

    Attributes:
        kind: "check", "start" (a step begins), "work" (how far a step is that takes long, once a second at most) or
            "done" (a step is over).
        index: Number of the step, from 1; 0 before the first.
        total: How many steps there are.
        text: The line without its number.
        step: The result, when it is done.
        works: What goes on, of "work": each with what, how much of how much, and for how long; the outermost first.
    """

    kind: str
    index: int
    total: int
    text: str
    step: StepResult | None = None
    works: tuple[Work, ...] = ()

    def __str__(self) -> str:
        if not self.index:
            return self.text
        width = len(str(self.total))
        return f"[{self.index:>{width}}/{self.total}] {self.text}"


@dataclass(frozen=True, repr=False)
class BuildResult:
    """A finished build.

    Attributes:
        output: The folder with everything.
        model: The last model, `model.onnx`.
        report: The content of `report.json`.
        steps: What ran, in order.
        warnings: What the user should know.
        explanations: For each step, why it was or was not reused.
        outside: What the steps read from outside.
        read: The files that the build read: model, blueprint, golden data, and what steps read.
        first_run: When the first step began that could not be reused, in seconds since the epoch; None if all were.
    """

    output: Path
    model: Path
    report: dict[str, Any]
    steps: tuple[StepResult, ...]
    warnings: tuple[str, ...] = ()
    explanations: tuple[str, ...] = field(default=())
    outside: Reads = field(default_factory=Reads)
    read: tuple[str, ...] = ()
    first_run: float | None = None

    @property
    def page(self) -> Path | None:
        """The report for people, `report.html`; None if it was left out."""
        from brainsmith.build.report import PAGE

        return path if (path := self.output / PAGE).is_file() else None

    @property
    def package(self) -> Path | None:
        """The folder of the packed accelerator; None if there is none."""
        from brainsmith.build.report import PACKAGE

        return path if (path := self.output / PACKAGE).is_dir() else None

    @property
    def shortfalls(self) -> tuple[Shortfall, ...]:
        """What is not proven, or not as it was asked for; each is a warning too."""
        from brainsmith.build.shortfalls import Shortfall

        return tuple(Shortfall(**shortfall) for shortfall in self.report["shortfalls"])

    @property
    def proven(self) -> bool:
        """Tell whether there is no shortfall."""
        return not self.report["shortfalls"]

    @property
    def estimate(self) -> dict[str, Any] | None:
        """Cycles, frames per second and resources; None if no step made an estimate."""
        estimate: dict[str, Any] | None = self.report["estimate"]
        return estimate

    @property
    def accuracy(self) -> dict[str, Any] | None:
        """Samples, and the share of right classes before and after; None without labels."""
        accuracy: dict[str, Any] | None = self.report["accuracy"]
        return accuracy

    def summary(self) -> str:
        """Return the lines that end a build on a terminal."""
        from brainsmith.build.report import summary_text

        return summary_text(self.report, self.output)

    def __repr__(self) -> str:
        """Say what the last lines of a build on a terminal say; the report has all."""
        lines = [shown[:_WIDTH] for shown in self.summary().splitlines()]
        more = len(lines) - _LINES
        kept = [*lines[:_LINES], f"and {more} more: summary()"] if more > 0 else lines
        return "\n  ".join([f"<BuildResult {self.model}", *kept]) + ">"

    def _repr_html_(self) -> str:
        from brainsmith.build.result_page import result_page

        return result_page(self)


_LINES, _WIDTH = 20, 160
"""How much of a summary a repr shows."""
