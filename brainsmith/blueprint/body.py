"""The keys of ``hw_compiler``."""

from __future__ import annotations

from collections.abc import Mapping

from yaml.nodes import Node, ScalarNode

from brainsmith.blueprint.entries import read_kernels, read_steps, read_transforms
from brainsmith.blueprint.goal import read_goal
from brainsmith.blueprint.input_datatypes import read_inputs
from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.outputs import OUTPUTS, wrong_output
from brainsmith.blueprint.requires_key import read_requires
from brainsmith.blueprint.schema import (
    KEYS,
    PHASES,
    Arguments,
    Blueprint,
    Goal,
    InputDatatypes,
    Position,
    StepEntry,
    Verify,
)
from brainsmith.blueprint.verify_key import read_verify
from brainsmith.close_names import did_you_mean
from brainsmith.yaml_nodes import describe


def read_blueprint(doc: Document, node: Node) -> Blueprint:
    """Read what stands under ``hw_compiler``; what is wrong with it is left in `doc.problems`."""
    pairs = doc.mapping(node, "hw_compiler", KEYS["hw_compiler"])
    values = {key: value for key, (_, value) in pairs.items()}
    positions = {key: doc.position(key_node) for key, (key_node, _) in pairs.items()}
    blueprint = Blueprint(
        file=doc.file,
        requires=read_requires(doc, values["requires"]) if "requires" in values else (),
        goal=read_goal(doc, values["target"]) if "target" in values else Goal(),
        inputs=read_inputs(doc, values["inputs"]) if "inputs" in values else InputDatatypes(),
        kernels=read_kernels(doc, values["kernels"], "kernels") if "kernels" in values else (),
        transforms=(phases := _phases(doc, values, positions)).get("transforms", ()),
        pre_hw=phases.get("pre_hw", ()),
        post_hw=phases.get("post_hw", ()),
        steps=read_steps(doc, values["steps"], "steps") if "steps" in values else None,
        args=_step_arguments(doc, values["args"], positions) if "args" in values else {},
        verify=read_verify(doc, values["verify"]) if "verify" in values else Verify(),
        output=_output(doc, values["output"]) if "output" in values else None,
        strict=_strict(doc, values["strict"]) if "strict" in values else False,
        blanks=tuple(doc.blanks),
        positions=positions,
    )
    _report_unplaced(doc, blueprint)
    return blueprint


def _phases(
    doc: Document, values: Mapping[str, Node], positions: dict[str, Position]
) -> dict[str, tuple[StepEntry, ...]]:
    """Read ``transforms`` and the lists of ``transforms_phased``."""
    phases: dict[str, tuple[StepEntry, ...]] = {}
    if "transforms" in values:
        phases["transforms"] = read_transforms(doc, values["transforms"], "transforms")
    if "transforms_phased" in values:
        pairs = doc.mapping(values["transforms_phased"], "transforms_phased", KEYS["transforms_phased"])
        for phase, (key, value) in pairs.items():
            phases[phase] = read_transforms(doc, value, f"transforms_phased.{phase}")
            positions[f"transforms_phased.{phase}"] = doc.position(key)
    return phases


def _step_arguments(doc: Document, node: Node, positions: dict[str, Position]) -> dict[str, Arguments]:
    """Read ``args``: arguments by the name of a step."""
    found = {}
    for step, (key, value) in doc.pairs(node, "args").items():
        positions[f"args.{step}"] = doc.position(key)
        found[step] = doc.arguments(value, f"args.{step}")
    return found


def _report_unplaced(doc: Document, blueprint: Blueprint) -> None:
    """Complain about transforms that no word of ``steps`` places: they would never run."""
    if blueprint.steps is None:
        return
    placed = {entry.name.name for entry in blueprint.steps if entry.kind == "phase"}
    for phase in PHASES:
        if blueprint.phase(phase) and phase not in placed:
            key = phase if phase == "transforms" else f"transforms_phased.{phase}"
            place = blueprint.positions[key]
            text = f"steps does not contain {key}, which would never run: add the word {phase} to steps"
            doc.problems.append(place.problem(text))


def _output(doc: Document, node: Node) -> str | None:
    """Read what the build is to produce."""
    text = doc.text(node, "output", f"one of {', '.join(OUTPUTS)}")
    if text is None or text in OUTPUTS:
        return text
    doc.report(node, wrong_output("output", repr(text), did_you_mean(text, OUTPUTS)))
    return None


def _strict(doc: Document, node: Node) -> bool:
    """Read whether whatever is not proven ends the build as a failure does."""
    value = doc.plain(node, "strict") if isinstance(node, ScalarNode) else None
    if isinstance(value, bool):
        return value
    doc.report(node, f"strict must be true or false, not {describe(node)}")
    return False
