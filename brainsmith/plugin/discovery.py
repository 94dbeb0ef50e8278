"""Run the adapters and put together what they find."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager

from brainsmith.errors import BrainsmithError, Problem
from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.distributions import environment
from brainsmith.plugin.files import stamps
from brainsmith.plugin.precedence import ADAPTED, OURS, duplicate_message, framework_identifier
from brainsmith.plugin.snapshot import AdapterResult, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brainsmith.plugin.adapters.adapter import Adapter
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.settings import Settings

CLOCK_TICK = 50_000_000
"""Nanoseconds within which two changes of a file may bear the same time."""


def adapters_for(settings: Settings) -> list[Adapter]:
    """Return the adapters that the settings enable, in the order in which they run."""
    from brainsmith.plugin.adapters.brainsmith import BrainSmithAdapter
    from brainsmith.plugin.adapters.entry_points import EntryPointAdapter
    from brainsmith.plugin.adapters.finn import FINNAdapter
    from brainsmith.plugin.adapters.project import ProjectAdapter
    from brainsmith.plugin.adapters.qonnx import QONNXAdapter

    adapted: list[Adapter] = [QONNXAdapter(), FINNAdapter()]
    if settings.frameworks is not None:
        adapted = [adapter for adapter in adapted if adapter.name in settings.frameworks]
    return [BrainSmithAdapter(), ProjectAdapter(settings), EntryPointAdapter(), *adapted]


def discover(
    settings: Settings, adapters: list[Adapter], frameworks: tuple[str, ...] | None = None
) -> Snapshot:
    """Read everything there is.

    Args:
        settings: Where to look.
        adapters: Those to run.
        frameworks: Keep only the plugins of these; the adapters of others do not run.
    """
    created = time.time()
    installed = environment(ADAPTED)
    reading = Reading(settings)
    wanted = [adapter for adapter in adapters if frameworks is None or _may_serve(adapter.name, frameworks)]
    reading.expect(adapter.name for adapter in wanted if adapter.name in ADAPTED)
    with _collector_at_rest():
        results = [_run(adapter, reading) for adapter in wanted]
    records = [info for result in results for info in result.records]
    if frameworks is not None:
        chosen = {framework_identifier(framework) for framework in frameworks}
        records = [info for info in records if framework_identifier(info.framework) in chosen]
    groups: dict[str, tuple[str, ...]] = {}
    for result in results:
        groups.update(result.groups)
    groups.update(settings.groups)
    problems = [
        *_unknown_frameworks(settings),
        *_frameworks_without_plugins(frameworks, records),
        *(problem for result in results for problem in result.problems),
    ]
    records, clashes = _settle_clashes(records)
    problems.extend(clashes)
    watched = list(dict.fromkeys(path for result in results for path in result.watched))
    found = stamps(watched)
    newest = max((max(times[:2]) for times in found), default=0)
    return Snapshot(
        records,
        groups,
        problems,
        [_summary(result) for result in results],
        watched,
        found,
        installed,
        created,
        complete=all(result.status != "failed" for result in results),
        settled=newest < int(created * 1e9) - CLOCK_TICK,
    )


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector still: a scan makes thousands of objects that all live on, and it would visit each."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _unknown_frameworks(settings: Settings) -> list[Problem]:
    """Return a problem for each name in the setting `frameworks` that no adapter has."""
    source = settings.sources.get("frameworks", "settings")
    return [
        Problem(
            source, 0, 0, f"frameworks names {name!r}, which has no adapter; there are {', '.join(ADAPTED)}"
        )
        for name in settings.frameworks or ()
        if name not in (*OURS, *ADAPTED)
    ]


def _frameworks_without_plugins(
    frameworks: tuple[str, ...] | None, records: list[PluginInfo]
) -> list[Problem]:
    """Return a problem for each framework that was asked for and that nothing is found of; ours may be empty."""
    found = {framework_identifier(info.framework) for info in records}
    return [
        Problem(
            f"frameworks={list(frameworks or ())!r}",
            0,
            0,
            f"no plugin has the framework {name!r}: it is neither one of {', '.join((*OURS, *ADAPTED))} "
            "nor an installed distribution that offers plugins",
        )
        for name in frameworks or ()
        if name not in (*OURS, *ADAPTED) and framework_identifier(name) not in found
    ]


def _may_serve(adapter: str, frameworks: tuple[str, ...]) -> bool:
    if adapter == "entry_points":
        return any(framework not in ("brainsmith", "project", *ADAPTED) for framework in frameworks)
    return adapter in frameworks


def _run(adapter: Adapter, reading: Reading) -> AdapterResult:
    """Run one adapter; whatever it raises is its own failure, not the others'."""
    begin = time.perf_counter()
    try:
        result = adapter.discover(reading)
    except Exception as error:  # noqa: BLE001
        result = AdapterResult(adapter.name)
        result.status = "failed"
        result.detail = (
            str(error) if isinstance(error, BrainsmithError) else f"{type(error).__name__}: {error}"
        )
        result.problems.append(Problem(f"adapter {adapter.name}", 0, 0, result.detail))
    result.milliseconds = (time.perf_counter() - begin) * 1e3
    return result


def _settle_clashes(records: list[PluginInfo]) -> tuple[list[PluginInfo], list[Problem]]:
    """Let `override=True` win; report other clashes. Both records stay, so that using the name says what is wrong."""
    first: dict[tuple[str, str], PluginInfo] = {}
    clashing: dict[tuple[str, str], dict[str, PluginInfo]] = {}
    kept: list[PluginInfo] = []
    for info in records:
        key = (info.key, info.framework)
        rival = first.setdefault(key, info)
        if rival is info:
            kept.append(info)
            continue
        claims = clashing.setdefault(key, {rival.reference: rival})
        if info.reference not in claims:  # else two entry points name the same module
            claims[info.reference] = info
            kept.append(info)
    problems: list[Problem] = []
    overridden: set[int] = set()
    for claims in clashing.values():
        meant = [info for info in claims.values() if info.extra.get("override")]
        if meant:
            overridden.update(id(info) for info in claims.values() if not info.extra.get("override"))
        chosen, *others = meant or claims.values()
        problems.extend(
            Problem(info.file or info.origin, info.line, 0, duplicate_message(info, [chosen, info]))
            for info in others
        )
    return [info for info in kept if id(info) not in overridden], problems


def _summary(result: AdapterResult) -> dict[str, object]:
    return {
        "name": result.name,
        "status": result.status,
        "version": result.version,
        "plugins": len(result.records),
        "problems": len(result.problems),
        "messages": [str(problem) for problem in result.problems],
        "detail": result.detail,
        "milliseconds": result.milliseconds,
    }
