"""Run the adapters and put together what they find."""

from __future__ import annotations

import time

from brainsmith import TYPE_CHECKING
from brainsmith.collector import collector_at_rest
from brainsmith.errors import Problem
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.plugin.adapter_result import AdapterResult, SnapshotSources
from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.adapters.brainsmith import BrainSmithAdapter
from brainsmith.plugin.adapters.entry_points import EntryPointAdapter
from brainsmith.plugin.adapters.environments import EnvironmentAdapter
from brainsmith.plugin.adapters.finn import FINNAdapter
from brainsmith.plugin.adapters.project import ProjectAdapter
from brainsmith.plugin.adapters.qonnx import QONNXAdapter
from brainsmith.plugin.clashes import settle_clashes
from brainsmith.plugin.definitions import Definitions
from brainsmith.plugin.discovery_cache import CachedDiscovery
from brainsmith.plugin.distributions import environment
from brainsmith.plugin.isolation import PassingProblem
from brainsmith.plugin.log import debug
from brainsmith.plugin.precedence import ADAPTED, OURS, framework_identifier
from brainsmith.plugin.python_source import ChangedWhileReadError
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.shown import error_text
from brainsmith.store.files import is_racy, stamps

if TYPE_CHECKING:
    from brainsmith.plugin.adapters.adapter import Adapter
    from brainsmith.plugin.request import Request
    from brainsmith.settings import Settings
    from brainsmith.store.files import Stamp


def adapters_for(settings: Settings) -> list[Adapter]:
    """Return the adapters that the settings enable, in the order in which they run."""
    adapted: list[Adapter] = [QONNXAdapter(), FINNAdapter()]
    if settings.frameworks is not None:
        adapted = [adapter for adapter in adapted if adapter.name in settings.frameworks]
    others = [EnvironmentAdapter(settings)] if settings.environments else []
    return [BrainSmithAdapter(), ProjectAdapter(settings), EntryPointAdapter(settings), *others, *adapted]


def discover(request: Request, settings: Settings, kept: CachedDiscovery) -> Snapshot:
    """Read what a request asks for: what changed since the snapshot that is kept, or everything.

    Args:
        request: What is asked for; the adapters of other frameworks do not run.
        settings: Where to look.
        kept: What the same discovery found before, and all that it read and that has changed since. Nothing else has.
    """
    debug("%s: %s", "scanning" if kept.earlier is None else "updating", kept.source)
    known = {
        "brainsmith.discovery.source": "scan" if kept.earlier is None else "update",
        "brainsmith.discovery.reason": kept.source,
    }
    with WorkSpan("discovery", f"{__name__}.discover", {**known}) as span, collector_at_rest():
        try:
            snapshot = _discover(request.read_frameworks, settings, kept)
        except ChangedWhileReadError:  # then all is read anew
            anew = CachedDiscovery(None, kept.source)
            snapshot = _discover(request.read_frameworks, settings, anew)
        span.set("brainsmith.discovery.plugins", len(snapshot.records))
    if request.mode != "blueprint":
        snapshot = snapshot.restricted(request.types)
    for summary in snapshot.adapters:
        debug("adapter %s: %s, %d plugins", summary["name"], summary["status"], summary["plugins"])
    for problem in snapshot.problems:
        debug("%s", problem)
    return snapshot


def _discover(frameworks: tuple[str, ...] | None, settings: Settings, kept: CachedDiscovery) -> Snapshot:
    """Run the adapters, and return what they find as one."""
    begin, earlier = time.time(), kept.earlier
    installed = environment(ADAPTED) if earlier is None else earlier.environment
    sources = _read(frameworks, settings, kept)
    results = sources.results
    records = [info for result in results for info in result.records]
    if frameworks is not None:
        chosen = {framework_identifier(framework) for framework in frameworks}
        records = [info for info in records if framework_identifier(info.framework) in chosen]
    groups: dict[str, tuple[str, ...]] = {}
    for result in results:
        groups.update(result.groups)
    groups.update(settings.groups)
    problems = _unknown_frameworks(settings)
    for result in results:
        problems.extend(result.problems)
    if len(frozenset().union(*(result.claims for result in results))) < len(records):
        records, clashes = settle_clashes(records)
        problems.extend(clashes)
    watched = list(dict.fromkeys(path for result in results for path in result.watched))
    if earlier is None or watched != earlier.paths:
        sources.definitions.retain(watched)
    found, racy = _stamps(watched, int(begin * 1e9), sources.definitions, kept)
    return Snapshot(
        records,
        groups,
        problems,
        [_summary(result) for result in results],
        watched,
        found,
        installed,
        begin if earlier is None else earlier.created,
        complete=all(result.status != "failed" for result in results)
        and not any(isinstance(problem, PassingProblem) for problem in problems),
        racy=racy,
        sources=sources,
    )


def _read(frameworks: tuple[str, ...] | None, settings: Settings, kept: CachedDiscovery) -> SnapshotSources:
    """Run the adapters; of those that were run before only the ones that what changed concerns."""
    adapters = [
        one for one in adapters_for(settings) if frameworks is None or _may_serve(one.name, frameworks)
    ]
    known, changed = None if kept.earlier is None else kept.earlier.sources, kept.changed
    definitions = Definitions() if known is None else known.definitions
    before = definitions.forget(changed)
    earlier = {} if known is None else {result.name: result for result in known.results}
    expected = tuple(adapter.name for adapter in adapters if adapter.name in ADAPTED)
    reading = Reading(
        definitions, earlier, {path: before.get(path, {}) for path in changed}, frameworks, expected
    )
    results = []
    for adapter in adapters:
        result = earlier.get(adapter.name)
        if result is None or result.depends_on(changed):
            result = _run(adapter, reading)
        results.append(result)
    return SnapshotSources(results, definitions)


def _stamps(
    watched: list[str], begin: int, definitions: Definitions, kept: CachedDiscovery
) -> tuple[list[Stamp], dict[str, bytes]]:
    """Return the stamps of what was read, and the digests where a stamp does not show every change."""
    earlier = kept.earlier
    known = {} if earlier is None else dict(zip(earlier.paths, earlier.stamps, strict=True))
    for path in kept.changed:
        known.pop(path, None)
    racy = {} if earlier is None else {path: earlier.racy[path] for path in known.keys() & earlier.racy}
    added = [path for path in watched if path not in known]
    fresh = dict(zip(added, stamps(added), strict=True))
    racy.update((path, definitions.digest(path)) for path, times in fresh.items() if is_racy(times, begin))
    known.update(fresh)
    return [known[path] for path in watched], racy


def _unknown_frameworks(settings: Settings) -> list[Problem]:
    """Return a problem for each name in the setting `frameworks` that no adapter has."""
    source = settings.sources.get("frameworks", "settings")
    return [
        Problem(
            source,
            0,
            0,
            f"frameworks lists {name!r}, which is not a known framework; known are {', '.join(ADAPTED)}",
        )
        for name in settings.frameworks or ()
        if name not in (*OURS, *ADAPTED)
    ]


def _may_serve(adapter: str, frameworks: tuple[str, ...]) -> bool:
    if adapter in ("entry_points", "environments"):
        return any(framework not in ("brainsmith", "project", *ADAPTED) for framework in frameworks)
    return adapter in frameworks


def _run(adapter: Adapter, reading: Reading) -> AdapterResult:
    """Run one adapter; whatever it raises is its own failure, not the others'."""
    begin = time.perf_counter()
    with WorkSpan(
        "adapter", f"{type(adapter).__module__}.{type(adapter).__qualname__}.discover", label=adapter.name
    ) as span:
        try:
            result = adapter.discover(reading)
        except ChangedWhileReadError:
            raise
        except Exception as error:  # noqa: BLE001  (one adapter's failure; it is reported as a problem)
            result = AdapterResult(adapter.name)
            result.status = "failed"
            result.detail = error_text(error)
            result.problems.append(Problem(f"adapter {adapter.name}", 0, 0, result.detail))
            span.failed(error)
        span.set("brainsmith.adapter.plugins", len(result.records))
    result.milliseconds = (time.perf_counter() - begin) * 1e3
    return result


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
