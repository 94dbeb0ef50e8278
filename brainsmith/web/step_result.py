"""The outcome of a step of a build: one value, in the build, in `report.json` and on the page.

Reading never raises, as :mod:`brainsmith.web.report_fields` says; what is None there is what a report does not state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import Any

from brainsmith.figures import number, plural
from brainsmith.report_fields import Fields, fields, first_text, items, text


@dataclass(frozen=True)
class FloatDistance:
    """The distance of a model from the float one, over all samples.

    Attributes:
        agreement: Share of samples that both put into the same class.
        max_error: Largest absolute difference of an output; None where the model gives classes only.
        mean_error: Mean absolute difference of all outputs; None likewise.
    """

    agreement: float
    max_error: float | None
    mean_error: float | None


@dataclass(frozen=True)
class FloatTies:
    """Values that differ because rounding of floats decides their level.

    Attributes:
        samples: In how many samples outputs differ because of them.
        ties: How many values there are.
        values: Of how many values of these samples.
        distance: How far the farthest is from its threshold, as a part of the quantiser's step; None if not stated.
        bound: What rounding can move one of these values by, at most, as a part of the step; None likewise.
    """

    samples: int
    ties: int
    values: int
    distance: float | None
    bound: float | None

    def __add__(self, other: FloatTies) -> FloatTies:
        return FloatTies(
            self.samples + other.samples,
            self.ties + other.ties,
            self.values + other.values,
            max(self.distance or 0.0, other.distance or 0.0),
            max(self.bound or 0.0, other.bound or 0.0),
        )

    def __str__(self) -> str:
        if not self.ties:
            return (
                f"{plural(self.samples, 'sample')} differ{'s' if self.samples == 1 else ''} by rounding alone"
            )
        bound = "" if self.bound is None else f" (bound {self.bound:.2g} of a step)"
        return f"{self.ties:,} of {self.values:,} values {'is a float tie' if self.ties == 1 else 'are float ties'}{bound}"


@dataclass(frozen=True)
class Verified:
    """The outcome of one check.

    Attributes:
        samples: How many were run; 0 if the model could not be checked.
        mismatches: How many differ by more than the tolerance, or are put into another class.
        max_error: The largest absolute difference of any output.
        reason: Why the model could not be checked.
        notes: What had to be done to compare it.
        accuracy: Share of right classes, where labels are known and all samples were run.
        changed: How many samples the step put into another class, of a step that may approximate; else None.
        reference: The step before with whose results these were compared, because it approximates, gives other outputs or
            was not verified; empty for the input model.
        distance: From the float model, where its outputs are known and all samples were run.
        target: What ran them.
        changes_outputs: Of a step that gives other outputs, as the blueprint states: "expected" if they were compared with
            values that it states, "labels" if only their classes are known; else empty.
        generated: How many generated inputs were run besides; they count in nothing else here.
        tensor: The output that differs most, where the report states it.
        float_ties: The values whose level rounding decides, where outputs differ because of them; they are no mismatches.
    """

    samples: int | None
    mismatches: int = 0
    max_error: float | None = 0.0
    reason: str = ""
    notes: tuple[str, ...] = ()
    accuracy: float | None = None
    changed: int | None = None
    reference: str = ""
    distance: FloatDistance | None = None
    target: str = ""
    changes_outputs: str = ""
    generated: int = 0
    tensor: str = ""
    float_ties: FloatTies | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return what `report.json` holds of it."""
        stated = self.samples and self.changes_outputs != "labels"
        own = {"changes_outputs": self.changes_outputs, "accuracy": self.accuracy}
        return {
            "samples": self.samples,
            "generated": self.generated,
            "mismatches": self.mismatches,
            "max_error": self.max_error if stated else None,
            "target": self.target,
            "notes": list(self.notes),
            **({"reason": self.reason} if self.reason else {}),
            **(own if self.changes_outputs else {}),
            **({"changed": self.changed} if self.changed is not None else {}),
            **({"reference": self.reference} if self.reference else {}),
            **({"float_ties": asdict(self.float_ties)} if self.float_ties else {}),
        }

    @classmethod
    def from_plain(cls, plain: Fields) -> Verified:
        """Read what `to_plain` gave; without a number of samples or mismatches nothing was checked."""
        found: Verified = _read(cls, plain)
        checked = found.samples is not None or _whole(plain.get("mismatches")) is not None
        return found if checked else replace(found, samples=0)


def verified_text(found: Verified) -> str:
    """Say in a few words what was compared, of a check that ran."""
    samples = plural(found.samples or 0, "sample")
    return samples if found.float_ties is None else f"{samples}; {found.float_ties}"


def step_line(step: StepResult, explain: bool) -> str:
    """Return the line for a step that has ended: name, time and verification in columns, and perhaps why it ran."""
    line = f"{step.name:<28} {step.seconds or 0:7.2f} s"
    if step.reused:
        line += "  reused"
    if step.verified is not None:
        line += "  not verified" if step.verified.reason else f"  verified {verified_text(step.verified)}"
    return f"{line}  ({step.cache})" if explain else line


@dataclass
class StepResult:
    """One step that ran, or was reused.

    Attributes:
        seconds: What it took in this build; verification is not part of it.
        reused: Its result came from the build cache.
        cache: Why it was reused, or why it was not.
        verified: None where verification is off.
        messages: What it logged as warnings, when it ran.
        original_seconds: What it took when it ran: of a result that was reused in an earlier build; None if not known.
        failed: The build ended with it, as its report says: its result was refused.
    """

    name: str
    framework: str
    seconds: float | None
    reused: bool
    cache: str
    verified: Verified | None = None
    messages: tuple[str, ...] = ()
    original_seconds: float | None = None
    failed: bool = False

    @property
    def compared(self) -> Verified | None:
        """What comparing its result found; None if no sample ran."""
        return self.verified if self.verified is not None and self.verified.samples != 0 else None

    @property
    def reason(self) -> str:
        """Why it was not verified, if that is known."""
        return "" if self.verified is None else self.verified.reason

    def to_plain(self) -> dict[str, Any]:
        """Return what `report.json` holds of it."""
        return {
            "name": self.name,
            "framework": self.framework,
            "seconds": _rounded(self.seconds),
            "original_seconds": _rounded(self.original_seconds),
            "reused": self.reused,
            "cache": self.cache,
            "verified": None if self.verified is None else self.verified.to_plain(),
            "messages": list(self.messages),
        }


def read_steps(report: Fields) -> tuple[StepResult, ...]:
    """Read the pipeline's steps in order."""
    found: list[StepResult] = [_read(StepResult, fields(step)) for step in items(report.get("steps"))]
    for at, step in enumerate(found, 1):
        step.name = step.name or f"step {at}"
    blamed = first_text(fields(report.get("error")), "step")
    if found and found[-1].name == blamed:
        found[-1].failed = True
    return tuple(found)


def _read(kind: Any, plain: Fields) -> Any:
    """Return a value of one of the classes here, each of its fields read by its type."""
    return kind(**{each.name: _READERS[each.type](plain.get(each.name)) for each in dataclass_fields(kind)})


def _whole(value: object) -> int | None:
    found = number(value)
    return None if found is None else int(found)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


_READERS: dict[Any, Callable[[object], Any]] = {
    "bool": bool,
    "str": text,
    "int": lambda value: _whole(value) or 0,
    "int | None": _whole,
    "float | None": number,
    "tuple[str, ...]": lambda value: tuple(map(text, items(value))),
    "FloatDistance | None": lambda _: None,  # a report states it of the whole build
    "FloatTies | None": lambda value: _read(FloatTies, fields(value)) if fields(value) else None,
    "Verified | None": lambda value: Verified.from_plain(fields(value)) if fields(value) else None,
}
"""What reads a field of a report, by the type that it has in a class here."""
