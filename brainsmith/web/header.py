"""The top of the page: what was built, for what, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.web.elements import message
from brainsmith.web.subject import Subject
from brainsmith.web.verdict import Verdict

_SIGNS = {
    "good": "M4 10.5l4 4 8-9",
    "partial": "M10 4v8M10 15v1.5",
    "bad": "M5 5l10 10M15 5L5 15",
    "open": "M5 10h10",
}
CONTENTS = (
    "summary", "warnings", "graphs", "steps", "layers", "integers", "circuit", "synthesis", "targets", "plugins",
)  # fmt: skip


def masthead(subject: Subject, verdict: Verdict, seconds: float, files: Sequence[str] = ()) -> Markup:
    """Write the page's heading with the verdict and the facts of the build."""
    links = [tag("li", tag("a", name, href=name)) for name in files]
    listed = tag("ul", links, class_="files") if files else ""
    facts = [(name, value) for name, value in (*_facts(subject, seconds), ("Files", listed)) if value]
    return tag(
        "header",
        tag("p", "BrainSmith build report", class_="brand"),
        tag("h1", subject.name),
        _verdict(verdict),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        class_="masthead",
    )


def contents(warnings: int) -> Markup:
    """Write the links to the page's sections."""
    links = []
    for key in CONTENTS:
        amount = tag("span", warnings, class_="amount") if key == "warnings" and warnings else None
        links.append(tag("li", tag("a", key.capitalize(), amount, href=f"#{key}")))
    return tag("nav", tag("ul", links), aria_label="Contents", class_="contents")


def _facts(subject: Subject, seconds: float) -> list[tuple[str, str]]:
    clock = subject.clock_ns
    period = f"{figures.three_digits(clock)} ns ({figures.three_digits(1000 / clock)} MHz)" if clock else ""
    return [
        ("Model", subject.file),
        ("Blueprint", subject.blueprint),
        ("Target part", subject.part),
        ("Clock", period),
        ("Target rate", f"{figures.count(subject.fps)} frames/s" if subject.fps else ""),
        ("Time of the steps", figures.seconds(seconds)),
    ]


def _verdict(verdict: Verdict) -> Markup:
    path = tag("path", d=_SIGNS[verdict.kind])
    sign = tag("svg", path, viewBox="0 0 20 20", aria_hidden="true", width=20, height=20)
    words = tag("p", tag("strong", verdict.title), " ", tag("span", message(verdict.sentence)))
    points = tag("ul", [tag("li", message(point)) for point in verdict.points]) if verdict.points else None
    return tag("div", sign, tag("div", words, points), class_=f"verdict {verdict.kind}")
