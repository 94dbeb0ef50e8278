"""What a step reads from outside: what of it counts, and what is declared since it cannot be seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.build.golden import INPUTS
from brainsmith.build.messages import LOG
from brainsmith.plugin.import_reads import hidden_at_import
from brainsmith.plugin.imported_packages import packages_read
from brainsmith.plugin.read_rules import FRAMEWORKS, read_rules
from brainsmith.store.code_dependencies import sources_of
from brainsmith.store.reads import Reads, file_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.store.read_recorder import Recorder
    from brainsmith.store.uncounted import Rules


def rules(staging: Path, folders: Iterable[Path]) -> Rules:
    """Return what does not count of what a step of a build reads.

    Args:
        staging: Where the build's files are: what earlier steps left there is a part of the key.
        folders: Where plugins are that belong to no framework; their sources are a part of the key.
    """
    return read_rules(
        own=(str(staging),),
        sources=tuple(map(str, folders)),
        hidden=(str(staging / "checkpoints"), str(staging / LOG)),
        shown=(str(staging / INPUTS),),
    )


def why_not_kept(step: BuildStep, recorder: Recorder) -> str:
    """Return why what a step made cannot be tied to what it read; empty if it can."""
    if recorder.doubt:
        return recorder.doubt
    if step.framework in FRAMEWORKS:
        by_plugin = f"a plugin that it uses {recorder.own_unseen}, and what that reads cannot be seen"
        return by_plugin if recorder.own_unseen else ""
    at_import = "" if recorder.unseen else hidden_at_import(step.module)
    unseen = (
        f"it {recorder.unseen}" if recorder.unseen else at_import and f"its module {at_import} when imported"
    )
    said = record_of(step)
    if not unseen or (said is not None and ("inputs" in said.extra or said.extra.get("cache"))):
        return ""
    return f"{unseen}, and what that reads cannot be seen; declare it: inputs=[...] or cache=True"


def record_of(step: BuildStep) -> PluginInfo | None:
    """Return what a step's decorator says; of a function that was given from Python too, if it has one."""
    if step.record is not None or step.target is None:
        return step.record
    from brainsmith.plugin.plugin_registry import REGISTRY

    reference = f"{getattr(step.target, '__module__', '')}:{getattr(step.target, '__qualname__', '')}"
    return REGISTRY.registered(step.kind, reference)


def declared_inputs(step: BuildStep) -> str:
    """Return what stands for the files that a step declares as its inputs; empty if it declares none.

    Names and patterns are relative to the folder of the plugin's file. A name that nothing has counts as absent.
    """
    folder, patterns = _declaration(step)
    if not patterns:
        return ""
    names = [name for pattern in patterns for name in _matches(folder, pattern)]
    return json.dumps({name: file_digest(str(folder / name)) for name in names}, sort_keys=True)


def unmatched_inputs(step: BuildStep) -> list[str]:
    """Return a warning for each input that a step declares and that no file has."""
    folder, patterns = _declaration(step)
    return [
        f"step '{step.name}': inputs=[{pattern!r}] matches no file in {folder}; correct it, or take it out"
        for pattern in patterns
        if not any((folder / name).is_file() for name in _matches(folder, pattern))
    ]


def _declaration(step: BuildStep) -> tuple[Path, tuple[str, ...]]:
    """Return what a step declares as its inputs, and the folder that this is relative to."""
    record = record_of(step)
    if record is None:
        return Path(), ()
    return Path(record.origin.rpartition(":")[0]).parent, tuple(record.extra.get("inputs", ()))


def _matches(folder: Path, pattern: str) -> list[str]:
    if not any(character in pattern for character in "*?["):
        return [pattern]
    place = Path(pattern)
    start, below = (Path(place.anchor), place.relative_to(place.anchor)) if place.anchor else (folder, place)
    files = [path for path in start.glob(str(below)) if path.is_file()]
    return [str(path.relative_to(folder) if path.is_relative_to(folder) else path) for path in files]


def packages_of(step: BuildStep) -> Reads:
    """Return the installed packages that a function imports which is no plugin, as files that were read."""
    module = getattr(step.target, "__module__", None) if step.record is None else None
    return packages_read(sources_of([module], without=FRAMEWORKS).digests) if module else Reads()
