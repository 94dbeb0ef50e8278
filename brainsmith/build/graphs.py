"""A model's graph as plain data, for the report's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.graph.ends import input_values

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.artifact import Artifact


def graphs_of(before: Artifact, after: Artifact | None) -> dict[str, Any]:
    """Return the report's `graphs`: the input model, and the last one that a step made."""
    return {
        "before": graph_data(before.peek()),
        "after": None if after is None else graph_data(after.peek()),
    }


def graph_data(model: ModelWrapper) -> dict[str, Any]:
    """Return nodes and edges of a graph.

    Returns:
        `nodes`: id, name, op_type, shape and datatype of the first output, and `layer` (the node's name) for
        hardware layers; inputs and outputs are nodes of op_type "Input" and "Output". `edges`: [from id, to
        id, tensor, shape, datatype]. Constants are left out.
    """
    nodes: list[dict[str, Any]] = []
    edges: list[list[Any]] = []
    producer: dict[str, str] = {}

    def add(identifier: str, name: str, op_type: str, tensor: str) -> dict[str, Any]:
        entry = {"id": identifier, "name": name, "op_type": op_type, **_tensor(model, tensor)}
        nodes.append(entry)
        return entry

    for value in input_values(model.graph):
        add(f"input:{value.name}", value.name, "Input", value.name)
        producer[value.name] = f"input:{value.name}"
    for at, node in enumerate(model.graph.node):
        identifier = f"node:{at}"
        entry = add(identifier, node.name or node.output[0], node.op_type, node.output[0])
        if "fpgadataflow" in node.domain:
            entry["layer"] = node.name
        producer.update(dict.fromkeys(node.output, identifier))
    for at, node in enumerate(model.graph.node):
        edges.extend(
            [producer[tensor], f"node:{at}", tensor, *_tensor(model, tensor).values()]
            for tensor in node.input
            if tensor in producer
        )
    for value in model.graph.output:
        add(f"output:{value.name}", value.name, "Output", value.name)
        if value.name in producer:
            shape_and_type = _tensor(model, value.name).values()
            edges.append([producer[value.name], f"output:{value.name}", value.name, *shape_and_type])
    return {"nodes": nodes, "edges": edges}


def _tensor(model: ModelWrapper, name: str) -> dict[str, Any]:
    shape = model.get_tensor_shape(name)
    return {"shape": list(shape) if shape else [], "datatype": model.get_tensor_datatype(name).name}
