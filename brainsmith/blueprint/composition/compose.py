"""A blueprint's files and what is set on the command line, as one tree of nodes in the form of one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode

from brainsmith.blueprint.composition.merge import merged
from brainsmith.blueprint.composition.overlays import EXPLORE, OverlayReader
from brainsmith.blueprint.composition.overrides import Overrides, overrides_of
from brainsmith.blueprint.composition.step_changes import changed_steps
from brainsmith.blueprint.composition.variables import Variables
from brainsmith.blueprint.nodes import Document
from brainsmith.yaml_file import oversized


class BlueprintTree(NamedTuple):
    """A blueprint that was put together.

    Attributes:
        body: What stands under ``hw_compiler``; None if there is nothing to read, which is reported.
        explore: What stands under ``explore``; None if nothing does.
        sources: Digest of each file that was read, by its real name.
        values: Those of variables that are numbers, strings, true or false, by name.
    """

    body: Node | None
    explore: Node | None
    sources: Mapping[str, str]
    values: Mapping[str, object]


def composed(doc: Document, paths: Sequence[str], overrides: Overrides = ()) -> BlueprintTree:
    """Merge all files of a blueprint.

    Args:
        doc: Where problems are left.
        paths: The blueprint's files, later ones over earlier ones; none for an empty blueprint.
        overrides: What is set over all of them.
    """
    reader = OverlayReader(doc)
    overlays = reader.overlays(paths)
    known = dict.fromkeys(name for overlay in overlays for name in overlay.variables)
    overlays += overrides_of(doc, overrides, list(known))
    body = _merged((overlay.body for overlay in overlays), ())
    explore = _merged((overlay.explore for overlay in overlays), (EXPLORE,))
    if body is None:
        lacking = [overlay.root for overlay in overlays if overlay.root]
        if lacking and not (doc.problems and reader.extended):
            text = "the key hw_compiler is missing: everything in a blueprint belongs under it"
            doc.report(lacking[-1], text)
        return BlueprintTree(None if paths else doc.nothing, explore, reader.sources, {})
    values = {name: value for overlay in overlays for name, (_, value) in overlay.variables.items()}
    variables = Variables(doc, values)
    explore = None if explore is None else variables.applied(explore)
    body = _with_steps(doc, variables.applied(body))
    too_large = oversized(body)
    if too_large:
        doc.problems.append(too_large)
    return BlueprintTree(None if too_large else body, explore, reader.sources, _plain(doc, values))


def _plain(doc: Document, values: Mapping[str, Node]) -> dict[str, object]:
    plain = {name: doc.plain(node, name) for name, node in values.items() if isinstance(node, ScalarNode)}
    return {name: value for name, value in plain.items() if value is not None}


def _merged(trees: Iterable[Node | None], keys: tuple[str, ...]) -> Node | None:
    found: Node | None = None
    for tree in trees:
        if tree is not None:
            found = merged(found, tree, keys)
    return found


def _with_steps(doc: Document, body: Node) -> Node:
    """Return the tree with ``steps`` in place of ``change_steps``."""
    if not isinstance(body, MappingNode):
        return body
    given = {key.value: (key, value) for key, value in body.value if isinstance(key, ScalarNode)}
    if "change_steps" not in given:
        return body
    key, changes = given["change_steps"]
    steps = given.get("steps", (key, None))[1]
    pairs = [pair for pair in body.value if pair not in (given.get("steps"), given["change_steps"])]
    name = type(key)(key.tag, "steps", key.start_mark, key.end_mark)
    return MappingNode(
        body.tag, [*pairs, (name, changed_steps(doc, steps, changes))], body.start_mark, body.end_mark
    )
