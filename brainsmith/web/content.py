"""Read report.json into values that are always complete.

A failed or partial build writes a partial report, and the page must still show what there is. So reading
never raises: what is absent or of another kind becomes None, an empty text or an empty tuple.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, TypeAlias

from brainsmith.web.figures import number

Fields: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """What was built from what and for what; empty or None where the report does not say."""

    name: str
    file: str
    digest: str
    blueprint: str
    part: str
    clock_ns: float | None
    fps: float | None


@dataclass(frozen=True)
class Verification:
    """How a step's model compared with the golden outputs; `mismatches` counts samples.

    `changed` is how many samples a step that approximates, as the blueprint states, put into another class; None for
    other steps. `changes_outputs` is "expected" or "labels" for a step that gives other outputs, as the blueprint states:
    how these are known. `reference` names the last step whose results were compared with since; `target` what executed the
    model.
    """

    samples: float | None
    mismatches: float
    max_error: float | None
    tensor: str
    changed: float | None = None
    reference: str = ""
    target: str = ""
    changes_outputs: str = ""


@dataclass(frozen=True)
class Step:
    """One step of the pipeline.

    `verified` is None if no sample ran; `reason` then says why, if that is known. `notes` say what comparing
    needed, `cache` why the step's result was or was not taken from an earlier build.
    """

    index: int
    name: str
    framework: str
    seconds: float | None
    reused: bool
    verified: Verification | None
    reason: str
    notes: tuple[str, ...]
    cache: str


@dataclass(frozen=True)
class Layer:
    """One hardware layer with its estimates: cycles per frame, LUTs, 18 Kb block RAMs, DSPs, UltraRAMs."""

    index: int
    name: str
    op_type: str
    backend: str
    cycles: float | None
    lut: float | None
    bram18: float | None
    dsp: float | None
    uram: float | None
    attributes: Fields
    choice: str = ""


@dataclass(frozen=True)
class Plugin:
    """One plugin that the build loaded."""

    name: str
    framework: str
    type: str
    note: str


@dataclass(frozen=True)
class Node:
    """One node of a graph; `layer` is the index of its hardware layer."""

    name: str
    op_type: str
    shape: str
    datatype: str
    layer: int | None


@dataclass(frozen=True)
class Edge:
    """One tensor between two nodes, by their indices."""

    source: int
    target: int
    tensor: str
    shape: str
    datatype: str


@dataclass(frozen=True)
class Graph:
    """A model's graph; `dangling` counts edges that name a node the graph does not have."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    dangling: int


def fields(value: object) -> Fields:
    """Give a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Give a list as it is, and an empty one for anything else."""
    return list(value) if isinstance(value, list | tuple) else []


def text(value: object) -> str:
    """Write a value as text: a list as `[1, 64]`, what is empty as nothing, truth values as yes and no."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(text(item) for item in value)}]"
    if isinstance(value, Mapping):
        return ", ".join(f"{text(key)}: {text(item)}" for key, item in value.items())
    return str(value)


def first_text(source: Fields, *keys: str) -> str:
    """Give the first of several fields that is there, as text."""
    return next((text(source[key]) for key in keys if text(source.get(key))), "")


def read_subject(report: Fields) -> Subject:
    """Read the model, the blueprint and its target; the first two may be just the names of their files."""
    model, blueprint = report.get("model"), report.get("blueprint")
    file = first_text(fields(model), "file") if isinstance(model, Mapping) else text(model)
    target = fields(fields(blueprint).get("target"))
    return Subject(
        PurePath(file.replace("\\", "/")).name or first_text(fields(model), "name") or "model without a name",
        file,
        first_text(fields(model), "digest"),
        first_text(fields(blueprint), "file") if isinstance(blueprint, Mapping) else text(blueprint),
        first_text(target, "part"),
        number(target.get("clock_ns")) or None,
        number(target.get("fps")) or None,
    )


def read_steps(report: Fields) -> tuple[Step, ...]:
    """Read the pipeline's steps in order."""
    return tuple(_step(index, fields(step)) for index, step in enumerate(items(report.get("steps"))))


def _step(index: int, step: Fields) -> Step:
    verified = fields(step.get("verified"))
    samples = number(verified.get("samples"))
    outcome = None
    if samples or (samples is None and number(verified.get("mismatches")) is not None):
        outcome = Verification(
            samples,
            number(verified.get("mismatches")) or 0,
            number(verified.get("max_error")),
            first_text(verified, "tensor"),
            number(verified.get("changed")),
            first_text(verified, "reference"),
            first_text(verified, "target"),
            first_text(verified, "changes_outputs"),
        )
    return Step(
        index,
        first_text(step, "name") or f"step {index + 1}",
        first_text(step, "framework"),
        number(step.get("seconds")),
        bool(step.get("reused")),
        outcome,
        first_text(verified, "reason"),
        tuple(text(note) for note in items(verified.get("notes"))),
        first_text(step, "cache"),
    )


def read_shortfalls(report: Fields) -> tuple[str, ...]:
    """Read what the build did not prove, as sentences."""
    return tuple(first_text(fields(entry), "text") for entry in items(report.get("shortfalls")))


def read_layers(report: Fields) -> tuple[Layer, ...]:
    """Read the hardware layers in order."""
    return tuple(_layer(index, fields(layer)) for index, layer in enumerate(items(report.get("layers"))))


def _layer(index: int, layer: Fields) -> Layer:
    return Layer(
        index,
        first_text(layer, "name") or f"layer {index + 1}",
        first_text(layer, "op_type"),
        first_text(layer, "backend"),
        number(layer.get("cycles")),
        number(layer.get("lut")),
        number(layer.get("bram18")),
        number(layer.get("dsp")),
        number(layer.get("uram")),
        fields(layer.get("attributes")),
        first_text(layer, "choice"),
    )


def read_plugins(report: Fields) -> tuple[Plugin, ...]:
    """Read the loaded plugins: records, or texts such as `finn:X` and `transform:finn:X`."""
    found = report.get("plugins")
    if isinstance(found, Mapping):
        pairs = [(framework, entry) for framework, group in found.items() for entry in items(group)]
    else:
        pairs = [("", entry) for entry in items(found)]
    return tuple(_plugin(text(framework), entry) for framework, entry in pairs)


def _plugin(framework: str, entry: object) -> Plugin:
    if isinstance(entry, Mapping):
        note = " ".join(part for part in (first_text(entry, "version"), first_text(entry, "origin")) if part)
        own = first_text(entry, "framework") or framework
        return Plugin(first_text(entry, "name"), own, first_text(entry, "type"), note)
    *before, name = text(entry).split(":")
    return Plugin(name, before[-1] if before else framework, before[0] if len(before) > 1 else "", "")


def read_graph(graph: object, layers: tuple[Layer, ...]) -> Graph:
    """Read one graph; nodes belong to layers by their `layer` (a name or an index) or by their own name."""
    index_of: dict[str, int] = {}
    nodes: list[Node] = []
    by_name = {layer.name: layer.index for layer in layers}
    for entry in map(fields, items(fields(graph).get("nodes"))):
        index_of.setdefault(text(entry.get("id")), len(nodes))
        nodes.append(_node(entry, by_name, len(layers)))
    edges = []
    rows = [items(row) for row in items(fields(graph).get("edges"))]
    for row in rows:
        source, target, tensor, shape, datatype = (*map(text, row), "", "", "", "", "")[:5]
        if source in index_of and target in index_of:
            edges.append(Edge(index_of[source], index_of[target], tensor, shape, datatype))
    return Graph(tuple(nodes), tuple(edges), len(rows) - len(edges))


def _node(entry: Fields, by_name: dict[str, int], layers: int) -> Node:
    name = first_text(entry, "name") or first_text(entry, "id")
    stated = entry.get("layer")
    if isinstance(stated, int) and not isinstance(stated, bool):
        layer = stated if 0 <= stated < layers else None
    else:
        layer = by_name.get(text(stated)) if stated else by_name.get(name)
    return Node(
        name, first_text(entry, "op_type"), first_text(entry, "shape"), first_text(entry, "datatype"), layer
    )
