"""The build's key figures: accuracy, speed, resources."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith.markup import Markup, tag
from brainsmith.web import figures
from brainsmith.web.content import Fields, Layer, Step, Subject, fields, items
from brainsmith.web.elements import section, sentence
from brainsmith.web.figures import number
from brainsmith.web.layers import slowest

_NO_ACCURACY = "Accuracy was not measured: no labelled samples were given, or the build ended before."
_NO_ESTIMATE = "the build ended before the step that makes them, or has no such step."
_RESOURCES = {
    "lut": ("LUT", "look-up tables"),
    "bram18": ("BRAM", "block RAMs of 18 Kb"),
    "dsp": ("DSP", "multipliers"),
}


def summary(report: Fields, subject: Subject, layers: Sequence[Layer], steps: Sequence[Step]) -> Markup:
    """Show the key figures and the accuracy before and after."""
    accuracy = _accuracy(fields(report.get("accuracy")))
    estimate = fields(report.get("estimate"))
    estimates = [*_speed(subject, estimate, layers), *_resources(estimate)]
    tiles = [tile for tile in (accuracy, *estimates) if tile]
    notes = [] if accuracy else [sentence(_NO_ACCURACY)]
    if not any(estimates):
        notes.append(sentence("There are no estimates: " + (_NO_ESTIMATE if steps else "no step ran.")))
    return section("summary", "Summary", tag("div", tiles, class_="tiles") if tiles else None, notes)


def _tile(name: str, value: str, note: str = "", bad: bool = False) -> Markup:
    small = tag("p", note, class_="note bad" if bad else "note") if note else None
    return tag("div", tag("h3", name), tag("p", value, class_="figure"), small, class_="tile")


def _accuracy(accuracy: Fields) -> Markup | None:
    before, after = number(accuracy.get("before")), number(accuracy.get("after"))
    samples = number(accuracy.get("samples"))
    on = f" on {figures.plural(samples, 'sample')}" if samples else ""
    if after is None:
        return (
            None
            if before is None
            else _tile("Accuracy", figures.percent(before), f"before the first step{on}")
        )
    if before is None:
        return _tile("Accuracy", figures.percent(after), f"after the last step{on}")
    if before == after:
        return _tile("Accuracy", figures.percent(after), f"before and after{on}")
    return _tile(
        "Accuracy", figures.percent(after), f"was {figures.percent(before)} before{on}", after < before
    )


def _speed(subject: Subject, estimate: Fields, layers: Sequence[Layer]) -> list[Markup | None]:
    interval, top = number(estimate.get("interval_cycles")), slowest(layers)
    limit = f"cycles, set by {top.name}" if top else "cycles"
    return [
        _rate(number(estimate.get("fps")), subject.fps),
        None if interval is None else _tile("Interval", figures.count(interval), limit),
        _latency(number(estimate.get("latency_cycles")), subject.clock_ns),
    ]


def _rate(fps: float | None, wanted: float | None) -> Markup | None:
    if fps is None:
        return None
    if wanted is None:
        return _tile("FPS", figures.count(fps), "frames per second")
    met = fps >= wanted
    return _tile(
        "FPS", figures.count(fps), f"target {figures.count(wanted)}: {'met' if met else 'missed'}", not met
    )


def _latency(cycles: float | None, clock_ns: float | None) -> Markup | None:
    if cycles is None:
        return None
    said = f"{figures.count(cycles)} cycles"
    return (
        _tile("Latency", figures.seconds(cycles * clock_ns * 1e-9), said)
        if clock_ns
        else _tile("Latency", said)
    )


def _resources(estimate: Fields) -> list[Markup | None]:
    unknown = len(items(estimate.get("lut_not_modelled")))
    bound = f"look-up tables, at least: {figures.plural(unknown, 'layer')} without a model"
    notes = {key: bound if key == "lut" and unknown else note for key, (_, note) in _RESOURCES.items()}
    values = {key: number(estimate.get(key)) for key in _RESOURCES}
    return [
        None if value is None else _tile(_RESOURCES[key][0], figures.count(value), notes[key])
        for key, value in values.items()
    ]
