"""A blueprint's files and what is set on the command line, as one tree of nodes in the form of one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode

from brainsmith.blueprint.composition.merge import merged
from brainsmith.blueprint.composition.overlays import Overlay, OverlayReader
from brainsmith.blueprint.composition.overrides import Overrides, overrides_of
from brainsmith.blueprint.composition.step_changes import changed_steps
from brainsmith.blueprint.composition.variables import Variables
from brainsmith.blueprint.nodes import Document
from brainsmith.yaml_file import oversized


def composed(
    doc: Document, paths: Sequence[str], overrides: Overrides = ()
) -> tuple[Node | None, Mapping[str, str]]:
    """Return what stands under ``hw_compiler`` when all files are merged, and the digest of each file read.

    The tree is None if there is nothing to read, which is reported.

    Args:
        doc: Where problems are left.
        paths: The blueprint's files, later ones over earlier ones; none for an empty blueprint.
        overrides: What is set over all of them.
    """
    reader = OverlayReader(doc)
    overlays = reader.overlays(paths)
    known = dict.fromkeys(name for overlay in overlays for name in overlay.variables)
    overlays += overrides_of(doc, overrides, list(known))
    body = _merged(overlays)
    if body is None:
        lacking = [overlay.root for overlay in overlays if overlay.root]
        if lacking and not (doc.problems and reader.extended):
            text = "the key hw_compiler is missing: everything in a blueprint belongs under it"
            doc.report(lacking[-1], text)
        return (None if paths else doc.nothing), reader.sources
    values = {name: value for overlay in overlays for name, (_, value) in overlay.variables.items()}
    body = _with_steps(doc, Variables(doc, values).applied(body))
    too_large = oversized(body)
    if too_large:
        doc.problems.append(too_large)
        return None, reader.sources
    return body, reader.sources


def _merged(overlays: Iterable[Overlay]) -> Node | None:
    body: Node | None = None
    for overlay in overlays:
        if overlay.body is not None:
            body = merged(body, overlay.body)
    return body


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
