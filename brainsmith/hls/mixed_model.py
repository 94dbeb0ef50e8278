"""A model whose HLS layers run as C++, and whose other nodes run in Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from brainsmith.errors import UnsupportedResourceError
from brainsmith.execution.model_part import ModelPart
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.signature import ModelSignature
from brainsmith.hls.layer import HlsLayer, make_layer

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from qonnx.core.modelwrapper import ModelWrapper

    Stacks = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Executed:
    """How one node is executed.

    Attributes:
        node: Its name.
        op_type: Its operator.
        how: `C++`, or `Python`: of a layer in RTL its kernel's Python model, of any other its own.
    """

    node: str
    op_type: str
    how: str


@dataclass(frozen=True)
class MixedModel:
    """A model in parts, in the order of execution.

    Attributes:
        signature: Of the model.
        parts: Layers in C++, and what lies between them.
        nodes: How each is executed.
    """

    signature: ModelSignature
    parts: tuple[HlsLayer | ModelPart, ...]
    nodes: tuple[Executed, ...]

    def tensors(self) -> tuple[str, ...]:
        """Return what the parts make, in the order of execution."""
        found: dict[str, None] = {}
        for part in self.parts:
            found |= dict.fromkeys(part.outputs if isinstance(part, HlsLayer) else part.tensors)
        return tuple(found)

    def run(self, feed: Mapping[str, Any], keep: frozenset[str] = frozenset()) -> Stacks:
        """Run stacks (samples, *shape) of the inputs; return those of the outputs, and of what is kept.

        Raises:
            BuildError: A node cannot be executed.
        """
        values: Stacks = dict(feed)
        for part in self.parts:
            if isinstance(part, HlsLayer):
                values |= part.run({name: values[name] for name in part.inputs})
            else:
                values |= part.run(values, keep)
        wanted = {spec.name for spec in self.signature.outputs} | keep
        return {name: values[name] for name in values if name in wanted}


def is_hls(node: Any) -> bool:
    """Tell whether a node is a layer in HLS."""
    return str(node.domain).rpartition(".")[2] == "hls"


def find_layers(model: ModelWrapper) -> tuple[dict[str, HlsLayer], dict[str, str]]:
    """Return the layers in C++ of a model, by the first output of their node, and why others are not.

    Nothing is compiled. The second is empty if all HLS layers are among the first.
    """
    from brainsmith.plugin.adapters.finn_runtime import prepare_finn

    prepare_finn()
    layers: dict[str, HlsLayer] = {}
    problems: dict[str, str] = {}
    for node in model.graph.node:
        if is_hls(node):
            layer, reason = make_layer(node, model)
            if layer is None:
                problems[f"{node.name} ({node.op_type})"] = reason
            else:
                layers[node.output[0]] = layer
    return layers, problems


def describe_problems(problems: Mapping[str, str]) -> str:
    """Return why a model cannot be run, one reason after the other with the nodes that have it."""
    reasons: dict[str, list[str]] = {}
    for node, reason in problems.items():
        reasons.setdefault(reason, []).append(node)
    return "; ".join(f"{', '.join(nodes)}: {reason}" for reason, nodes in reasons.items())


def mix(model: ModelWrapper) -> MixedModel:
    """Compile the HLS layers of a model, and prepare the rest.

    Args:
        model: Specialised: its layers have backends. Shapes are known.

    Raises:
        UnsupportedResourceError: It has no HLS layer, or one whose C++ cannot be compiled here.
        BuildError: A node cannot be executed.
        SimulationError: The compiler rejects a layer's C++.
        ToolError: The compiler or the headers are missing.
    """
    layers, problems = find_layers(model)
    if problems:
        raise UnsupportedResourceError(describe_problems(problems))
    if not layers:
        raise UnsupportedResourceError("it has no layer in HLS, so there is no C++ to run")
    for layer in layers.values():
        layer.compile()
    signature = _signature(model)
    nodes = tuple(
        Executed(node.name, node.op_type, "C++" if node.output[0] in layers else "Python")
        for node in model.graph.node
    )
    return MixedModel(signature, tuple(_parts(model, layers, signature)), nodes)


def _parts(
    model: ModelWrapper, layers: Mapping[str, HlsLayer], signature: ModelSignature
) -> list[HlsLayer | ModelPart]:
    nodes = groupby(model.graph.node, key=lambda node: layers.get(node.output[0]))
    groups = [(layer, list(group)) for layer, group in nodes]
    constants = {tensor.name for tensor in model.graph.initializer}
    outputs = {spec.name for spec in signature.outputs}
    parts: list[HlsLayer | ModelPart] = []
    for at, (layer, group) in enumerate(groups):
        if layer is not None:
            parts.append(layer)
            continue
        made = [name for node in group for name in node.output if name]
        named = dict.fromkeys(name for node in group for name in node.input if name)
        taken = [name for name in named if name not in constants and name not in made]
        read = {name for _, others in groups[at + 1 :] for node in others for name in node.input} | outputs
        parts.append(ModelPart(model, group, taken, [name for name in made if name in read]))
    return parts


def _signature(model: ModelWrapper) -> ModelSignature:
    """Return the signature of a model of layers, whose tensors are float32."""
    stated = signature_of(model)
    ends = ([replace(spec, dtype="float32") for spec in specs] for specs in (stated.inputs, stated.outputs))
    return ModelSignature(*map(tuple, ends))
