"""`brainsmith explore`: the points of a design space, built; the front of its objectives, and tables of all."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from brainsmith import TYPE_CHECKING
from brainsmith.blueprint.space.space import load_space
from brainsmith.cli.terminal import complain
from brainsmith.errors import ExplorationError, OutputError, UsageError
from brainsmith.exploration.exploring import POINT_SECONDS, Exploration
from brainsmith.exploration.ladder import BUDGET, explore, so_far
from brainsmith.exploration.point_journal import note_command, noted_command
from brainsmith.exploration.results import choices_of, document_of, write_page, write_table
from brainsmith.exploration.space_plan import check_names
from brainsmith.exploration.vocabulary import MODELS
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.settings import cache_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from brainsmith.blueprint.space.space import Space
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.exploration.ladder import Explored
    from brainsmith.exploration.point_crew import Crew
    from brainsmith.exploration.point_journal import PointRun

TABLE, DOCUMENT, PAGE = "points.csv", "explore.json", "explore.html"
_SHOWN = ("fps", "latency_cycles", "lut", "bram18", "dsp", "fmax_mhz", "accuracy")
_MOST_REASONS, _MOST_BEST = 5, 12
_LIVE = 2.0
"""Seconds between two pages while it runs, at least."""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def run(options: Options, terminal: Terminal) -> int:
    """Build points; each is printed when it is done, and the front at the end."""
    folder = Path(options.required("--output"))
    if not options.flag("--resume"):
        return _explore(options, folder, terminal)
    return _explore(_resumed(options, folder), folder, terminal)


def _resumed(options: Options, folder: Path) -> Options:
    """Return the options with those that were given last.

    Raises:
        UsageError: Nothing was explored in the folder; or what was set then may name files of another folder than this.
    """
    noted = noted_command(folder)
    if not noted:
        raise UsageError(f"{folder} holds no exploration that --resume could go on with")
    if "--set" in noted["options"] and noted["folder"] != str(Path.cwd()):
        raise UsageError(
            f"--resume must be given in {noted['folder']}, since --set may name files of that folder"
        )
    others = {"--on": "--jobs", "--jobs": "--on"}  # who goes to a cluster leaves this machine, and back
    left = {others[name] for name in others if options.text(name)}
    return options.over({name: given for name, given in noted["options"].items() if name not in left})


def _noted(options: Options) -> dict[str, Any]:
    """Return what `--resume` takes: the options, whose files have absolute names."""
    given = options.to_plain()
    for name in ("MODEL", "--blueprint"):
        if name in given:
            given[name] = [str(Path(file).absolute()) for file in given[name]]
    return {"options": given, "folder": str(Path.cwd())}


def _warn_of_cache() -> None:
    folder = Path(cache_dir())
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not os.access(there, os.W_OK):
        complain(f"warning: points share no steps, because the cache {folder} cannot be written")


def _cluster(options: Options) -> Callable[[], Crew] | None:
    """Return what connects to the cluster; None for this machine.

    Raises:
        UsageError: How many points are built at once was stated too, which is up to the cluster.
    """
    address = options.text("--on")
    if address is None:
        return None
    if options.text("--jobs"):
        raise UsageError(
            "--jobs is for this machine alone: on a cluster each worker builds one point at a time"
        )
    from brainsmith.exploration.cluster import ClusterCrew, address_of

    address_of(address)
    megabytes = options.whole("--memory", 0, 64)
    return partial(ClusterCrew, address, megabytes, lambda text: complain(f"warning: {text}"))


def _explore(options: Options, folder: Path, terminal: Terminal) -> int:
    if not options.texts("--blueprint"):
        raise UsageError(
            "brainsmith explore needs --blueprint FILE: a blueprint with choices\n"
            "  or --resume, to go on with the exploration in --output DIR"
        )
    space = load_space(options.texts("--blueprint"), options.texts("--set"))
    check_names(space, get_plugin_manager().registry)
    count, seconds = _budget(options.text("--budget"))
    ended: list[PointRun] = []
    written = time.monotonic()

    def show(one: PointRun) -> None:
        nonlocal written
        ended.append(one)
        terminal.write(f"[{len(ended)}] {one.fidelity}: {said(space, one)}")
        terminal.flush()
        if time.monotonic() > written + _LIVE:
            with suppress(OSError):  # what is written at the end says so
                now = so_far(space, ended)
                write_page(folder / PAGE, document_of(now, exploration), now, live=True)
            written = time.monotonic()

    exploration = Exploration(
        space,
        folder,
        options.text("MODEL"),
        jobs=options.whole("--jobs", 1, 1),
        megabytes=options.whole("--memory", 0, 64),
        seconds=options.number("--seconds", POINT_SECONDS),
        end=time.monotonic() + seconds,
        use_cache=not options.flag("--no-cache"),
        listener=show,
        crew=_cluster(options),
        command=_noted(options),
    )
    if exploration.use_cache:
        _warn_of_cache()
    produce, strategy = options.text("--produce") or "estimates", options.text("--strategy") or "grid"
    with exploration:
        explored = explore(exploration, produce, strategy, count, options.whole("--seed", 0))
    if produce == MODELS:  # no point was built, which would have noted it
        note_command(folder, exploration.command or {})
    document = document_of(explored, exploration)
    try:
        write_page(folder / PAGE, document, explored)
        (folder / DOCUMENT).write_text(json.dumps(document, indent=1) + "\n", "utf-8")
        write_table(folder / TABLE, explored)
    except OSError as error:
        raise OutputError(f"{folder}: the results cannot be written: {error.strerror}") from error
    warn(explored)
    terminal.give(lambda: {**document, "error": None}, lambda: _show(explored, folder, terminal))
    if not any(one.state == "done" for one in explored.runs):
        refuse(explored)
    return 0


def _budget(text: str | None) -> tuple[int, float]:
    """Return how many points may be built, and within how many seconds points are begun.

    Raises:
        UsageError: It is neither.
    """
    found = re.fullmatch(r"(\d+)([smh]?)", text or str(BUDGET))
    if found is None or not int(found[1]):
        raise UsageError(
            f"--budget must be a number of points or a time, such as 100, 90s, 30m or 2h, not {text!r}"
        )
    number, unit = int(found[1]), found[2]
    return (BUDGET, number * _UNITS[unit]) if unit else (number, float("inf"))


def refuse(explored: Explored) -> None:
    """Say why nothing was built.

    Raises:
        ExplorationError: Always.
    """
    reasons = [run.reason for run in explored.runs if run.reason] or list(explored.unmodelled)
    if not explored.runs or all(run.state == "waiting" for run in explored.runs):
        raise ExplorationError(
            "no point was built within the budget: give more, and the same command goes on"
        )
    reason = reasons[0] if reasons else "by the models none fits, see the table"
    raise ExplorationError(f"none of {plural(len(explored.runs), 'point')} could be built: {reason}")


def warn(explored: Explored) -> None:
    """Warn of objectives of which no point has the figure, and of front ends without models."""
    built = any(run.state == "done" for run in explored.runs)
    for name in explored.space.objectives:
        if name not in explored.objectives and built:
            complain(
                f"warning: no point has the figure {name!r}, an objective: {_need(name, explored.fidelity)}"
            )
    for reason in explored.unmodelled[:_MOST_REASONS]:
        complain(f"warning: points are not known by the models: {reason.splitlines()[0]}")


def _need(name: str, fidelity: str) -> str:
    if fidelity == MODELS and name in ("accuracy", "latency_cycles"):
        return "the models do not give it; --produce estimates does. It is left out"
    if name == "fmax_mhz":
        return "it needs args: {rtl_synthesise: {place: ecp5}}, and --produce synthesised; it is left out"
    if name == "accuracy":
        return "it needs verify: {inputs: ..., labels: ...}; it is left out"
    return "it needs a device, target: {part: ...}; it is left out"


def said(space: Space, one: PointRun) -> str:
    """Describe a point: its choices, and its figures or why it has none."""
    choices = (f"{name}={value}" for name, value in choices_of(space, one.choices).items())
    where = ", ".join(choices) or "the only point"
    if one.state == "done" and one.fidelity == MODELS and "points" in (one.figures or {}):
        return f"{where}: a front of {plural(len((one.figures or {})['points']), 'circuit')}"
    if one.state == "done":
        return f"{where}: {_figures(one.figures or {})}"
    reason = (one.reason or "").splitlines()[0] if one.reason else ""
    return f"{where}: {'tried again' if one.state == 'waiting' else one.state}: {reason}"


def _figures(figures: Mapping[str, Any]) -> str:
    known = ((name, figures.get(name)) for name in _SHOWN)
    return ", ".join(f"{name} {value:,.6g}" for name, value in known if value is not None)


def _show(explored: Explored, folder: Path, terminal: Terminal) -> None:
    space = explored.space
    failed = [run for run in explored.runs if run.state == "failed"]
    waiting = [run for run in explored.runs if run.state == "waiting"]
    reasons = [said(space, run) for run in failed[:_MOST_REASONS]]
    if len(failed) > _MOST_REASONS:
        reasons.append(f"... {len(failed) - _MOST_REASONS} more, in {folder / TABLE}")
    waits = f"{plural(len(waiting), 'point')}: the budget is used up, and the same command with more goes on"
    terminal.write("")
    terminal.pairs(
        [
            ("points", _counted(explored)),
            *([("failed", "\n".join(reasons))] if failed and explored.fidelity != MODELS else []),
            *([("waiting", waits)] if waiting else []),
            ("front", "\n".join(_front(explored, folder)) or "the blueprint states no objectives"),
            ("table", str(folder / TABLE)),
            ("document", str(folder / DOCUMENT)),
            ("page", str(folder / PAGE)),
        ],
        "",
    )


def _counted(explored: Explored) -> str:
    """Return how many points were considered, and how many are done at which fidelity."""
    by: dict[str, int] = {}
    for run in explored.runs:
        if run.state == "done" and run.fidelity != MODELS:
            by[run.fidelity] = by.get(run.fidelity, 0) + 1
    modelled = len(explored.points) if explored.table else 0
    parts = [
        *([f"{modelled:,} by the models"] if modelled else []),
        *(f"{n} {name}" for name, n in by.items()),
    ]
    return f"{explored.count:,}: {', '.join(parts) or 'none is built'}"


def _front(explored: Explored, folder: Path) -> Sequence[str]:
    from brainsmith.exploration.exploring import folder_of

    lines = []
    for run in explored.best[:_MOST_BEST]:
        where = f"\n  {folder / folder_of(run.key) / 'blueprint.yaml'}" if run.key else ""
        lines.append(f"{said(explored.space, run)}{where}")
    if len(explored.best) > _MOST_BEST:
        lines.append(f"... {len(explored.best) - _MOST_BEST} more, in {folder / TABLE}")
    return lines
