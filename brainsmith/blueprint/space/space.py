"""A design space: what is left open in a blueprint, what must hold, and what is to be large or small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray
from yaml.nodes import MappingNode, Node, SequenceNode

from brainsmith.blueprint.body import read_blueprint
from brainsmith.blueprint.composition.compose import composed
from brainsmith.blueprint.composition.overrides import Overrides
from brainsmith.blueprint.composition.written import written
from brainsmith.blueprint.entries import read_steps
from brainsmith.blueprint.loader import Paths, in_order, paths_of, texts_of
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import DIRECTIONS, FIGURES, KEYS, NO_FILE, Blueprint, StepEntry
from brainsmith.blueprint.space.conditions import Condition
from brainsmith.blueprint.space.dimensions import Choices, Dimension
from brainsmith.blueprint.space.forms import alternatives_of, space_form
from brainsmith.close_names import did_you_mean
from brainsmith.errors import BlueprintError, ConditionError, Problem
from brainsmith.yaml_nodes import Pairs

MOST_POINTS = 2_000_000
"""More are not listed one by one."""

MOST_READ = 64
"""Of longer ranges not every number is read."""

ABSENT = -1
"""The alternative of a dimension that does not matter at a point."""

Points = NDArray[np.int32]
"""One row for each point: of each dimension which alternative, from 0; `ABSENT` where it does not matter."""


@dataclass(frozen=True)
class Space:
    """A design space.

    Attributes:
        file: The blueprint's files, as the user named them.
        dimensions: What is left open; one that stands within another one's alternative comes after it.
        constraints: What must hold for every point.
        objectives: Figures, each with `max` or `min`.
    """

    file: str
    dimensions: tuple[Dimension, ...]
    constraints: tuple[Condition, ...]
    objectives: Mapping[str, str]
    _doc: Document = field(repr=False)
    _body: Node = field(repr=False)
    _model: Node | None = field(repr=False)
    _values: Mapping[str, object] = field(repr=False)
    """Of variables that are no choices, which constraints may name."""
    _more: Mapping[str, object] = field(repr=False)
    """Further fields of each blueprint: what it was read from."""

    @property
    def size(self) -> int:
        """How many points there are, before constraints."""
        return self._below(None)

    def _below(self, within: tuple[int, int] | None) -> int:
        """Return in how many ways that can be chosen which matters under an alternative alone."""
        here = [at for at, each in enumerate(self.dimensions) if each.within == within]
        return prod(
            sum(self._below((at, chosen)) for chosen in range(len(self.dimensions[at].values))) for at in here
        )

    def points(self) -> Points:
        """Return all points for which the constraints hold that name choices alone, in the order of their alternatives.

        Raises:
            BlueprintError: There are too many to list, or none.
        """
        if self.size > MOST_POINTS:
            sizes = ", ".join(f"{each.name} {len(each.values):,}" for each in self._by_size())
            text = f"{self.size:,} points are more than can be listed ({MOST_POINTS:,}): narrow {sizes}"
            raise BlueprintError([Problem(self.file, 0, 0, text)])
        found: Points = np.zeros((1, 0), np.int32)
        known = set(self._values) - {each.name for each in self.dimensions}
        found = self._allowed(found, [one for one in self.constraints if known.issuperset(one.names)])
        for each in self.dimensions:
            found = _extended(found, len(each.values), each.within)
            known.add(each.name)
            new = [one for one in self.constraints if known.issuperset(one.names) and each.name in one.names]
            found = self._allowed(found, new)
        if not len(found):
            held = "; ".join(one.text for one in self.constraints)
            raise BlueprintError(
                [Problem(self.file, 0, 0, f"no point of the space meets its constraints: {held}")]
            )
        return found

    def _by_size(self) -> list[Dimension]:
        return sorted(self.dimensions, key=lambda each: -len(each.values))

    def _allowed(self, points: Points, constraints: Iterable[Condition]) -> Points:
        for one in constraints:
            names = [at for at in range(points.shape[1]) if self.dimensions[at].name in one.names]
            # What does not matter at a point cannot be compared there: such a point is left in.
            matters = (points[:, names] != ABSENT).all(axis=1)
            held = np.ones(len(points), bool)
            held[matters] = one({**self._values, **self.columns(points[matters], one.names)})
            points = points[held]
        return points

    def admits(self, points: Points, figures: Mapping[str, NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Tell of each point whether the constraints hold that name figures.

        Args:
            points: Rows of `points`.
            figures: By name, a value for each point; one that is not a number is not known, and breaks no constraint.
        """
        held = np.ones(len(points), bool)
        for one in self.constraints:
            named = [name for name in one.names if name in FIGURES]
            if not named or not set(named) <= set(figures):
                continue
            known = ~np.isnan([figures[name] for name in named]).any(axis=0)
            chosen = [at for at, each in enumerate(self.dimensions) if each.name in one.names]
            known &= (points[:, chosen] != ABSENT).all(axis=1)
            values = {**self._values, **self.columns(points[known], one.names)}
            held[known] &= one({**values, **{name: figures[name][known] for name in named}})
        return held

    def holds(self, row: Points, figures: Mapping[str, float | None] | None = None) -> bool:
        """Tell whether the constraints hold for one point: those that name choices alone, or figures that are known."""
        points = row.reshape(1, -1)
        if not len(
            self._allowed(points, [one for one in self.constraints if not set(FIGURES) & set(one.names)])
        ):
            return False
        known = {
            name: np.array([value], float) for name, value in (figures or {}).items() if value is not None
        }
        return bool(self.admits(points, known)[0])

    def columns(self, points: Points, names: Iterable[str] | None = None) -> dict[str, NDArray[np.object_]]:
        """Return the values of points by the dimension's name; None where it does not matter."""
        wanted = None if names is None else set(names)
        found = {}
        for at, each in enumerate(self.dimensions[: points.shape[1]]):
            if wanted is None or each.name in wanted:
                table = np.empty(len(each.values) + 1, object)
                table[:-1] = each.values
                found[each.name] = table[points[:, at]]  # the last one is that of ABSENT
        return found

    def blueprint(self, point: Mapping[str, int]) -> Blueprint:
        """Return the blueprint of a point.

        Args:
            point: The alternative of each dimension, by name.

        Raises:
            BlueprintError: All problems of the point.
        """
        blueprint, problems = self._read(point)
        if problems:
            raise BlueprintError(in_order(self.file, problems))
        return blueprint

    def text(self, point: Mapping[str, int], named: Callable[[str], str] | None = None) -> str:
        """Return the blueprint of a point as a file, which may stand anywhere.

        Args:
            point: The alternative of each dimension, by name.
            named: Gives what stands there for each file that the blueprint names, by its absolute name; without it this.

        Raises:
            BlueprintError: All problems of the point.
        """
        doc = Document(self.file)
        body = Choices(doc).made(self._body, point) or doc.nothing
        read_blueprint(doc, body)  # which finds the files that it names
        if doc.problems:
            raise BlueprintError(in_order(self.file, doc.problems))
        if named is not None:
            doc.files = {node: named(file) for node, file in doc.files.items()}
        return written(doc, body, origins=False) + "\n"

    def model(self, point: Mapping[str, int]) -> str | None:
        """Return the file of a point's model; None if the blueprint names none."""
        if self._model is None:
            return None
        made = Choices(self._doc).made(self._model, point, ("model",))
        text = self._doc.text(made, "explore.model", "the path of a model") if made is not None else None
        return self._doc.file_named(made, text) if made is not None and text else None

    def point_of(self, row: Iterable[int]) -> dict[str, int]:
        """Return a row of `points` by names."""
        numbers = zip(self.dimensions, row, strict=True)
        return {each.name: int(chosen) for each, chosen in numbers if chosen != ABSENT}

    def row_of(self, point: Mapping[str, int]) -> Points:
        """Return a point as a row of `points`."""
        return np.array([point.get(each.name, ABSENT) for each in self.dimensions], np.int32)

    def _read(self, point: Mapping[str, int]) -> tuple[Blueprint, list[Problem]]:
        doc = Document(self.file)
        body = Choices(doc).made(self._body, point)
        blueprint = read_blueprint(doc, body if body is not None else doc.nothing)
        return replace(blueprint, **self._more), doc.problems  # type: ignore[arg-type]

    def alternatives(self) -> Iterator[dict[str, int]]:
        """Yield points such that each alternative of each dimension is in one: the first of all others beside it.

        Of a long range of numbers, these are its ends and what follows the first.
        """
        yield {}
        for each in self.dimensions:
            numbers = range(len(each.values))
            long = len(numbers) > MOST_READ and all(isinstance(value, int | float) for value in each.values)
            for chosen in (0, 1, numbers[-1]) if long else numbers:
                if chosen or each.within is not None:  # else it is the first point
                    yield {**self._leading_to(each.within), each.name: chosen}

    def steps(self) -> list[tuple[StepEntry, ...]] | None:
        """Return what each place in the order of steps may hold; None if the blueprint has the default order."""
        assert isinstance(self._body, MappingNode)
        lists = [value for name, value in self._body.value if name.value == "steps"]
        if not lists or not isinstance(lists[0], SequenceNode):
            return None
        return [tuple(_entries_of(self._doc, item)) for item in lists[0].value]

    def _leading_to(self, within: tuple[int, int] | None) -> dict[str, int]:
        if within is None:
            return {}
        outer = self.dimensions[within[0]]
        return {**self._leading_to(outer.within), outer.name: within[1]}


def load_space(path: Paths, overrides: Overrides = ()) -> Space:
    """Read a design space: every alternative is read, and the names in it are not looked up.

    Args:
        path: The file, or several, as for `load_blueprint`.
        overrides: What goes before the files; a value in place of a choice makes it.

    Raises:
        BlueprintError: All problems, each with file, line and column.
    """
    paths = paths_of(path)
    doc = Document(" + ".join(paths) or NO_FILE)
    body, explore, sources, values = composed(doc, paths, overrides)
    if body is None:
        raise BlueprintError(in_order(doc.file, doc.problems))
    pairs = doc.mapping(explore, "explore", KEYS["explore"]) if explore is not None else {}
    choices = Choices(doc)
    model = pairs["model"][1] if "model" in pairs else None
    if model is not None:
        choices.find(model, ("model",))
    choices.find(body)
    space = Space(
        file=doc.file,
        dimensions=tuple(choices.dimensions),
        constraints=tuple(_constraints(doc, pairs, [*(each.name for each in choices.dimensions), *values])),
        objectives=_objectives(doc, pairs),
        _doc=doc,
        _body=body,
        _model=model,
        _values=values,
        _more={"sources": sources, "overrides": texts_of(overrides)},
    )
    problems = doc.problems or [each for point in space.alternatives() for each in space._read(point)[1]]
    if problems:
        raise BlueprintError(in_order(doc.file, problems))
    return space


def _entries_of(doc: Document, node: Node) -> Iterator[StepEntry]:
    """Yield what an entry of the steps may be: each alternative of a choice."""
    if space_form(node):
        for each in alternatives_of(doc, node) or ():
            yield from _entries_of(doc, each)
    else:
        yield from read_steps(doc, SequenceNode("tag:yaml.org,2002:seq", [node]), "steps") or ()


def _extended(points: Points, count: int, within: tuple[int, int] | None) -> Points:
    """Return points with one dimension more, each alternative of it where it matters."""
    matters = np.ones(len(points), bool) if within is None else points[:, within[0]] == within[1]
    times = np.where(matters, count, 1)
    rows = np.repeat(points, times, axis=0)
    first = np.cumsum(times) - times
    chosen = np.arange(len(rows)) - np.repeat(first, times)
    column = np.where(np.repeat(matters, times), chosen, ABSENT).astype(np.int32)
    return np.column_stack([rows, column])


def _constraints(doc: Document, pairs: Pairs, names: Iterable[str]) -> Iterator[Condition]:
    known = [*names, *FIGURES]
    for label, node in (
        doc.items(pairs["constraints"][1], "explore.constraints") if "constraints" in pairs else ()
    ):
        text = doc.text(node, label, "a condition, such as 'bits <= 4 or fps >= 1000'")
        try:
            found = Condition(text) if text else None
        except ConditionError as error:
            doc.report(node, f"{label}: {error}")
            continue
        if found is None:
            continue
        strange = [name for name in found.names if name not in known]
        if strange or not found.names:
            there = f". Names are {', '.join(known)}."
            hint = (did_you_mean(strange[0], known) or there) if strange else there
            what = (
                f"names {strange[0]!r}, which is neither a choice nor a figure"
                if strange
                else "names nothing"
            )
            doc.report(node, f"{label} {what}{hint}")
        else:
            yield found


def _objectives(doc: Document, pairs: Pairs) -> dict[str, str]:
    given = (
        doc.mapping(pairs["objectives"][1], "explore.objectives", tuple(FIGURES))
        if "objectives" in pairs
        else {}
    )
    found = {}
    for name, (_, node) in given.items():
        text = doc.text(node, f"explore.objectives.{name}", " or ".join(DIRECTIONS))
        if text is not None and text not in DIRECTIONS:
            doc.report(node, f"explore.objectives.{name} must be {' or '.join(DIRECTIONS)}, not {text!r}")
        elif text is not None:
            found[name] = text
    return found
