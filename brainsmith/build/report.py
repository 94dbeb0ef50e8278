"""Assemble `report.json`, and the lines that end a build. docs/report.md describes the format."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from brainsmith.build.circuit_summary import circuit_lines, count, synthesis_lines
from brainsmith.build.device_use import device_line
from brainsmith.build.fit_result import fit_line
from brainsmith.build.messages import LOG
from brainsmith.build.rate import rate_line
from brainsmith.build.shortfalls import Shortfall, shortfalls_of
from brainsmith.figures import plural, share
from brainsmith.web.step_result import FloatTies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.web.step_result import StepResult

SCHEMA = "brainsmith.report/1"
PAGE = "report.html"
"""The file of a build's report for people; `report.json` has the same for programs."""

PACKAGE = "accelerator"
_OF_PLUGINS = ("type", "framework", "name", "version", "reference", "origin")


Fields = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a build reports, by the keys of `report.json`; docs/report.md says what each holds.

    Attributes:
        warnings: Those that are no shortfalls.
        error: What ended the build; None if it came to its end.
    """

    build_id: str
    model: Fields
    blueprint: Fields
    plugins: list[Fields]
    modules: list[str]
    steps: Sequence[StepResult]
    layers: list[Fields]
    integers: Fields | None = None
    estimate: Fields | None = None
    rtl: Fields | None = None
    synthesis: Fields | None = None
    fit: Fields | None = None
    device: Fields | None = None
    rate: Fields | None = None
    golden: Fields | None = None
    accuracy: Fields | None = None
    float_model: Fields | None = None
    targets: Fields | None = None
    strict: bool = False
    shortfalls: tuple[Shortfall, ...] = field(default=(), init=False)
    warnings: Sequence[str] = ()
    graphs: Fields | None = None
    files: Sequence[str] = ()
    error: Fields | None = None

    def to_plain(self) -> Fields:
        """Return what `report.json` holds.

        What is not proven is worked out here, from the data of the report, and nowhere else.
        """
        content = {"schema": SCHEMA, **{each.name: getattr(self, each.name) for each in fields(self)}}
        content |= {"steps": [step.to_plain() for step in self.steps], "files": list(self.files)}
        if self.error is None:
            del content["error"]
        found = shortfalls_of(content, finished=self.error is None)
        content["shortfalls"] = [asdict(shortfall) for shortfall in found]
        content["warnings"] = [*(shortfall.text for shortfall in found), *self.warnings]
        return content


def files_of(folder: Path) -> list[str]:
    """List what a reader of the report may open beside it, relative to the build's folder."""
    there = [name for name in (f"{PACKAGE}/", "model.onnx", "checkpoints/", LOG) if (folder / name).exists()]
    return [*there, "report.json"]


def plugin_list(registry: Registry, steps: Iterable[BuildStep]) -> list[dict[str, Any]]:
    """List every plugin that this process has loaded, as the loading itself noted it, and the pipeline's own.

    Of the latter, those whose results were reused need not have been loaded: `loaded` is False there.
    """
    from brainsmith.plugin.core import get_registry

    loading = get_registry()
    own = {step.record for step in steps if step.record is not None}
    return [
        {**{name: getattr(info, name) for name in _OF_PLUGINS}, "loaded": loading.is_loaded(info)}
        for info in registry.records()
        if loading.is_loaded(info) or info in own
    ]


def imported_modules(registry: Registry) -> list[str]:
    """List every module that holds a plugin and that this process has imported, whoever asked for it.

    This is the check on `plugin_list`: a plugin whose module is not here cannot have been used.
    """
    return sorted({info.module for info in registry.records()}.intersection(sys.modules))


def summary_text(report: dict[str, Any], output: Path, *, warnings: bool = True) -> str:
    """Return the end of a build for a terminal.

    Args:
        report: What `Report.to_plain` gave.
        output: The build's folder.
        warnings: Whether the warnings are part of it.
    """
    text = [f"{name:<10} {value}" for name, value in summary_pairs(report, output)]
    if warnings:
        text += warning_lines(report)
    return "\n".join(text)


def warning_lines(report: dict[str, Any]) -> list[str]:
    """Return a line for each warning of a build; those that are why it is not proven begin with `shortfall`."""
    lacking = {shortfall["text"] for shortfall in report["shortfalls"]}
    return [f"{'shortfall' if text in lacking else 'warning'}: {text}" for text in report["warnings"]]


def summary_pairs(report: dict[str, Any], output: Path) -> list[tuple[str, str]]:
    """Return the facts that end a build, each with its heading: what was made, how fast and large it is, and where."""
    lines = [("steps", _steps(report["steps"]))]
    if report["layers"]:
        lines.append(("layers", str(len(report["layers"]))))
    lines += [("host", text) for text in (report.get("integers") or {}).get("host", ())]
    if report["estimate"] is not None:
        lines += _estimate(report["estimate"])
    lines += [("rate", rate_line(report["rate"]))] if report["rate"] is not None else []
    if report.get("rtl") is not None:
        lines += circuit_lines(report["rtl"])
    if report.get("synthesis") is not None:
        lines += synthesis_lines(report["synthesis"])
    if report.get("fit") is not None:
        lines.append(("fit", fit_line(report["fit"])))
    if report["device"] is not None:
        lines.append(("device", device_line(report["device"])))
    if report["accuracy"] is not None:
        lines.append(("accuracy", _accuracy(report["accuracy"])))
    lines += [("changed", line) for line in _changed(report["steps"])]
    lines += [("float ties", line) for line in _float_ties(report["steps"])]
    if report.get("float_model") is not None:
        lines.append(("float", _float_model(report["float_model"])))
    if report.get("targets") is not None:
        lines.append(("targets", _targets(report["targets"])))
    lines.append(("proven", _proven(len(report["shortfalls"]))))
    lines.append(("output", str(output)))
    if (output / PACKAGE).is_dir():
        lines.append(("package", str(output / PACKAGE)))
    if (output / PAGE).is_file():
        lines.append(("report", str(output / PAGE)))
    return lines


def _steps(steps: list[dict[str, Any]]) -> str:
    reused = sum(step["reused"] for step in steps)
    seconds = sum(step["seconds"] for step in steps)
    return f"{len(steps)} in {seconds:.1f} s" + (f", {reused} reused" if reused else "")


def _estimate(estimate: dict[str, Any]) -> list[tuple[str, str]]:
    resources = (("LUT", "lut"), ("FF", "ff"), ("BRAM18", "bram18"), ("DSP", "dsp"))
    known = [
        (name, estimate.get(key)) for name, key in resources if key != "ff" or estimate.get(key) is not None
    ]
    figures = ", ".join(f"{count(value)} {name}" for name, value in known)
    cycles = f"{count(estimate['interval_cycles'])} per frame, {count(estimate['latency_cycles'])} latency (estimated)"
    return [
        ("cycles", cycles),
        ("resources", ("at least " if estimate["lut_not_modelled"] else "") + figures + " (estimated)"),
    ]


def _proven(shortfalls: int) -> str:
    return f"no: {plural(shortfalls, 'shortfall')}, named below" if shortfalls else "yes"


def _accuracy(accuracy: dict[str, Any]) -> str:
    after = "not measured" if accuracy["after"] is None else share(accuracy["after"])
    return f"{after} after the build, {share(accuracy['before'])} before ({plural(accuracy['samples'], 'sample')})"


def _changed(steps: list[dict[str, Any]]) -> list[str]:
    """Say what each approximating step changed."""
    return [
        f"{step['name']} approximates: {step['verified']['changed']} of {step['verified']['samples']} samples in "
        f"another class, largest error {step['verified']['max_error']:g}"
        for step in steps
        if step["verified"] is not None and "changed" in step["verified"]
    ]


def _float_ties(steps: list[dict[str, Any]]) -> list[str]:
    """Say of which steps values differ because rounding of floats decides them."""
    stated = {step["name"]: (step["verified"] or {}).get("float_ties") for step in steps}
    return [
        f"{name}: {FloatTies(**ties)}, in {plural(ties['samples'], 'sample')}"
        for name, ties in stated.items()
        if ties
    ]


def _targets(found: dict[str, Any]) -> str:
    """Say which targets agree with the first; what disagrees is a warning besides."""
    if found["reason"]:
        return f"not compared: {found['reason']}"
    groups = {
        "agree": [one["target"] for one in found["results"] if one["agrees"]],
        "disagree": [one["target"] for one in found["results"] if one["agrees"] is False],
    }
    said = [
        f"{', '.join(names)} {word}{'s' if len(names) == 1 else ''} with {found['with']}"
        for word, names in groups.items()
        if names
    ]
    said += [f"{one['target']} could not be compared" for one in found["results"] if one["reason"]]
    return f"{'; '.join(said)} ({plural(found['samples'], 'sample')})"


def _float_model(found: dict[str, Any]) -> str:
    """Say how near the last model, or else the input model, is to the float one."""
    at = "before" if found["after"] is None else "after"
    distance = found[at]
    errors = ""
    if distance["max_error"] is not None:
        errors = f", error {distance['mean_error']:.4g} on average, {distance['max_error']:.4g} at most"
    return f"{share(distance['agreement'])} of the classes of the float model {at} the build{errors}"
