"""Say in one word and one sentence whether a build's result can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from brainsmith.web.content import Fields, Step, fields, first_text, text
from brainsmith.web.figures import count, number, plural, small


@dataclass(frozen=True)
class Verdict:
    """The outcome of a build: `kind` is good, partial, bad or open (a class name in the style sheet)."""

    kind: str
    title: str
    sentence: str


def judge(report: Fields, steps: tuple[Step, ...]) -> Verdict:
    """Judge a build by its error, then by its steps' verification."""
    failure = _failure(report)
    if failure:
        return Verdict("bad", "Build failed", failure)
    wrong = [step for step in steps if step.verified and step.verified.mismatches]
    if wrong:
        return Verdict("bad", "Mismatches", _mismatch(wrong))
    circuit = fields(report.get("rtl"))
    if _differing(circuit):
        return Verdict("bad", "Mismatches", _circuit_mismatch(circuit))
    checked = [step for step in steps if step.verified]
    approximate = _approximations(checked)
    if not checked:
        return Verdict("open", "Not verified", _unverified(steps))
    if len(checked) < len(steps):
        return Verdict(
            "partial", "Partly verified", _partly(steps, checked) + approximate + _circuit(circuit)
        )
    return Verdict(
        "good",
        "Verified",
        f"The model gave the golden outputs after {_every(steps)}, on {_samples(checked)}.{approximate}{_circuit(circuit)}",
    )


def describe(step: Step) -> str:
    """Say a step's verification in a few words."""
    found = step.verified
    if found is None:
        return step.reason or "not verified"
    samples = "" if found.samples is None else f" of {plural(found.samples, 'sample')}"
    outcome = f"{count(found.mismatches)}{samples} differ{'s' if found.mismatches == 1 else ''}"
    if found.changed is not None:
        return f"approximates: {count(found.changed)}{samples} in another class"
    if not found.mismatches:
        return f"{plural(found.samples, 'sample')} equal" if found.samples is not None else "equal"
    return f"{outcome} in {found.tensor}" if found.tensor else outcome


def _failure(report: Fields) -> str:
    """Read `error`, which a report of a failed build has: a message, or a step and a message."""
    error = report.get("error")
    detail = fields(error)
    step, message = first_text(detail, "step"), first_text(detail, "message") or text(error)
    return f"Step {step} failed: {message}" if step and step not in message else message


def _mismatch(wrong: list[Step]) -> str:
    first = wrong[0]
    verified = first.verified
    error = (
        ""
        if verified is None or verified.max_error is None
        else f"; the largest error is {small(verified.max_error)}"
    )
    more = (
        f" {plural(len(wrong) - 1, 'later step')} {'differs' if len(wrong) == 2 else 'differ'} too."
        if len(wrong) > 1
        else ""
    )
    return f"The model's function changed at step {first.name}: {describe(first)}{error}.{more}"


def _approximations(checked: list[Step]) -> str:
    """Say which steps changed what the model computes, as the blueprint lets them, and by how much."""
    said = ""
    for step in checked:
        found = step.verified
        if found is not None and found.changed is not None:
            samples = "" if found.samples is None else f" of {plural(found.samples, 'sample')}"
            error = "" if found.max_error is None else f", and its largest error is {found.max_error:.4g}"
            said += (
                f" Step {step.name} approximates, as the blueprint states: it puts {count(found.changed)}{samples} "
                f"into another class{error}; what follows is compared with its results."
            )
    return said


def _differing(circuit: Fields) -> float:
    return sum(number(circuit.get(key)) or 0 for key in ("mismatches", "stalled_mismatches"))


def _circuit_mismatch(circuit: Fields) -> str:
    ran = sum(number(circuit.get(key)) or 0 for key in ("frames", "stalled_frames"))
    wrong = count(_differing(circuit))
    return f"The circuit does not compute what the model does: {wrong} of {plural(ran, 'frame')} differ."


def _circuit(circuit: Fields) -> str:
    """Say that the circuit agrees, where it was compared."""
    frames, stalled = number(circuit.get("frames")), number(circuit.get("stalled_frames"))
    if not frames or number(circuit.get("mismatches")) is None:
        return ""
    held = f", and on {count(stalled)} with stalls" if stalled else ""
    return f" The circuit gave them too, bit for bit, on {plural(frames, 'frame')}{held}."


def _unverified(steps: tuple[Step, ...]) -> str:
    if not steps:
        return "No step ran, so there is nothing to compare."
    reasons = {step.reason for step in steps if step.reason}
    if len(reasons) == 1:
        return f"No step was compared with golden outputs: {reasons.pop()}."
    return "No step was compared with golden outputs, so the model may compute something else than before."


def _partly(steps: tuple[Step, ...], checked: list[Step]) -> str:
    left = [step.name for step in steps if not step.verified]
    named = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    count_of = f"{len(checked)} of {plural(len(steps), 'step')}"
    return f"{count_of} gave the golden outputs on {_samples(checked)}; not verified: {named}."


def _every(steps: tuple[Step, ...]) -> str:
    number = sum(step.verified is not None and step.verified.changed is not None for step in steps)
    but = f" but {number} that approximate{'s' if number == 1 else ''}" if number else ""
    return "its only step" if len(steps) == 1 else f"each of its {len(steps)} steps{but}"


def _samples(checked: list[Step]) -> str:
    numbers = sorted({step.verified.samples for step in checked if step.verified and step.verified.samples})
    if not numbers:
        return "all samples"
    if len(numbers) == 1:
        return plural(numbers[0], "sample")
    return f"{count(numbers[0])} to {count(numbers[-1])} samples"
