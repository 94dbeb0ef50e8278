"""Turn a blueprint's selection, or a Python list of steps, into the pipeline's steps."""

from __future__ import annotations

import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.blueprint.arrangement import arrange
from brainsmith.blueprint.build_step import BuildStep, step_of
from brainsmith.blueprint.schema import Position
from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from brainsmith.blueprint.selection import Selection
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry


def steps_of(selection: Selection) -> tuple[BuildStep, ...]:
    """List the steps of a blueprint in order, each phase replaced by its transforms."""
    return _checked(selection.pipeline)


def steps_from(entries: Iterable[Any], registry: Registry) -> tuple[BuildStep, ...]:
    """List the steps of a Python list.

    Args:
        entries: Functions `(model, cfg) -> model`, lambdas, names of steps (`"cleanup"`,
            `"finn:step_streamline"`), transform classes or instances, records, and
            `{"step" or "transform": name, "args": {...}, "passes": N}`.
        registry: Where names are looked up.

    Raises:
        BuildError: An entry is something else.
        PluginNotFoundError: A name is unknown.
    """
    return _checked([_step(entry, at, registry) for at, entry in enumerate(entries)])


def arranged(
    steps: tuple[BuildStep, ...], output: str | None, registry: Registry
) -> tuple[tuple[BuildStep, ...], str]:
    """Make a Python list go as far as an output says.

    Args:
        steps: As `steps_from` gives them.
        output: One of `outputs.OUTPUTS`; None to go as far as the list does: only what an RTL step in it needs
            is added, and nothing after the last one.
        registry: Where the steps that are added are looked up.

    Returns:
        The steps, and the output.

    Raises:
        BuildError: RTL steps stand where they cannot work; all of them are named.
        PluginNotFoundError: A step that is added is unknown.
    """
    found = arrange(steps, output)
    if found.problems:
        raise BuildError("\n".join(f"{step.position}: {text}" for step, text in found.problems))
    added = {name: step_of(registry.resolve("step", name)) for name in found.order if isinstance(name, str)}
    return _checked([added[step] if isinstance(step, str) else step for step in found.order]), found.output


def _step(entry: Any, at: int, registry: Registry) -> BuildStep:
    place = Position(f"steps[{at}]", 0, 0)
    if isinstance(entry, str):
        return step_of(registry.resolve("step", entry), place)
    if isinstance(entry, dict):
        return _named(entry, place, registry)
    if hasattr(entry, "qualified") and hasattr(entry, "reference"):
        return step_of(entry, place)
    kind = "transform" if _is_transform(entry) else "step"
    if kind == "step" and not callable(entry):
        what = "a function (model, cfg) -> model, the name of a step, or a transform"
        raise BuildError(f"{place} must be {what}, not {entry!r}")
    record = _record_of(entry, kind, registry)
    if record is not None:
        return step_of(record, place)
    return BuildStep(callable_name(entry), "callable", kind, target=entry, position=place)


def _named(entry: Mapping[str, Any], place: Position, registry: Registry) -> BuildStep:
    kinds = [kind for kind in ("step", "transform") if kind in entry]
    if len(kinds) != 1 or set(entry) - {kinds[0], "args", "passes"}:
        form = "{'step' or 'transform': name, 'args': {...}, 'passes': N}"
        raise BuildError(f"{place} must be {form}, not {entry!r}")
    passes = entry.get("passes")
    if passes is not None and (not isinstance(passes, int) or isinstance(passes, bool) or passes < 1):
        raise BuildError(f"{place}: passes must be a whole number, 1 or more, not {passes!r}")
    record = registry.resolve(kinds[0], entry[kinds[0]])
    return step_of(record, place, args=dict(entry.get("args") or {}), passes=passes)


def _is_transform(entry: Any) -> bool:
    return callable(getattr(entry, "apply", None)) and not isinstance(entry, types.FunctionType)


def _record_of(entry: Any, kind: str, registry: Registry) -> PluginInfo | None:
    """Find the record of an object that is a plugin: `steps.cleanup` is the function itself."""
    module, qualname = getattr(entry, "__module__", None), getattr(entry, "__qualname__", None)
    if module is None or qualname is None or "<" in qualname:
        return None
    record = registry.scanned(kind, f"{module}:{qualname}")
    return record if record is not None and record.load() is entry else None


def callable_name(entry: Any) -> str:
    """Name a callable for messages and reports: a lambda by the place where it was written."""
    name = getattr(entry, "__name__", None) or type(entry).__name__
    code = getattr(entry, "__code__", None)
    if name == "<lambda>" and code is not None:
        return f"lambda at {Path(code.co_filename).name}:{code.co_firstlineno}"
    return str(name)


def _checked(steps: Sequence[BuildStep]) -> tuple[BuildStep, ...]:
    """Return the steps; an empty pipeline is an error."""
    if not steps:
        advice = "name some under `steps:`, or leave the key out for the default"
        raise BuildError(f"the pipeline has no steps: {advice}")
    return tuple(steps)
