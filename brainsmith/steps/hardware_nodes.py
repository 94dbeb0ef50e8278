"""Which nodes of a model are hardware layers, and which nodes lie between these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.plugin.info import BACKEND_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

FINN_LAYERS = "finn.custom_op.fpgadataflow"


def backend_type(node: NodeProto) -> str:
    """Return "hls" or "rtl" for a layer that has a backend, FINN's or another's; empty for any other node."""
    last = node.domain.rpartition(".")[2]
    return last if last in BACKEND_TYPES else ""


def has_backend(node: NodeProto) -> bool:
    """Tell whether a node is a specialised hardware layer."""
    return bool(backend_type(node))


def is_layer(node: NodeProto) -> bool:
    """Tell whether a node is hardware, specialised or FINN's that waits for its folding."""
    return node.domain.startswith(FINN_LAYERS) or has_backend(node)


def is_hardware(node: NodeProto) -> bool:
    """Tell whether a node is a hardware layer, specialised or not: every kernel states its backend."""
    return bool(
        node.domain.startswith(FINN_LAYERS)
        or any(attribute.name == "backend" and attribute.s == b"fpgadataflow" for attribute in node.attribute)
    )


def nodes_between(model: ModelWrapper, is_hardware: Callable[[NodeProto], bool]) -> list[NodeProto]:
    """Return the nodes that are not hardware and lie on a path from one hardware layer to another."""
    behind: set[str] = set()
    for node in reversed(model.graph.node):
        if is_hardware(node) or not behind.isdisjoint(node.output):
            behind.update(node.input)
    before: set[str] = set()
    found = []
    for node in model.graph.node:
        hardware, reached = is_hardware(node), not before.isdisjoint(node.input)
        if hardware or reached:
            before.update(node.output)
        if reached and not hardware and not behind.isdisjoint(node.output):
            found.append(node)
    return found
