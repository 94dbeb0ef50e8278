"""Read a blueprint, and say everything that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.blueprint.schema import KEYS, NO_FILE, NOWHERE, Blueprint
from brainsmith.errors import BlueprintError, Problem

if TYPE_CHECKING:
    from yaml.nodes import Node

    from brainsmith.blueprint.composition.overrides import Overrides
    from brainsmith.blueprint.nodes import Document


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""A file, or several, later ones over earlier ones."""


class Parsed(NamedTuple):
    """A blueprint that was read.

    Attributes:
        blueprint: As much of it as can be read; None of nothing.
        problems: What is wrong with it, in the order of its files.
        doc: Its document.
        body: The nodes under ``hw_compiler``, when all files are put together; None of nothing.
    """

    blueprint: Blueprint | None
    problems: list[Problem]
    doc: Document
    body: Node | None


def load_blueprint(path: Paths, overrides: Overrides = ()) -> Blueprint:
    """Read a blueprint and check its form; the names in it are not looked up.

    Args:
        path: The file, or several: what later ones say goes before what earlier ones do. An empty list is a blueprint
            that says nothing.
        overrides: What goes before the files: values by the name of a variable, or by keys with a dot between them
            (`{"target.fps": 1000}`); or texts, as on the command line (`["target.fps=1000"]`).

    Raises:
        BlueprintError: All problems, each with file, line and column.
    """
    parsed = parse_blueprint(path, overrides)
    if parsed.problems or parsed.blueprint is None:
        raise BlueprintError(parsed.problems)
    return parsed.blueprint


def parse_blueprint(path: Paths, overrides: Overrides = ()) -> Parsed:
    """Read as much of a blueprint as can be read."""
    # yaml takes 50 ms to import; whoever has a parsed blueprint in a cache never pays them.
    from brainsmith.blueprint.body import read_blueprint
    from brainsmith.blueprint.composition.compose import composed
    from brainsmith.blueprint.nodes import Document

    paths = paths_of(path)
    doc = Document(" + ".join(paths) or NO_FILE)
    body, explore, sources, _ = composed(doc, paths, overrides)
    if body is None:
        return Parsed(None, in_order(doc.file, doc.problems), doc, body)
    doc.mapping(explore or doc.nothing, "explore", KEYS["explore"])
    body = _without_choices(doc, body)
    before = len(doc.problems)
    known = {(problem.file, problem.line, problem.column) for problem in doc.problems}
    blueprint = read_blueprint(doc, body)
    # What could not be put together is no second problem where it is read.
    later = [each for each in doc.problems[before:] if (each.file, each.line, each.column) not in known]
    blueprint = replace(blueprint, sources=sources, overrides=texts_of(overrides))
    return Parsed(blueprint, in_order(doc.file, [*doc.problems[:before], *later]), doc, body)


def paths_of(path: Paths) -> list[str]:
    """Return the names of a blueprint's files."""
    return [os.fspath(each) for each in ([path] if isinstance(path, str | os.PathLike) else path)]


def texts_of(overrides: Overrides) -> tuple[str, ...]:
    """Return overrides as the command line has them."""
    if isinstance(overrides, Mapping):
        return tuple(f"{name}={value}" for name, value in overrides.items())
    return tuple(overrides)


def _without_choices(doc: Document, body: Node) -> Node:
    """Return a tree as a build takes it: what it leaves open is reported, and read as the first alternative."""
    from brainsmith.blueprint.space.dimensions import Choices
    from brainsmith.blueprint.space.forms import has_choices

    if not has_choices(body):
        return body
    choices = Choices(doc)
    choices.find(body)
    doc.problems += choices.unmade()
    return choices.made(body, {}) or doc.nothing


def in_order(file: str, problems: Iterable[Problem]) -> list[Problem]:
    """Sort problems: those of a file first, then by other files, each by line and column; each once."""
    unique = dict.fromkeys(problems)  # an alias shows the same node twice
    return sorted(unique, key=lambda each: (each.file != file, each.file, each.line, each.column))


def missing_files(blueprint: Blueprint) -> list[Problem]:
    """Say which of the golden data's files do not exist."""
    verify = blueprint.verify
    files = {"inputs": verify.inputs, "labels": verify.labels, "expected": verify.expected}
    files["float"] = verify.float_outputs
    for step, stated in verify.changes_outputs.items():
        place = f"changes_outputs.{step}"
        files |= {f"{place}.labels": stated.labels, f"{place}.expected": stated.expected}
    return [
        place.problem(f"verify.{key} names a file that does not exist: {file}")
        for key, file in files.items()
        if file is not None and not Path(file).is_file()
        for place in [verify.positions.get(key, NOWHERE)]
    ]
