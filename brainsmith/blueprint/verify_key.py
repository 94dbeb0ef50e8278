"""The key ``verify``: the golden data of a build, and by how much each step may change the outputs.

For example ``verify: {inputs: x.npy, labels: y.npy, tolerance: {streamline: 1e-6}}``; docs/blueprint.md has all of
its keys.
"""

from __future__ import annotations

from yaml.nodes import MappingNode, Node

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS, Approximation, ChangesOutputs, PluginName, Position, Verify
from brainsmith.yaml_nodes import is_null

FILES = ("inputs", "labels", "expected", "float")


def read_verify(doc: Document, node: Node) -> Verify:
    """Read ``verify``; paths are relative to the folder of the file that names them."""
    pairs = doc.mapping(node, "verify", KEYS["verify"])
    given = [key for key in FILES if key in pairs]
    paths = {key: _path(doc, pairs[key][1], f"verify.{key}") for key in given}
    for key in FILES[1:]:
        if key in paths and "inputs" not in paths:
            doc.report(pairs[key][0], f"verify.{key} needs verify.inputs, the samples that it belongs to")
    positions = {key: doc.position(key_node) for key, (key_node, _) in pairs.items()}
    changes = pairs.get("changes_outputs")
    return Verify(
        inputs=paths.get("inputs"),
        labels=paths.get("labels"),
        expected=paths.get("expected"),
        float_outputs=paths.get("float"),
        tolerance=_tolerance(doc, pairs["tolerance"], positions) if "tolerance" in pairs else {},
        approximate=_approximate(doc, pairs["approximate"][1], positions) if "approximate" in pairs else {},
        targets=_targets(doc, *pairs["targets"]) if "targets" in pairs else None,
        changes_outputs=_changes_outputs(doc, changes[1], positions) if changes else {},
        unverified=_unverified(doc, pairs["unverified"][1], positions) if "unverified" in pairs else (),
        positions=positions,
    )


def _path(doc: Document, node: Node, label: str) -> str | None:
    """Read a file name; whether the file exists is asked when it is needed."""
    text = doc.text(node, label, "the path of a .npy file")
    return doc.file_named(node, text) if text else None


def _tolerance(doc: Document, pair: tuple[Node, Node], positions: dict[str, Position]) -> dict[str, float]:
    """Read one number for all steps, or a mapping from steps to numbers."""
    tolerances = {"*": pair}
    if isinstance(pair[1], MappingNode) or is_null(pair[1]):
        tolerances = doc.pairs(pair[1], "verify.tolerance")
    found = {}
    for step, (key, value) in tolerances.items():
        what = "a number from 0 up, or a mapping from step names to numbers"
        number = doc.number_in(value, "verify.tolerance", what, 0)
        if number is not None:
            found[step] = float(number)
            positions[f"tolerance.{step}"] = doc.position(key)
    return found


def _approximate(doc: Document, node: Node, positions: dict[str, Position]) -> dict[str, Approximation]:
    """Read the steps that may approximate, with the largest error and the number of changed classes of each."""
    found = {}
    for step, (key, value) in doc.pairs(node, "verify.approximate").items():
        label = f"verify.approximate.{step}"
        limits = doc.mapping(value, label, KEYS["approximate"])
        if "error" not in limits:
            doc.report(key, f"{label} must state error, the largest absolute error of an output")
        error: float | None = None
        classes: float | None = 0.0
        for name, (_, limit) in limits.items():  # classes are counted, an error is measured
            if name == "error":
                error = doc.number_in(limit, f"{label}.error", "a number from 0 up", 0)
            else:
                classes = doc.number_in(limit, f"{label}.{name}", "a whole number from 0 up", 0, whole=True)
        if error is not None and classes is not None:
            found[step] = Approximation(float(error), int(classes))
            positions[f"approximate.{step}"] = doc.position(key)
    return found


def _changes_outputs(doc: Document, node: Node, positions: dict[str, Position]) -> dict[str, ChangesOutputs]:
    """Read the steps that give other outputs, with the labels or the values of the new ones."""
    found = {}
    for step, (key, value) in doc.pairs(node, "verify.changes_outputs").items():
        label = f"verify.changes_outputs.{step}"
        files = doc.mapping(value, label, KEYS["changes_outputs"])
        if not files:
            doc.report(key, f"{label} must name labels or expected, of the outputs that the step gives")
        paths = {name: _path(doc, node, f"{label}.{name}") for name, (_, node) in files.items()}
        found[step] = ChangesOutputs(**paths)
        positions[f"changes_outputs.{step}"] = doc.position(key)
        positions |= {f"changes_outputs.{step}.{name}": doc.position(at) for name, (at, _) in files.items()}
    return found


def _unverified(doc: Document, node: Node, positions: dict[str, Position]) -> tuple[str, ...]:
    """Read the names of the steps that are not verified; no other key says something else of them."""
    names = []
    for label, entry in doc.items(node, "verify.unverified"):
        name = doc.text(entry, label, "the name of a step")
        if name is not None:
            names.append(name)
            positions[f"unverified.{name}"] = doc.position(entry)
    return tuple(names)


def _targets(doc: Document, key: Node, node: Node) -> tuple[PluginName, ...]:
    """Read the targets that are compared: none, or two and more."""
    entries = doc.items(node, "verify.targets")
    names = [name for label, entry in entries if (name := doc.name(entry, label)) is not None]
    if len(entries) == 1 or is_null(node):
        what = "two targets or more, the one to compare with first, or none: []"
        doc.report(key, f"verify.targets must list {what}{', not null' * is_null(node)}")
    for name, (_, entry) in zip(names, entries, strict=False):
        if name.name.isdecimal():
            text = f"verify.targets names targets, and {name.qualified} is a device: write {name.framework}"
            doc.report(entry, text)
    return tuple(name for name in names if not name.name.isdecimal())
