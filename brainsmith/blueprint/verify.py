"""The key ``verify``: the golden data of a build, and by how much each step may change the outputs.

For example ``verify: {inputs: x.npy, labels: y.npy, tolerance: {streamline: 1e-6}}``; docs/blueprint.md has all of
its keys.
"""

from __future__ import annotations

from pathlib import Path

from yaml.nodes import MappingNode, Node

from brainsmith.blueprint.nodes import Document, Pairs, describe, is_null
from brainsmith.blueprint.schema import KEYS, Approximation, ChangesOutputs, PluginName, Position, Verify

FILES = ("inputs", "labels", "expected", "float")


def read_verify(doc: Document, node: Node) -> Verify:
    """Read ``verify``; paths are relative to the blueprint's folder."""
    pairs = doc.mapping(node, "verify", KEYS["verify"])
    folder = Path(doc.file).absolute().parent
    given = [key for key in FILES if key in pairs]
    paths = {key: _path(doc, pairs[key][1], f"verify.{key}", folder) for key in given}
    for key in FILES[1:]:
        if key in paths and "inputs" not in paths:
            doc.report(pairs[key][0], f"verify.{key} needs verify.inputs, the samples that it belongs to")
    positions = {key: doc.position(key_node) for key, (key_node, _) in pairs.items()}
    return Verify(
        inputs=paths.get("inputs"),
        labels=paths.get("labels"),
        expected=paths.get("expected"),
        float_outputs=paths.get("float"),
        tolerance=_tolerance(doc, pairs, positions),
        approximate=_approximate(doc, pairs, positions),
        targets=_targets(doc, pairs),
        changes_outputs=_changes_outputs(doc, pairs, positions, folder),
        unverified=_unverified(doc, pairs, positions),
        positions=positions,
    )


def _path(doc: Document, node: Node, label: str, folder: Path) -> str | None:
    """Read a file name; whether the file exists is asked when it is needed."""
    text = doc.text(node, label, "the path of a .npy file")
    return str(folder / Path(text).expanduser()) if text else None


def _tolerance(doc: Document, pairs: Pairs, positions: dict[str, Position]) -> dict[str, float]:
    """Read one number for all steps, or a mapping from steps to numbers."""
    if "tolerance" not in pairs:
        return {}
    node = pairs["tolerance"][1]
    tolerances: dict[str, tuple[Node, Node]] = {"*": pairs["tolerance"]}
    if isinstance(node, MappingNode) or is_null(node):
        tolerances = doc.pairs(node, "verify.tolerance")
    found = {}
    for step, (key, value) in tolerances.items():
        number = doc.number(value)
        if number is None or number < 0:
            what = "a number from 0 up, or a mapping from step names to numbers"
            doc.report(value, f"verify.tolerance must be {what}, not {describe(value)}")
            continue
        found[step] = float(number)
        positions[f"tolerance.{step}"] = doc.position(key)
    return found


def _approximate(doc: Document, pairs: Pairs, positions: dict[str, Position]) -> dict[str, Approximation]:
    """Read the steps that may approximate, with the largest error and the number of changed classes of each."""
    if "approximate" not in pairs:
        return {}
    found = {}
    for step, (key, value) in doc.pairs(pairs["approximate"][1], "verify.approximate").items():
        label = f"verify.approximate.{step}"
        limits = doc.mapping(value, label, KEYS["approximate"])
        if "error" not in limits:
            doc.report(key, f"{label} must state error, the largest absolute error of an output")
        numbers = {name: _limit(doc, label, name, limits[name][1]) for name in limits}
        error, classes = numbers.get("error"), numbers.get("classes", 0.0)
        if error is not None and classes is not None:
            found[step] = Approximation(error, int(classes))
            positions[f"approximate.{step}"] = doc.position(key)
    return found


def _changes_outputs(
    doc: Document, pairs: Pairs, positions: dict[str, Position], folder: Path
) -> dict[str, ChangesOutputs]:
    """Read the steps that give other outputs, with the labels or the values of the new ones."""
    if "changes_outputs" not in pairs:
        return {}
    found = {}
    for step, (key, value) in doc.pairs(pairs["changes_outputs"][1], "verify.changes_outputs").items():
        label = f"verify.changes_outputs.{step}"
        files = doc.mapping(value, label, KEYS["changes_outputs"])
        if not files:
            doc.report(key, f"{label} must name labels or expected, of the outputs that the step gives")
        paths = {name: _path(doc, node, f"{label}.{name}", folder) for name, (_, node) in files.items()}
        found[step] = ChangesOutputs(**paths)
        positions[f"changes_outputs.{step}"] = doc.position(key)
        positions |= {f"changes_outputs.{step}.{name}": doc.position(at) for name, (at, _) in files.items()}
    return found


def _unverified(doc: Document, pairs: Pairs, positions: dict[str, Position]) -> tuple[str, ...]:
    """Read the names of the steps that are not verified; no other key says something else of them."""
    if "unverified" not in pairs:
        return ()
    names = []
    for label, entry in doc.items(pairs["unverified"][1], "verify.unverified"):
        name = doc.text(entry, label, "the name of a step")
        if name is not None:
            names.append(name)
            positions[f"unverified.{name}"] = doc.position(entry)
    return tuple(names)


def _targets(doc: Document, pairs: Pairs) -> tuple[PluginName, ...] | None:
    """Read the targets that are compared: none, or two and more."""
    if "targets" not in pairs:
        return None
    key, node = pairs["targets"]
    entries = doc.items(node, "verify.targets")
    names = [name for label, entry in entries if (name := doc.name(entry, label)) is not None]
    if len(entries) == 1 or is_null(node):
        what = "two targets or more, the one to compare with first, or none: []"
        doc.report(key, f"verify.targets must list {what}")
    for name, (_, entry) in zip(names, entries, strict=False):
        if name.name.isdecimal():
            doc.report(
                entry,
                f"verify.targets names targets, and {name.qualified} is a device: write {name.framework}",
            )
    return tuple(name for name in names if not name.name.isdecimal())


def _limit(doc: Document, label: str, name: str, node: Node) -> float | None:
    """Read one of the two limits: classes are counted, an error is measured."""
    number = doc.number(node)
    whole = name != "classes" or (number is not None and number == int(number))
    if number is not None and number >= 0 and whole:
        return float(number)
    what = "a whole number from 0 up" if name == "classes" else "a number from 0 up"
    doc.report(node, f"{label}.{name} must be {what}, not {describe(node)}")
    return None
