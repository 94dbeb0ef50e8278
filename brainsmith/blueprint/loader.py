"""Read a blueprint file, and say everything that is wrong with it at once."""

from __future__ import annotations

import os
from pathlib import Path

from brainsmith.blueprint.schema import NOWHERE, Blueprint
from brainsmith.errors import BlueprintError, Problem


def load_blueprint(path: str | os.PathLike[str]) -> Blueprint:
    """Read a blueprint and check its form; the names in it are not looked up.

    Raises:
        BlueprintError: All problems of the file, each with line and column.
    """
    blueprint, problems = parse_blueprint(path)
    if problems:
        raise BlueprintError(problems)
    return blueprint


def parse_blueprint(path: str | os.PathLike[str]) -> tuple[Blueprint, list[Problem]]:
    """Read as much of a blueprint as can be read, beside the problems in the order of the file."""
    # yaml takes 50 ms to import; whoever has a parsed blueprint in a cache never pays them.
    from brainsmith.blueprint.body import read_blueprint
    from brainsmith.blueprint.nodes import Document
    from brainsmith.yaml_file import read_root

    doc = Document(os.fspath(path))
    root = read_root(path, "a blueprint")
    if root is None:
        text = "the file is empty; a blueprint is a mapping with the key hw_compiler"
        root = Problem(doc.file, 1, 1, text)
    if isinstance(root, Problem):
        return Blueprint(doc.file), [root]
    blueprint = read_blueprint(doc, root)
    unique = dict.fromkeys(doc.problems)  # an alias shows the same node twice
    return blueprint, sorted(unique, key=lambda problem: (problem.line, problem.column))


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
