"""Say in one word and one sentence whether a build's result can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from brainsmith.figures import count, number, plural, small
from brainsmith.report_fields import Fields, fields, first_text, numbers, text, total
from brainsmith.web.step_result import StepResult
from brainsmith.web.subject import read_shortfalls


@dataclass(frozen=True)
class Verdict:
    """The outcome of a build: `kind` is good, partial, bad or open (a class name in the style sheet).

    It is good only if the build has no shortfall, so that `--strict` ends with exit code 0; `points` are the shortfalls.
    """

    kind: str
    title: str
    sentence: str
    points: tuple[str, ...] = ()


def judge(report: Fields, steps: tuple[StepResult, ...]) -> Verdict:
    """Judge a build by its error, by its steps' verification, and by what else it did not prove."""
    points = read_shortfalls(report)
    failure = _failure(report)
    if failure:
        return Verdict("bad", "Build failed", failure, points)
    wrong = [step for step in steps if step.compared and step.compared.mismatches]
    if wrong:
        return Verdict("bad", "Mismatches", _mismatch(wrong), points)
    circuit = fields(report.get("rtl"))
    if _differing(circuit):
        return Verdict("bad", "Mismatches", _circuit_mismatch(circuit), points)
    random = bool(fields(report.get("golden")).get("random"))
    kind, title, sentence = _proof(steps, circuit, random)
    if not points:
        return Verdict(kind, title, sentence)
    if kind == "good":
        kind, title = "partial", f"Verified, with {plural(len(points), 'shortfall')}"
    if report.get("strict"):
        return Verdict("bad", title, f"{sentence} The build is strict: it ended with exit code 3.", points)
    return Verdict(kind, title, f"{sentence} With --strict the exit code is 3.", points)


def _proof(steps: tuple[StepResult, ...], circuit: Fields, random: bool) -> tuple[str, str, str]:
    """Say what the steps' verification shows: kind, title and sentence."""
    checked = [step for step in steps if step.compared]
    more = _exceptions(checked) + _circuit(circuit)
    if not checked:
        return "open", "Not verified", _unverified(steps) + more
    if len(checked) < len(steps):
        return "partial", "Partly verified", _partly(steps, checked) + more
    if random:
        sentence = f"The model's outputs stayed the same after {_every(steps)}, on {_samples(checked)} made up at random."
        return "partial", "Verified with random inputs only", sentence + more
    sentence = f"The model gave the golden outputs after {_every(steps)}, on {_samples(checked)}.{more}"
    return "good", "Verified", sentence


def describe(step: StepResult) -> str:
    """Say a step's verification in a few words."""
    found = step.compared
    if step.failed:
        return "failed, as the top of the page says"
    if found is None:
        return step.reason or "not verified"
    samples = "" if found.samples is None else f" of {plural(found.samples, 'sample')}"
    outcome = f"{count(found.mismatches)}{samples} differ{'s' if found.mismatches == 1 else ''}"
    if found.changed is not None:
        return f"approximates: {count(found.changed)}{samples} in another class"
    if found.changes_outputs:
        known = "as expected" if found.changes_outputs == "expected" else "with labels of their own"
        return f"other outputs, {known}, on {plural(found.samples or 0, 'sample')}"
    if not found.mismatches:
        equal = f"{plural(found.samples, 'sample')} equal" if found.samples is not None else "equal"
        return equal if found.float_ties is None else f"{equal} but for float ties: {found.float_ties}"
    return f"{outcome} in {found.tensor}" if found.tensor else outcome


def _failure(report: Fields) -> str:
    """Read `error`, which a report of a failed build has: a message, or a step and a message."""
    error = report.get("error")
    detail = fields(error)
    step, message = first_text(detail, "step"), first_text(detail, "message") or text(error)
    return f"Step {step} failed: {message}" if step and step not in message else message


def _mismatch(wrong: list[StepResult]) -> str:
    first, later = wrong[0], len(wrong) - 1
    worst = first.compared.max_error if first.compared else None
    error = "" if worst is None else f"; the largest error is {small(worst)}"
    more = f" {plural(later, 'later step')} {'differs' if later == 1 else 'differ'} too." if later else ""
    return f"The model's function changed at step {first.name}: {describe(first)}{error}.{more}"


def _exceptions(checked: list[StepResult]) -> str:
    """Say which steps changed what the model computes, as the blueprint lets them, and by how much."""
    sentences = ""
    for step in checked:
        found = step.compared
        if found is not None and found.changed is not None:
            samples = "" if found.samples is None else f" of {plural(found.samples, 'sample')}"
            error = "" if found.max_error is None else f", and its largest error is {found.max_error:.4g}"
            sentences += (
                f" Step {step.name} approximates, as the blueprint states: it puts {count(found.changed)}{samples} "
                f"into another class{error}; what follows is compared with its results."
            )
        elif found is not None and found.changes_outputs:
            expected = found.changes_outputs == "expected"
            known = "they are what it expects" if expected else "it has labels of these, no values"
            sentences += (
                f" Step {step.name} gives other outputs, as the blueprint states, and {known}; what follows is compared "
                "with its results."
            )
        elif found is not None and found.float_ties is not None:
            sentences += (
                f" After step {step.name}, {found.float_ties}: there the order in which the network's floats are added "
                "decides; what follows is compared with that step's results."
            )
    return sentences


def _differing(circuit: Fields) -> float:
    return total(numbers(circuit, "mismatches", "stalled_mismatches")) or 0


def _circuit_mismatch(circuit: Fields) -> str:
    ran, wrong = total(numbers(circuit, "frames", "stalled_frames")) or 0, count(_differing(circuit))
    return f"The circuit does not compute what the model does: {wrong} of {plural(ran, 'frame')} differ."


def _circuit(circuit: Fields) -> str:
    """Say with what the circuit agrees, where it was compared, or that it was not simulated."""
    frames, stalled = numbers(circuit, "frames", "stalled_frames")
    parts = first_text(fields(circuit.get("parts")), "text")
    if parts:
        return f" The circuit was simulated in parts: {parts}."
    if circuit and not frames:
        return " The circuit was not simulated."
    if not frames or number(circuit.get("mismatches")) is None:
        return ""
    also = f", and on {count(stalled)} with stalls" if stalled else ""
    against = first_text(circuit, "compared_with") or "the model"
    return f" The circuit equals {against}, bit for bit, on {plural(frames, 'frame')}{also}."


def _unverified(steps: tuple[StepResult, ...]) -> str:
    if not steps:
        return "No step ran, so there is nothing to compare."
    reasons = {step.reason for step in steps if step.reason}
    if len(reasons) == 1:
        return f"No step was compared with golden outputs: {reasons.pop()}."
    return "No step was compared with golden outputs, so the model may compute something else than before."


def _partly(steps: tuple[StepResult, ...], checked: list[StepResult]) -> str:
    left = [step.name for step in steps if not step.compared]
    named = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
    parts = []
    for reference in dict.fromkeys(step.compared.reference for step in checked if step.compared):
        alike = [step for step in checked if step.compared and step.compared.reference == reference]
        what = f"what step {reference} gives" if reference else "the golden outputs"
        parts.append(f"{len(alike)} of {plural(len(steps), 'step')} gave {what} on {_samples(alike)}")
    return f"{'; '.join(parts)}; not verified: {named}."


def _every(steps: tuple[StepResult, ...]) -> str:
    found = [step.compared for step in steps if step.compared is not None]
    near = sum(one.changed is not None for one in found)
    other = sum(bool(one.changes_outputs) for one in found)
    but = f" but {near} that approximate{'s' if near == 1 else ''}" if near else ""
    if other:
        but += f"{' and' if near else ' but'} {other} that give{'s' if other == 1 else ''} others"
    return "its only step" if len(steps) == 1 else f"each of its {len(steps)} steps{but}"


def _samples(checked: list[StepResult]) -> str:
    numbers = sorted({step.compared.samples for step in checked if step.compared and step.compared.samples})
    if not numbers:
        return "all samples"
    if len(numbers) == 1:
        return plural(numbers[0], "sample")
    return f"{count(numbers[0])} to {count(numbers[-1])} samples"
