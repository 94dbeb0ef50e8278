"""What an exploration will run: which points there are, and from which step on the ways of two of them part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from brainsmith.blueprint.outputs import OUTPUTS, TAKES
from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.blueprint.schema import DEFAULT_STEPS, PHASES, Blueprint, PluginName, StepEntry
from brainsmith.blueprint.space.space import ABSENT, Points, Space
from brainsmith.errors import BlueprintError, Problem
from brainsmith.exploration.step_reads import ALL, KEYS_OF, STEP_READS
from brainsmith.plugin.plugin_registry import Registry

Alternatives = tuple[StepEntry, ...]
"""What may stand at one place in the order of steps."""

_NEVER = 10**9


class PlannedStep(NamedTuple):
    """One step of all points.

    Attributes:
        name: As the blueprint names it; its alternatives with a bar between them.
        choices: The dimensions by which its results differ and those of no step before it, by name.
        runs: How many different results there are: how often it runs if none is kept from before.
    """

    name: str
    choices: tuple[str, ...]
    runs: int


class Branch(NamedTuple):
    """A part of the tree of shared prefixes.

    Attributes:
        depth: From 0.
        steps: Those that run there; ``...`` for further branches.
        choices: What leads there.
        points: How many there are below it.
    """

    depth: int
    steps: str
    choices: str
    points: int


@dataclass(frozen=True)
class SpacePlan:
    """The points of a space, and what they share.

    Attributes:
        space: Of which it is.
        points: Those for which the constraints hold that name choices alone.
        steps: In their order.
    """

    space: Space
    points: Points
    steps: tuple[PlannedStep, ...]

    @property
    def runs(self) -> int:
        """How many steps run in all, when shared prefixes run once."""
        return sum(step.runs for step in self.steps)

    @property
    def alone(self) -> int:
        """How many would run if each point ran alone."""
        return len(self.points) * len(self.steps)

    def tree(self, most: int) -> Iterator[Branch]:
        """Yield the tree of shared prefixes, depth first, of each branch at most so many below it."""
        groups: list[tuple[list[str], list[int]]] = []
        for step in self.steps:
            if step.choices or not groups:
                groups.append(([], [self._number(name) for name in step.choices]))
            groups[-1][0].append(step.name)
        yield from self._below(groups, self.points, 0, most)

    def _number(self, name: str) -> int:
        return next(at for at, each in enumerate(self.space.dimensions) if each.name == name)

    def _below(
        self, groups: Sequence[tuple[list[str], list[int]]], points: Points, depth: int, most: int
    ) -> Iterator[Branch]:
        if not groups:
            return
        (names, numbers), *rest = groups
        shown = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"
        chosen = [self.space.dimensions[at] for at in numbers]
        for count, (row, below) in enumerate(_split(points, numbers)):
            if count == most:
                yield Branch(depth, "...", "", 0)
                return
            values = zip(chosen, row, strict=True)
            said = ", ".join(f"{each.name}={each.values[at]}" for each, at in values if at != ABSENT)
            yield Branch(depth, shown, said, len(below))
            yield from self._below(rest, below, depth + 1, most)


def _split(points: Points, numbers: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Points]]:
    """Yield the points that agree in some dimensions, in the order of their alternatives."""
    if not numbers:
        yield (), points
        return
    rows, which = np.unique(points[:, list(numbers)], axis=0, return_inverse=True)
    for at, row in enumerate(rows):
        yield tuple(map(int, row)), points[which.reshape(-1) == at]


def planned(space: Space) -> SpacePlan:
    """Work out which points there are and what they share; nothing is looked up and nothing runs.

    Raises:
        BlueprintError: There are too many points to list, or none.
    """
    points = space.points()
    order = order_of(space)
    depths = depths_of(space, order)
    code: NDArray[np.int64] = np.zeros(len(points), np.int64)
    steps = []
    for number, alternatives in enumerate(order):
        here = [at for at, depth in enumerate(depths) if depth == number]
        for at in here:
            code = np.unique(
                code * (len(space.dimensions[at].values) + 1) + points[:, at] + 1, return_inverse=True
            )[1]
        chosen = tuple(space.dimensions[at].name for at in here)
        name = " | ".join(entry.name.qualified for entry in alternatives)
        steps.append(PlannedStep(name, chosen, int(code.max(initial=0)) + 1))
    return SpacePlan(space, points, tuple(steps))


def check_names(space: Space, registry: Registry, files: bool = True) -> None:
    """Look up the names of every alternative.

    Raises:
        BlueprintError: All names that cannot be used, and files that are missing.
    """
    problems: dict[Problem, None] = {}
    for point in space.alternatives():
        try:
            check_blueprint(space.blueprint(point), registry, files=files)
        except BlueprintError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems:
        raise BlueprintError(problems)


def order_of(space: Space) -> list[Alternatives]:
    """Return what each place in the order of steps may hold, those included that the outputs add."""
    blueprints = [space.blueprint(point) for point in space.alternatives()]
    order = space.steps() or [(_entry(name),) for name in DEFAULT_STEPS]
    furthest = max((_output(each) for each in blueprints), key=OUTPUTS.index)
    known = {entry.name.name for alternatives in order for entry in alternatives}
    return [*order, *((_entry(name),) for name in TAKES[furthest] if name not in known)]


def _entry(name: str) -> StepEntry:
    return StepEntry("phase" if name in PHASES else "step", PluginName(name))


def _output(blueprint: Blueprint) -> str:
    return blueprint.output or OUTPUTS[0]


def depths_of(space: Space, order: Sequence[Alternatives]) -> list[int]:
    """Return of each dimension the place of the first step whose result it can change; beyond all for none."""
    return [min(_depth(keys, order) for keys in each.places) for each in space.dimensions]


def fields_of(keys: tuple[str, ...]) -> frozenset[str]:
    """Return the parts of the config that follow from a key of a blueprint; none for what is no part of it."""
    longest = (KEYS_OF[keys[:size]] for size in range(len(keys), 0, -1) if keys[:size] in KEYS_OF)
    return frozenset(next(longest, ()))


def _depth(keys: tuple[str, ...], order: Sequence[Alternatives]) -> int:
    """Return the place of the first step whose result a dimension can change."""
    first, *rest = keys
    if first == "steps" and rest:
        return int(rest[0].strip("[]"))
    if first == "args" and rest:
        return _place(rest[:1], order)
    if first == "transforms_phased":
        return _place(rest[:1] or PHASES, order)
    if first == "transforms":
        return _place([first], order)
    if first == "output":
        return len(order) - 1
    fields = fields_of(keys)
    if not fields:  # the model and its inputs; or how results are judged
        return _NEVER if first in ("strict", "verify") else 0
    readers = (at for at, entries in enumerate(order) if any(_reads(entry) & fields for entry in entries))
    return next(readers, _NEVER)


def _place(wanted: Iterable[str], order: Sequence[Alternatives]) -> int:
    places = (
        at
        for at, entries in enumerate(order)
        if any(entry.name.qualified in set(wanted) for entry in entries)
    )
    return next(places, _NEVER)


def _reads(entry: StepEntry) -> frozenset[str]:
    """Return what a step may read of the config, which a transform never sees."""
    return STEP_READS.get(entry.name.name, ALL) if entry.kind == "step" else frozenset()
