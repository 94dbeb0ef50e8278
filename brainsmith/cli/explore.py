"""`brainsmith explore`: the points of a design space, built; the front of its objectives, and tables of all."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.schema import FIGURES
from brainsmith.blueprint.space.space import load_space
from brainsmith.cli.terminal import complain
from brainsmith.errors import ExplorationError
from brainsmith.exploration.exploring import POINT_SECONDS, Exploration
from brainsmith.exploration.pareto import front_of
from brainsmith.exploration.space_plan import check_names
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brainsmith.blueprint.space.space import Points, Space
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.exploration.point_journal import PointRun

TABLE, DOCUMENT = "points.csv", "explore.json"
_SHOWN = ("fps", "latency_cycles", "lut", "bram18", "dsp", "accuracy")
_MOST_REASONS = 5


def run(options: Options, terminal: Terminal) -> int:
    """Build points; each is printed when it is done, and the front at the end."""
    space = load_space(options.texts("--blueprint"), options.texts("--set"))
    check_names(space, get_plugin_manager().registry)
    points = _drawn(space.points(), options.whole("--points", None, 1), options.whole("--seed", 0))
    folder = Path(options.required("--output"))
    done = 0

    def show(ended: PointRun) -> None:
        nonlocal done
        done += 1
        terminal.write(f"[{done}/{len(points)}] {_said(space, ended)}")
        terminal.flush()

    exploration = Exploration(
        space,
        folder,
        options.text("MODEL"),
        jobs=options.whole("--jobs", 1, 1),
        megabytes=options.whole("--memory", 0, 64),
        seconds=options.number("--seconds", POINT_SECONDS),
        listener=show,
    )
    fidelity = options.text("--produce") or "estimates"
    runs = exploration.run(points, fidelity)
    keys = {exploration.key(space.point_of(row)) for row in points}
    runs = [one for one in runs if one.key in keys]
    objectives = known_objectives(space, runs)
    best = [runs[at] for at in front_of([one.figures or {} for one in runs], objectives)]
    document = _document(space, fidelity, runs, best)
    (folder / DOCUMENT).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    _write_table(folder / TABLE, space, runs)
    terminal.give(lambda: {**document, "error": None}, lambda: _show(space, runs, best, folder, terminal))
    if not any(one.state == "done" for one in runs):
        raise ExplorationError(f"none of {plural(len(runs), 'point')} could be built: {runs[0].reason}")
    return 0


def known_objectives(space: Space, runs: Sequence[PointRun]) -> dict[str, str]:
    """Return the objectives of which a point has the figure; there is a warning of each other one."""
    known = {name for one in runs for name, value in (one.figures or {}).items() if value is not None}
    for name in space.objectives:
        if name not in known and any(one.state == "done" for one in runs):
            need = (
                "verify: {inputs: ..., labels: ...}"
                if name == "accuracy"
                else "a device, target: {part: ...}"
            )
            complain(
                f"warning: no point has the figure {name!r}, an objective: it needs {need}; it is left out"
            )
    return {name: wanted for name, wanted in space.objectives.items() if name in known}


def _drawn(points: Points, many: int | None, seed: int) -> Points:
    if many is None or many >= len(points):
        return points
    import numpy as np

    return points[np.sort(np.random.default_rng(seed).choice(len(points), many, replace=False))]


def _choices(space: Space, one: PointRun) -> dict[str, object]:
    return {
        each.name: each.values[one.choices[each.name]]
        for each in space.dimensions
        if each.name in one.choices
    }


def _said(space: Space, one: PointRun) -> str:
    where = ", ".join(f"{name}={value}" for name, value in _choices(space, one).items())
    if one.state == "done":
        return f"{where}: {_figures(one.figures or {})}"
    reason = (one.reason or "").splitlines()[0] if one.reason else ""
    return f"{where}: {'tried again' if one.state == 'waiting' else one.state}: {reason}"


def _figures(figures: Mapping[str, Any]) -> str:
    known = ((name, figures.get(name)) for name in _SHOWN)
    return ", ".join(f"{name} {value:,.6g}" for name, value in known if value is not None)


def _show(
    space: Space, runs: Sequence[PointRun], best: Sequence[PointRun], folder: Path, terminal: Terminal
) -> None:
    states = [one.state for one in runs]
    failed = [one for one in runs if one.state == "failed"]
    lines = [f"{_said(space, one)}\n  {folder / 'points' / one.key[:16] / 'blueprint.yaml'}" for one in best]
    reasons = [_said(space, one) for one in failed[:_MOST_REASONS]]
    if len(failed) > _MOST_REASONS:
        reasons.append(f"... {len(failed) - _MOST_REASONS} more, in {folder / TABLE}")
    terminal.write("")
    terminal.pairs(
        [
            ("points", f"{states.count('done')} of {len(runs)} are built"),
            *([("failed", "\n".join(reasons))] if failed else []),
            ("front", "\n".join(lines) or "the blueprint states no objectives"),
            ("table", str(folder / TABLE)),
            ("document", str(folder / DOCUMENT)),
        ],
        "",
    )


def _document(
    space: Space, fidelity: str, runs: Sequence[PointRun], best: Sequence[PointRun]
) -> dict[str, Any]:
    front = {one.key for one in best}
    return {
        "blueprint": space.file,
        "fidelity": fidelity,
        "objectives": dict(space.objectives),
        "points": [
            {
                "choices": _choices(space, one),
                "state": one.state,
                "front": one.key in front,
                "figures": one.figures,
                "reason": one.reason,
                "seconds": one.seconds,
                "folder": f"points/{one.key[:16]}",
            }
            for one in runs
        ],
    }


def _write_table(file: Path, space: Space, runs: Sequence[PointRun]) -> None:
    names = [each.name for each in space.dimensions]
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow([*names, "state", *FIGURES, "reason"])
        for one in runs:
            choices, figures = _choices(space, one), one.figures or {}
            row = [choices.get(name) for name in names]
            table.writerow([*row, one.state, *(figures.get(name) for name in FIGURES), one.reason])
