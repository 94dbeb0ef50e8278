"""The build's key figures: accuracy, speed, resources."""

from __future__ import annotations

from collections.abc import Sequence

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items, numbers, total
from brainsmith.web.design_layers import DesignLayer
from brainsmith.web.elements import message, section, sentence
from brainsmith.web.layers_section import slowest
from brainsmith.web.step_result import StepResult
from brainsmith.web.subject import Subject

_NO_ACCURACY = "Accuracy was not measured: no labelled samples were given, or the build ended earlier."
_NO_ESTIMATE = "the build ended before the step that makes them, or has no such step."
_RESOURCES = {
    "lut": ("LUT", "look-up tables"),
    "bram18": ("BRAM", "block RAMs of 18 Kb"),
    "dsp": ("DSP", "multipliers"),
}


def summary(
    report: Fields, subject: Subject, layers: Sequence[DesignLayer], steps: Sequence[StepResult]
) -> Markup:
    """Show the key figures and the accuracy before and after."""
    unproven = [step.name for step in steps if step.compared is None and step.reason]
    accuracy = _accuracy(fields(report.get("accuracy")), unproven)
    estimate, circuit = fields(report.get("estimate")), fields(report.get("rtl"))
    rate = fields(report.get("rate"))
    speed = _measured(subject, circuit) or _speed(subject, estimate, layers)
    estimates = [*speed, *_resources(estimate, fields(report.get("synthesis")), fields(report.get("device")))]
    floats = _float_model(fields(report.get("float_model")))
    fit = _fit(fields(report.get("fit")))
    found = (_proven(report), accuracy, *floats, _circuit(circuit), _rate(rate), fit, *estimates)
    tiles = [tile for tile in found if tile]
    notes = [] if accuracy else [sentence(_NO_ACCURACY)]
    if not any(estimates):
        notes.append(sentence("There are no estimates: " + (_NO_ESTIMATE if steps else "no step ran.")))
    return section("summary", "Summary", tag("div", tiles, class_="tiles") if tiles else None, notes)


def _tile(name: str, value: str, note: str = "", bad: bool = False) -> Markup:
    small = tag("p", message(note), class_="note bad" if bad else "note") if note else None
    return tag("div", tag("h3", name), tag("p", value, class_="figure"), small, class_="tile")


def _proven(report: Fields) -> Markup | None:
    """Say whether all is proven, as the exit code of a strict build does; a failed build proves nothing."""
    if "shortfalls" not in report or report.get("error"):
        return None
    shortfalls = len(items(report.get("shortfalls")))
    if not shortfalls:
        return _tile("Proven", "yes", "no shortfall")
    code = "exit code 3, because the build is strict" if report.get("strict") else "exit code 3 with --strict"
    return _tile("Proven", "no", f"{figures.plural(shortfalls, 'shortfall')}: {code}", bad=True)


def _fit(fit: Fields) -> Markup | None:
    """Say whether the foldings are the best ones that fit the device, or what is proven of them."""
    use, gap, cost, bound = numbers(fit, "use", "gap", "cost", "cost_bound")
    if use is None or gap is None:
        return None
    room = f"within {figures.share(use, 0)} of {first_text(fit, 'device')}, goal: {first_text(fit, 'goal')}"
    if fit.get("proven"):
        return _tile("Foldings", "the best", f"{room}; proven: no other choice is better")
    least = "" if cost is None or bound is None else f" (cost {cost:.4g}, none below {bound:.4g})"
    return _tile("Foldings", f"gap {figures.share(gap, 1)}", f"{room}; not proven{least}", bad=True)


def _accuracy(accuracy: Fields, unproven: Sequence[str]) -> Markup | None:
    """Show the accuracy before and after, and which steps between were not verified."""
    before, after, samples = numbers(accuracy, "before", "after", "samples")
    if before is None and after is None:
        return None
    on = f" on {figures.plural(samples, 'sample')}" if samples else ""
    if after is None:
        note = f"before the first step{on}; not measured after the last"
        return _tile("Accuracy", figures.percent(before), note, bad=True)
    if before is None:
        note = f"after the last step{on}"
    elif before == after:
        note = f"before and after{on}"
    else:
        note = f"was {figures.percent(before)} before{on}"
    left = f"; not verified: {', '.join(unproven)}" if unproven else ""
    worse = before is not None and after < before
    return _tile("Accuracy", figures.percent(after), note + left, bad=worse or bool(unproven))


def _float_model(found: Fields) -> list[Markup]:
    """Show how near the last model, or else the input model, is to a float model of the same network."""
    after = fields(found.get("after"))
    distance = after or fields(found.get("before"))
    agreement, worst, mean = numbers(distance, "agreement", "max_error", "mean_error")
    right = number(found.get("accuracy"))
    if agreement is None:
        return []
    at = "after the last step" if after else "before the first step"
    own = f"; its own accuracy is {figures.percent(right)}" if right is not None else ""
    tiles = [_tile("Float model", figures.percent(agreement), f"of its classes, {at}{own}")]
    if worst is not None and mean is not None:
        note = f"at most, {mean:.4g} on average, of an output {at}"
        tiles.append(_tile("Error to float", f"{worst:.4g}", note))
    return tiles


def _speed(subject: Subject, estimate: Fields, layers: Sequence[DesignLayer]) -> list[Markup]:
    interval, latency = numbers(estimate, "interval_cycles", "latency_cycles")
    top = slowest(layers)
    limit = f"cycles, set by {top.name}" if top else "cycles"
    tiles = [] if interval is None else [_tile("Interval", figures.count(interval), limit)]
    return tiles + ([] if latency is None else [_latency(latency, subject.clock_ns)])


def _circuit(circuit: Fields) -> Markup | None:
    """Say how many frames of the circuit's simulation are not the golden model's."""
    frames, stalled = numbers(circuit, "frames", "stalled_frames")
    if frames is None:
        return None
    also = f", and of {figures.count(stalled)} with stalls" if stalled else ""
    against = first_text(circuit, "compared_with")
    beside = f", compared with {against}" if against else ""
    made_up = "random " if circuit.get("random") else ""
    wrong = total(numbers(circuit, "mismatches", "stalled_mismatches"))
    note = f"of the circuit's {figures.plural(frames, f'{made_up}frame')}{also}{beside}"
    return _tile("Mismatches", figures.count(wrong), note, bool(wrong))


def _measured(subject: Subject, circuit: Fields) -> list[Markup]:
    """Show what the circuit's simulation measured; nothing where it did not."""
    interval, latency = numbers(circuit, "interval_cycles", "latency_cycles")
    if latency is None and not interval:
        return []
    guesses = [figures.count(guess) for guess in numbers(circuit, "interval_estimate", "latency_estimate")]
    tiles = [_tile("Interval", guesses[0], "cycles, estimated; not measured with one frame")]
    if interval:
        tiles = [_tile("Interval", figures.count(interval), f"cycles, simulated; estimated {guesses[0]}")]
    if latency is not None:
        tiles.append(_latency(latency, subject.clock_ns, f"simulated; estimated {guesses[1]}"))
    return tiles


def _rate(rate: Fields) -> Markup | None:
    fps, target = numbers(rate, "fps", "target")
    if fps is None:
        return _tile("FPS", "unknown", f"target {figures.count(target)}", bad=True) if target else None
    how = "measured" if rate.get("measured") else "estimated"
    if target is None:
        return _tile("FPS", figures.count(fps), f"frames per second, {how}")
    met = bool(rate.get("met"))
    note = f"{how}; target {figures.count(target)}: {'met' if met else 'missed'}"
    return _tile("FPS", figures.count(fps), note, not met)


def _latency(cycles: float, clock_ns: float | None, note: str = "") -> Markup:
    """Show a latency as a time, with its cycles in the note; as cycles alone without a clock."""
    words = figures.plural(cycles, "cycle")
    if not clock_ns:
        return _tile("Latency", words, note)
    return _tile("Latency", figures.seconds(cycles * clock_ns * 1e-9), f"{words}, {note}" if note else words)


def _resources(estimate: Fields, synthesis: Fields, device: Fields) -> list[Markup]:
    """Show what a synthesis counted, or else what is estimated, and how much of the device that is."""
    unknown = len(items(estimate.get("lut_not_modelled")))
    bound = f"look-up tables, at least: {figures.plural(unknown, 'layer')} without a model"
    tiles = []
    for key, (name, note) in _RESOURCES.items():
        real, guess = number(synthesis.get(key)), number(estimate.get(key))
        more = key == "lut" and unknown
        if real is not None:
            beside = (
                "" if guess is None else f"; estimated {figures.count(guess)}{' or more' if more else ''}"
            )
            note = f"{note}, synthesised{beside}"
        elif more:
            note = bound
        if real is not None or guess is not None:
            note, bad = _of_device(note, device, key)
            tiles.append(_tile(name, figures.count(guess if real is None else real), note, bad))
    return tiles


def _of_device(note: str, device: Fields, key: str) -> tuple[str, bool]:
    """Add to a note how much of the device is taken, and tell whether that is more than there is."""
    resource = fields(fields(device.get("resources")).get(key))
    used, available = numbers(resource, "used", "available")
    if used is None or available is None:
        return note, False
    share = f"{figures.share(used / available)} of " if available else "of "
    return f"{note}; {share}the {figures.count(available)} in {first_text(device, 'name')}", used > available
