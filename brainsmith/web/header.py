"""The top of the page: what was built, for what, whether it can be trusted, and its key figures."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith.web import figures
from brainsmith.web.content import Fields, Layer, Step, Subject, fields
from brainsmith.web.elements import section, sentence
from brainsmith.web.figures import number
from brainsmith.web.layers import slowest
from brainsmith.web.markup import Markup, tag
from brainsmith.web.verdict import Verdict

_SIGNS = {
    "good": "M4 10.5l4 4 8-9",
    "partial": "M10 4v8M10 15v1.5",
    "bad": "M5 5l10 10M15 5L5 15",
    "open": "M5 10h10",
}
_NO_ESTIMATE = "the build ended before the step that makes them, or has no such step."
CONTENTS = ("summary", "warnings", "graphs", "steps", "layers", "plugins")


def masthead(subject: Subject, verdict: Verdict, seconds: float) -> Markup:
    """Write the page's heading with the verdict and the facts of the build."""
    facts = [(name, value) for name, value in _facts(subject, seconds) if value]
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
        ("Build time", figures.seconds(seconds)),
    ]


def _verdict(verdict: Verdict) -> Markup:
    sign = tag(
        "svg",
        tag("path", d=_SIGNS[verdict.kind]),
        viewBox="0 0 20 20",
        aria_hidden="true",
        width=20,
        height=20,
    )
    words = tag("p", tag("strong", verdict.title), " ", tag("span", verdict.sentence))
    return tag("div", sign, words, class_=f"verdict {verdict.kind}")


def summary(report: Fields, subject: Subject, layers: Sequence[Layer], steps: Sequence[Step]) -> Markup:
    """Show the key figures and the accuracy before and after."""
    estimate = fields(report.get("estimate"))
    accuracy = _accuracy(fields(report.get("accuracy")))
    tiles = [
        *accuracy,
        *_speed(subject, estimate, layers),
        *_resources(estimate),
    ]
    notes = []
    if not accuracy:
        notes.append(
            sentence("Accuracy was not measured: no labelled samples were given, or the build ended before.")
        )
    if not any(number(estimate.get(key)) is not None for key in ("fps", "interval_cycles", "lut")):
        notes.append(sentence("There are no estimates: " + (_NO_ESTIMATE if steps else "no step ran.")))
    return section("summary", "Summary", tag("div", tiles, class_="tiles") if tiles else None, notes)


def _tile(name: str, value: str, note: str = "", kind: str = "") -> Markup:
    small = tag("p", note, class_=f"note {kind}".strip()) if note else None
    return tag("div", tag("h3", name), tag("p", value, class_="figure"), small, class_="tile")


def _accuracy(accuracy: Fields) -> list[Markup]:
    before, after = number(accuracy.get("before")), number(accuracy.get("after"))
    if before is None and after is None:
        return []
    samples = number(accuracy.get("samples"))
    on = f"on {figures.plural(samples, 'sample')}" if samples else ""
    if before is None or after is None:
        when = "before the first step" if after is None else "after the last step"
        return [
            _tile("Accuracy", figures.percent(after if before is None else before), f"{when} {on}".strip())
        ]
    note = (
        f"before and after {on}".strip()
        if before == after
        else f"was {figures.percent(before)} before, {on}".rstrip(", ")
    )
    return [_tile("Accuracy", figures.percent(after), note, "" if after >= before else "bad")]


def _speed(subject: Subject, estimate: Fields, layers: Sequence[Layer]) -> list[Markup]:
    fps, interval, latency = (
        number(estimate.get(key)) for key in ("fps", "interval_cycles", "latency_cycles")
    )
    clock, wanted, top = subject.clock_ns, subject.fps, slowest(layers)
    tiles = []
    if fps is not None:
        met = (
            f"target {figures.count(wanted)}: {'met' if fps >= wanted else 'missed'}"
            if wanted
            else "frames per second"
        )
        tiles.append(_tile("FPS", figures.count(fps), met, "bad" if wanted and fps < wanted else ""))
    if interval is not None:
        tiles.append(
            _tile("Interval", figures.count(interval), f"cycles, set by {top.name}" if top else "cycles")
        )
    if latency is not None:
        time = figures.seconds(latency * clock * 1e-9) if clock else ""
        tiles.append(
            _tile(
                "Latency",
                time or f"{figures.count(latency)} cycles",
                f"{figures.count(latency)} cycles" if time else "",
            )
        )
    return tiles


def _resources(estimate: Fields) -> list[Markup]:
    shown = (
        ("lut", "LUT", "look-up tables"),
        ("bram18", "BRAM", "block RAMs of 18 Kb"),
        ("dsp", "DSP", "multipliers"),
    )
    return [
        _tile(name, figures.count(value), note)
        for key, name, note in shown
        if (value := number(estimate.get(key))) is not None
    ]
