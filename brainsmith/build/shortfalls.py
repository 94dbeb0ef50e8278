"""What keeps a build from being proven in full: one list, for summary, warnings, report and exit code."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.build.device_use import beyond_text
from brainsmith.build.fit_result import fit_shortfalls
from brainsmith.build.golden import RANDOM_SAMPLES, RANDOM_SEED
from brainsmith.figures import plural, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Fields = Mapping[str, Any]

_OFF = "nothing was verified: verification is off (--no-verify, verify=False)"
_RANDOM = (
    f"no golden inputs: verified with {RANDOM_SAMPLES} random inputs (seed {RANDOM_SEED}), which says little "
    "about real data. Add `verify: {inputs: x.npy, labels: y.npy}` to the blueprint, or "
    "--verify-inputs x.npy."
)


@dataclass(frozen=True)
class Shortfall:
    """One thing that is not proven, or not as it was asked for.

    Attributes:
        kind: "golden" (the data to verify with), "step", "accuracy", "circuit", "targets", "rate", "device",
            "fit" or "figures".
        text: A sentence for people: what, why, and what to do.
    """

    kind: str
    text: str


def shortfalls_of(report: Fields, finished: bool = True) -> tuple[Shortfall, ...]:
    """Return all that a build did not prove, or did not reach.

    Args:
        report: The content of `report.json`.
        finished: Whether the build came to its end; else only what it did is asked for.
    """
    found: dict[str, Iterable[str]] = {
        "golden": _golden(report),
        "step": _steps(report["steps"]),
        "accuracy": _labels(report["steps"], report["accuracy"]),
    }
    if finished:
        found |= {
            "circuit": _circuit(report["rtl"]),
            "targets": _targets(report["targets"]),
            "rate": _rate(report["rate"]),
            "device": filter(None, [beyond_text(report["device"])]),
            "fit": fit_shortfalls(report.get("fit"), report["device"]),
            "figures": _figures(report),
        }
    return tuple(Shortfall(kind, text) for kind, texts in found.items() for text in texts)


def _golden(report: Fields) -> Iterator[str]:
    golden = report["golden"]
    if golden is None:
        yield _OFF
    elif golden["problem"]:
        yield f"nothing was verified: {golden['problem']}"
    if golden is not None and golden["random"]:
        yield _RANDOM
    if golden is not None and golden["generated_problem"]:
        yield f"nothing was verified with inputs that the build generates: {golden['generated_problem']}"


def _steps(steps: list[Fields]) -> Iterator[str]:
    """Name the steps that could not be compared, or that the blueprint excepts."""
    references = {step["verified"].get("reference", "") for step in steps if step["verified"]}
    for step in steps:
        reason = (step["verified"] or {}).get("reason")
        if reason:
            later = "; later steps are compared with its result" if step["name"] in references else ""
            yield f"step '{step['name']}' was not verified: {reason}{later}"


def _labels(steps: list[Fields], accuracy: Fields | None) -> Iterator[str]:
    """Name the steps that give other outputs, of which fewer are right by their labels."""
    before = None if accuracy is None else accuracy["before"]
    for step in steps:
        verified = step["verified"] or {}
        if not verified.get("changes_outputs"):
            continue
        after, key = verified["accuracy"], f"verify.changes_outputs.{step['name']}"
        by_labels = verified["changes_outputs"] == "labels"
        if by_labels and before is not None and after is not None and after < before:
            yield (
                f"step '{step['name']}' lowers the accuracy from {share(before)} to {share(after)}, by {key}.labels; to "
                f"check the values that it gives, state them as {key}.expected"
            )
        before = after


def _circuit(rtl: Fields | None) -> Iterator[str]:
    if rtl is not None and rtl["frames"] is not None and rtl["mismatches"] is None:
        yield "the circuit's frames were not compared with the model's"
    parts = None if rtl is None else rtl.get("parts")
    if parts:
        uncovered = "; ".join(parts["uncovered"])
        yield f"the circuit was simulated in parts, not whole: {parts['whole']}. Not covered: {uncovered}"


def _targets(targets: Fields | None) -> Iterator[str]:
    """Name the targets that differ by more than rounding, and those that the blueprint names and that were not compared."""
    if targets is None:
        return
    for one in targets["results"]:
        if one["agrees"] is False and not one["rounding"]:
            yield f"targets disagree: {one['told']}"
        elif targets["named"] and one["reason"]:
            yield f"target '{one['target']}' was not compared: {one['reason']}"
    if targets["named"] and targets["reason"]:
        yield f"targets were not compared: {targets['reason']}"


def _rate(rate: Fields | None) -> Iterator[str]:
    if rate is None or rate["met"] or rate["target"] is None:
        return
    target = f"the target of {rate['target']:,}"
    if rate["fps"] is None:
        yield f"{target} frames per second was not checked: no step of the build estimates or measures the rate"
    elif rate["measured"]:
        estimate = "" if rate["estimate"] is None else f" (estimated {rate['estimate']:,.0f})"
        yield (
            f"the measured rate of {plural(rate['fps'], 'frame')} per second{estimate} is below {target}; "
            "the report shows the slowest layers and the FIFOs"
        )
    else:
        yield (
            f"the estimate of {plural(rate['fps'], 'frame')} per second is below {target}; "
            "the report shows the slowest layers"
        )


def _figures(report: Fields) -> Iterator[str]:
    """Say of which kinds of layers the LUTs are not known, unless they were synthesised."""
    unknown = Counter(layer.get("op_type", "") for layer in report["layers"] if layer.get("lut") is None)
    if report["estimate"] is None or report["synthesis"] is not None or not unknown:
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(unknown.items()))
    yield (
        f"the estimate of LUTs is a lower bound: there is no model of them for {sum(unknown.values())} of "
        f"{len(report['layers'])} layers ({kinds}); `output: synthesised` counts them, and of RTL layers "
        "`args: {estimate: {synthesise: true}}`"
    )
