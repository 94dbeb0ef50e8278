"""What is known of an exploration, as a document and as a table."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from brainsmith.blueprint.schema import FIGURES
from brainsmith.blueprint.space.space import Space
from brainsmith.exploration.exploration_page import exploration_page
from brainsmith.exploration.exploring import Exploration, folder_of
from brainsmith.exploration.importance import importance_of
from brainsmith.exploration.ladder import Explored
from brainsmith.exploration.point_journal import PointRun
from brainsmith.exploration.point_task import BLUEPRINT
from brainsmith.exploration.promising import thinned
from brainsmith.exploration.vocabulary import MODELS

CLOUD = 1500
"""How many points that only the models know the page shows."""

SCHEMA = "brainsmith.exploration/1"


def choices_of(space: Space, choices: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of a point's choices, by name."""
    return {each.name: each.values[choices[each.name]] for each in space.dimensions if each.name in choices}


def document_of(explored: Explored, exploration: Exploration) -> dict[str, Any]:
    """Return what `explore.json` holds."""
    space, best = explored.space, {id(run) for run in explored.best}
    return {
        "schema": SCHEMA,
        "blueprint": space.file,
        "fidelity": explored.fidelity,
        "considered": explored.count,
        "choices": {each.name: list(each.values) for each in space.dimensions},
        "objectives": dict(space.objectives),
        "constraints": [one.text for one in space.constraints],
        "unmodelled": list(explored.unmodelled),
        "importance": importance_of(explored),
        "points": [_point(exploration, run, id(run) in best) for run in explored.runs],
    }


def _point(exploration: Exploration, run: PointRun, best: bool) -> dict[str, Any]:
    folder = None if run.fidelity == MODELS else folder_of(run.key)
    return {
        "choices": choices_of(exploration.space, run.choices),
        "fidelity": run.fidelity,
        "state": run.state,
        "front": best,
        "figures": run.figures,
        "reason": run.reason,
        "seconds": run.seconds,
        "folder": folder,
        "command": folder and command_of(exploration, run),
    }


def command_of(exploration: Exploration, run: PointRun) -> str:
    """Return the command that builds a point."""
    blueprint = exploration.folder / folder_of(run.key) / BLUEPRINT
    words = [
        *("brainsmith", "build", exploration.model_of(run.choices)),
        *("--blueprint", str(blueprint), "--output", f"out/{run.key[:16]}", "--produce", run.fidelity),
    ]
    return shlex.join(words)


def write_page(file: Path, document: Mapping[str, Any], explored: Explored, live: bool = False) -> None:
    """Write `explore.html`; the points of the models' table, evenly drawn, are its background."""
    file.write_text(exploration_page(document, list(_cloud(explored)), live), "utf-8")


def _cloud(explored: Explored) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    if not explored.table:
        return
    known = np.flatnonzero(~np.isnan(explored.table["fps"]))
    for at in thinned(known, CLOUD):
        figures = {name: round(float(column[at]), 6) for name, column in explored.table.items()}
        yield choices_of(explored.space, explored.space.point_of(explored.points[at])), figures


def write_table(file: Path, explored: Explored) -> None:
    """Write a row for each point: those that were built, and all that the models know."""
    space = explored.space
    names = [each.name for each in space.dimensions]
    best = {id(run) for run in explored.best}
    built = [run for run in explored.runs if run.fidelity != MODELS]
    known = {tuple(map(int, space.row_of(run.choices))) for run in built}
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow([*names, "fidelity", "state", "front", *FIGURES, "reason"])
        for run in built:
            choices, figures = choices_of(space, run.choices), run.figures or {}
            row = [choices.get(name) for name in names]
            state = (run.fidelity, run.state, int(id(run) in best))
            table.writerow([*row, *state, *(figures.get(name) for name in FIGURES), run.reason])
        front = {run.number for run in explored.best if run.fidelity == MODELS}
        table.writerows(_by_models(explored, known, front))


def _by_models(
    explored: Explored, known: set[tuple[int, ...]], front: set[int]
) -> Iterator[Sequence[object]]:
    """Yield the rows of points that only the models know."""
    if not explored.table:
        return
    chosen = explored.space.columns(explored.points)
    figures = [explored.table.get(name) for name in FIGURES]
    columns = [
        [""] * len(explored.points)
        if column is None
        else ["" if np.isnan(value) else value for value in column]
        for column in figures
    ]
    for at, (row, *values) in enumerate(
        zip(explored.points.tolist(), *chosen.values(), *columns, strict=True)
    ):
        if tuple(row) not in known:
            split = len(chosen)
            state = "done" if values[split] != "" else ""
            yield [*values[:split], MODELS, state, int(at in front), *values[split:], ""]
