"""Look up every name of a blueprint, and say everything that is wrong with them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from brainsmith.blueprint.arguments import argument_problems
from brainsmith.blueprint.arrangement import Arrangement, arrange
from brainsmith.blueprint.backends import BackendChoice
from brainsmith.blueprint.build_step import BuildStep, step_of
from brainsmith.blueprint.loader import Paths, in_order, parse_blueprint
from brainsmith.blueprint.loader import missing_files as missing_files
from brainsmith.blueprint.lookup import Lookup
from brainsmith.blueprint.outputs import RTL_STEPS
from brainsmith.blueprint.requires import needs_stated, unknown_plugins, unmet_distributions
from brainsmith.blueprint.schema import (
    DEFAULT_STEPS,
    NOWHERE,
    PHASES,
    Arguments,
    Blueprint,
    PluginName,
    Position,
    StepEntry,
)
from brainsmith.blueprint.selection import KernelUse, Selection
from brainsmith.close_names import did_you_mean
from brainsmith.errors import BlueprintError, PluginLoadError, Problem
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_needs import VersionLimits, needs_of
from brainsmith.plugin.plugin_registry import Registry

if TYPE_CHECKING:
    from brainsmith.blueprint.composition.overrides import Overrides


_MOST_ROUNDS = 10
"""How often names are looked up again because of what the plugins that were chosen ask of others' versions."""


def resolve_blueprint(
    blueprint: Blueprint, registry: Registry, *, steps: Collection[str] | None = None
) -> Selection:
    """Look up every name of a blueprint.

    Args:
        blueprint: As it was read.
        registry: Where names are looked up.
        steps: The names of the steps that run in place of the blueprint's.

    Raises:
        BlueprintError: All names that cannot be used, each with line and column.
    """
    selection, problems = resolve_parts(blueprint, registry, steps)
    if problems:
        raise BlueprintError(problems)
    return selection


def check_blueprint(
    path: Paths | Blueprint,
    registry: Registry,
    *,
    overrides: Overrides = (),
    files: bool = True,
    output: str | None = None,
    steps: Collection[str] | None = None,
) -> tuple[Blueprint, Selection]:
    """Read a blueprint and look up its names; wrong forms, names and file names are reported together.

    Args:
        path: The file, or several, later ones over earlier ones; or a blueprint that was read.
        registry: Where names are looked up.
        overrides: What goes before the files, as for `load_blueprint`.
        files: Whether the golden data's files must be there.
        output: How far the build goes, in place of what the file says.
        steps: The names of the steps that run in place of the blueprint's.

    Raises:
        BlueprintError: All problems, in the order of the files; or there are overrides of a blueprint that was read.
    """
    if isinstance(path, Blueprint):
        if overrides:
            text = "a blueprint that was read takes no overrides: give them to load_blueprint"
            raise BlueprintError([Problem(path.file, 0, 0, text)])
        read: Blueprint | None = path
        problems: list[Problem] = []
    else:
        read, problems, *_ = parse_blueprint(path, overrides)
    if read is None:
        raise BlueprintError(problems)
    blueprint = replace(read, output=output or read.output)
    selection, more = resolve_parts(blueprint, registry, steps)
    problems = [*problems, *more, *(missing_files(blueprint) if files else [])]
    if problems:
        raise BlueprintError(in_order(blueprint.file, problems))
    return blueprint, selection


def resolve_parts(
    blueprint: Blueprint, registry: Registry, steps_given: Collection[str] | None = None
) -> tuple[Selection, list[Problem]]:
    """Look up as much as can be found, beside the problems in the order of the file.

    What the plugins that are chosen ask of others' versions counts as what the blueprint asks, so all is looked up again
    until nothing more is asked.
    """
    stated = needs_stated(blueprint.requires)
    limits = VersionLimits(stated)
    for _ in range(_MOST_ROUNDS):
        lookup = Lookup(registry, limits)
        selection = _looked_up(lookup, blueprint, steps_given)
        asking = [need for info in selection.records for need in needs_of(info) if need.versions]
        limits = VersionLimits([*stated, *asking])
        if limits.needs == lookup.limits.needs:
            break
    else:
        text = "what the plugins ask of each other's versions does not settle: say in requires which versions are meant"
        if not lookup.problems:  # else these name all who ask
            lookup.problems.append(Problem(blueprint.file, 0, 0, text))
    lookup.problems += unmet_distributions(blueprint.requires, registry.known())
    for position, text in unknown_plugins(blueprint.requires, registry.known()):
        selection = replace(selection, skipped=(*selection.skipped, str(position.problem(text))))
    return selection, in_order(blueprint.file, lookup.problems)


def _looked_up(lookup: Lookup, blueprint: Blueprint, steps_given: Collection[str] | None) -> Selection:
    for place in blueprint.blanks:
        lookup.note(place, "~ alone names nothing")
    arrangement, steps = _arranged(lookup, blueprint)
    selection = Selection(
        kernels=_kernels(lookup, blueprint),
        transforms=_steps(lookup, blueprint.transforms),
        pre_hw=_steps(lookup, blueprint.pre_hw),
        post_hw=_steps(lookup, blueprint.post_hw),
        steps=steps,
        output=arrangement.output,
        left_out=arrangement.left_out,
        targets=_targets(lookup, blueprint),
        required=tuple(lookup.required),
        asked=tuple((need.type, need.name, need.versions, need.who) for need in lookup.limits.needs),
        skipped=tuple(str(note) for note in in_order(blueprint.file, lookup.skipped)),
    )
    if steps_given is None:  # those that would run if it went further, too
        steps_given = dict.fromkeys(step.name for step in (*selection.pipeline, *selection.left_out))
    _check_steps_named(lookup, blueprint, steps_given)
    if lookup.needing_finn:
        note = Problem(blueprint.file, 0, 0, _goes_without_finn(selection, lookup.needing_finn))
        selection = replace(selection, skipped=(str(note), *selection.skipped))
    return selection


def _goes_without_finn(selection: Selection, needing: list[PluginInfo]) -> str:
    """Say how far a build goes without FINN."""
    kernels = [f"kernel {use.record.name!r}" for use in selection.kernels if use.record in needing]
    steps = [f"{use.kind} {use.name!r}" for use in selection.steps if use.record in needing]
    end = f", so a build ends before {steps[0]}" if steps else ""
    names = ", ".join((*kernels, *steps)) or ", ".join(sorted({info.qualified for info in needing}))
    return f"FINN is not installed{end}; what needs it: {names}. To install it: {INSTALL_FINN}"


def _kernels(lookup: Lookup, blueprint: Blueprint) -> tuple[KernelUse, ...]:
    """Look up the kernels and their backends."""
    choice, entries = BackendChoice(lookup), blueprint.kernels
    found = _each_once(lookup, "kernel", [entry.name for entry in entries])
    return tuple(
        KernelUse(record, choice.select(record, entries[at]), entries[at].position)
        for record, at in found.items()
    )


def _targets(lookup: Lookup, blueprint: Blueprint) -> tuple[PluginInfo, ...] | None:
    """Look up the targets that are compared."""
    if blueprint.verify.targets is None:
        return None
    return tuple(_each_once(lookup, "target", blueprint.verify.targets))


def _each_once(lookup: Lookup, kind: str, names: Sequence[PluginName]) -> dict[PluginInfo, int]:
    """Look up names of which no two may stand for one plugin; return which name of the list each plugin has."""
    found: dict[PluginInfo, int] = {}
    for at, name in enumerate(names):
        for record, _ in lookup.find(kind, name):
            if record in found:
                first = names[found[record]].position
                lookup.report(name, f"{kind} {record.name!r} is listed twice: first at {first}")
            found.setdefault(record, at)
    return found


def _steps(lookup: Lookup, entries: Iterable[StepEntry]) -> tuple[BuildStep, ...]:
    """Look up steps or transforms as they are written, with groups expanded in their order."""
    found: list[BuildStep] = []
    for entry in entries:
        if entry.kind == "phase":
            found.append(BuildStep(entry.name.name, "", "phase", position=entry.position))
            continue
        stated = {"args": dict(entry.args.values), "passes": entry.passes}
        for record, group in _with_arguments(lookup, entry.kind, entry.name, entry.args):
            found.append(step_of(record, entry.position, group=group, **stated))
    return tuple(found)


def _with_arguments(
    lookup: Lookup, kind: str, name: PluginName, args: Arguments
) -> list[tuple[PluginInfo, str]]:
    """Look up a name, and check the arguments of what it stands for."""
    found = lookup.find(kind, name)
    if args.values and any(group for _, group in found):
        lookup.report(name, f"{name.name!r} is a group, which takes no arguments: name its members instead")
        return found
    for record, group in found:
        try:
            lookup.problems += argument_problems(record, group, name, args)
        except PluginLoadError as error:
            lookup.note(name.position, f"the arguments of {name.name!r} are not checked: {error}")
    return found


def _arranged(lookup: Lookup, blueprint: Blueprint) -> tuple[Arrangement, tuple[BuildStep, ...]]:
    """Make the pipeline go as far as the output says; what is added has the place of the key ``output``."""
    entries = _default_steps(blueprint) if blueprint.steps is None else blueprint.steps
    _check_steps_given_arguments(lookup, blueprint, entries)
    entries = [_given_more(lookup, blueprint, entry) for entry in entries]
    arrangement = arrange(_steps(lookup, entries), blueprint.output)
    lookup.problems += [step.position.problem(text) for step, text in arrangement.problems]
    place = blueprint.positions.get("output", Position(blueprint.file, 0, 0))
    reported = {entry.name.name for entry in blueprint.steps or () if not entry.name.optional}
    steps: list[BuildStep] = []
    for item in arrangement.order:
        if isinstance(item, BuildStep):
            steps.append(item)
        elif item not in reported:
            args = blueprint.args.get(item, Arguments())
            found = _with_arguments(lookup, "step", PluginName(item, position=place), args)
            steps += [step_of(record, place, args=dict(args.values)) for record, _ in found]
    return arrangement, tuple(steps)


def _given_more(lookup: Lookup, blueprint: Blueprint, entry: StepEntry) -> StepEntry:
    """Return a step with the arguments that the key ``args`` gives it, beside those of its entry."""
    more = blueprint.args.get(entry.name.qualified) if entry.kind == "step" else None
    if more is None:
        return entry
    for name in more.values.keys() & entry.args.values.keys():
        first = entry.args.positions.get(name, entry.position)
        text = f"argument {name!r} of step {entry.name.qualified!r} is given twice: first at {first}"
        lookup.problems.append(more.positions[name].problem(text))
    values = {**more.values, **entry.args.values}
    return replace(entry, args=Arguments(values, {**more.positions, **entry.args.positions}))


def _default_steps(blueprint: Blueprint) -> list[StepEntry]:
    """Give the default order as entries; they stand nowhere in the file."""
    place = Position(blueprint.file, 0, 0)
    return [
        StepEntry("phase" if word in PHASES else "step", PluginName(word, position=place))
        for word in DEFAULT_STEPS
    ]


def _check_steps_given_arguments(
    lookup: Lookup, blueprint: Blueprint, entries: Collection[StepEntry]
) -> None:
    """Refuse arguments of what is no step of the build, nor one that another output adds."""
    names = [entry.name.qualified for entry in entries if entry.kind == "step"]
    known = list(dict.fromkeys((*names, *RTL_STEPS)))
    for step in blueprint.args:
        if step not in known:
            place = blueprint.positions.get(f"args.{step}", NOWHERE)
            lookup.problems.append(place.problem(_no_step("args", step, names, known)))


def _no_step(key: str, step: str, names: Collection[str], known: Collection[str]) -> str:
    """Say that what a key names is no step of the build, and which ones are."""
    hint = did_you_mean(step, known) or f". It has {', '.join(names) or 'none'}."
    return f"{key} names {step!r}, which is not a step of this build{hint}"


def _check_steps_named(lookup: Lookup, blueprint: Blueprint, names: Collection[str]) -> None:
    """Refuse what `verify` says of a step that is not in the pipeline, and two things of one that exclude each other."""
    verify = blueprint.verify
    excluding: dict[str, str] = {}
    for key, steps in (
        ("tolerance", verify.tolerance),
        ("approximate", verify.approximate),
        ("changes_outputs", verify.changes_outputs),
        ("unverified", verify.unverified),
    ):
        for step in steps:
            text = ""
            if step not in names and (key, step) != ("tolerance", "*"):
                text = _no_step(f"verify.{key}", step, names, names)
            elif key != "tolerance" and excluding.setdefault(step, key) != key:
                text = f"verify.{key} names {step!r}, and so does verify.{excluding[step]}: a step is in one of them"
            if text:
                place = verify.positions.get(f"{key}.{step}", NOWHERE)
                lookup.problems.append(place.problem(text))
