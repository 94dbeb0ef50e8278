"""Tell, before any long work, which layers of a model no step can turn into hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.steps.conversions import convertible_op_types

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

STANDARD_DOMAINS = ("", "ai.onnx", "qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")


def unsupported_nodes(model: ModelWrapper) -> dict[str, list[str]]:
    """Find the nodes that the front end cannot convert, whatever their shapes.

    Nodes that compute constants are supported: they are folded. So are nodes of other domains, which are
    hardware layers or a plugin's own operations. A supported operator may still stay on the host later, for
    its datatype or shape; the step hardware_inference says so then.

    Args:
        model: A QONNX or FINN-ONNX model; not changed.

    Returns:
        The names of the nodes by operator, both in graph order; a node without a name is named by its output.
    """
    supported = convertible_op_types()
    constants = {tensor.name for tensor in model.graph.initializer} | {""}
    unsupported: dict[str, list[str]] = {}
    for node in model.graph.node:
        if all(name in constants for name in node.input):
            constants.update(node.output)
        elif node.domain in STANDARD_DOMAINS and node.op_type not in supported:
            unsupported.setdefault(node.op_type, []).append(node.name or f"of tensor {node.output[0]}")
    return unsupported


def describe_unsupported(unsupported: dict[str, list[str]]) -> str:
    """Return one sentence that names the operators and their nodes."""
    kinds = "; ".join(f"{op_type} ({', '.join(names)})" for op_type, names in unsupported.items())
    return f"no step can turn these layers into hardware: {kinds}"


def why_unsupported(model: ModelWrapper, node: NodeProto) -> str:
    """Return a line that says why no kernel supports a node, and what to do; empty where that is not known."""
    if node.op_type not in ("Conv", "MatMul"):
        return ""
    floats = [
        what
        for what, name in zip(("its input", "its weights"), node.input, strict=False)
        if not model.get_tensor_datatype(name).is_integer()
    ]
    return f"\n  {node.name}: {' and '.join(floats)} must be quantised, and not FLOAT32" if floats else ""
