"""How beats flow through the layers of a model: what `estimate` says of latency and FIFOs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.resource_models.layer_needs import is_narrow
from brainsmith.rtl.stitching.design import DESIGN, End, Layout, Link
from brainsmith.rtl.timing.finn_schedules import Fabric
from brainsmith.rtl.timing.flow import Flow, first_latency, flow
from brainsmith.rtl.timing.layer_schedules import schedule_of
from brainsmith.steps.hardware_nodes import backend_type

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.timing.beat_schedule import BeatSchedule


@dataclass(frozen=True)
class ModelFlow:
    """What is known of a model's circuit without a simulation.

    Attributes:
        flow: Latency, and FIFOs.
        assumed: The layers whose schedules are not known, by name: each is taken to give a frame after it took all of it.
        fifos: The depth in beats of the FIFO of each stream, and the bits of a beat, (streams, 2).
    """

    flow: Flow
    assumed: tuple[str, ...]
    fifos: NDArray[np.int64]


def model_flow(model: ModelWrapper, part: str, clock: float, interval: int) -> ModelFlow:
    """Return how beats flow through the layers of a model that have a backend.

    What the host computes takes no cycles, and stands for an end of the design.

    Args:
        model: With its width converters, where it can have them.
        part: The FPGA.
        clock: The clock's period in ns.
        interval: Cycles from one frame to the next.
    """
    links, schedules = _links_and_schedules(model, part, clock)
    assumed = tuple(name for name, schedule in schedules.items() if not schedule.stated)
    found = flow(links, schedules, interval)
    fifos = np.array([(found.depths[link.name], link.bits) for link in links], np.int64)
    return ModelFlow(found, assumed, fifos)


def model_latency(model: ModelWrapper, part: str, clock: float) -> int:
    """Return the cycles from a frame's first beat in to its last beat out of a model's circuit.

    Args:
        model: As `model_flow` takes it, like the rest.
        part: Likewise.
        clock: Likewise.
    """
    return first_latency(*_links_and_schedules(model, part, clock))


def _links_and_schedules(
    model: ModelWrapper, part: str, clock: float
) -> tuple[list[Link], dict[str, BeatSchedule]]:
    """Return the streams of a model's circuit, and the schedules of its layers, by name."""
    from qonnx.custom_op.registry import getCustomOp

    layers = {node.name: node for node in model.graph.node if backend_type(node)}
    links = _links(model, layers)
    return links, {
        name: _schedule(getCustomOp(node), node, links, model, part, clock) for name, node in layers.items()
    }


def _links(model: ModelWrapper, layers: dict[str, NodeProto]) -> list[Link]:
    """Return the streams between layers, and those at the ends of the design."""
    from qonnx.custom_op.registry import getCustomOp

    given = {tensor: (name, at) for name, node in layers.items() for at, tensor in enumerate(node.output)}
    read: set[str] = set()
    links = []
    for name, node in layers.items():
        layer = getCustomOp(node)
        for at in _streams(model, node):
            tensor = node.input[at]
            source, output = given.get(tensor, (DESIGN, 0))
            read.add(tensor)
            layout = _layout(tensor, layer.get_folded_input_shape(at), layer.get_input_datatype(at))
            width = int(layer.get_instream_width_padded(at))
            end = End(name, f"in{at}_V")
            links.append(Link(f"{tensor} {end}", End(source, f"out{output}_V"), end, width, layout))
    for tensor, (name, at) in given.items():
        if tensor not in read:
            layer = getCustomOp(layers[name])
            layout = _layout(tensor, layer.get_folded_output_shape(at), layer.get_output_datatype(at))
            width = int(layer.get_outstream_width_padded(at))
            links.append(Link(tensor, End(name, f"out{at}_V"), End(DESIGN, tensor), width, layout))
    return links


def _layout(tensor: str, folded: Any, kind: Any) -> Layout:
    lanes = int(folded[-1])
    shape = (prod(map(int, folded[:-1])), lanes)
    return Layout(tensor, shape, lanes, int(kind.bitwidth()), bool(kind.signed()))


def _schedule(
    layer: Any, node: NodeProto, links: list[Link], model: ModelWrapper, part: str, clock: float
) -> BeatSchedule:
    """Return a layer's schedule, with an output for each stream behind it."""
    found = schedule_in(model, layer, part, clock)
    behind = [link.source.stream for link in links if link.source.layer == node.name]
    outputs = [int(stream.removeprefix("out").removesuffix("_V")) for stream in behind]
    return replace(found, given=tuple(found.given[at] for at in outputs))


def schedule_in(model: ModelWrapper, layer: Any, part: str, clock: float) -> BeatSchedule:
    """Return when a layer of a model takes and gives the beats of a frame.

    Args:
        model: Holds the layer's constants.
        layer: QONNX's instance of its node.
        part: The FPGA.
        clock: The clock's period in ns.
    """
    from finn.util.basic import is_versal

    fabric = Fabric(clock if is_versal(part) else 0.0, is_narrow(layer, model))
    return schedule_of(layer, _streams(model, layer.onnx_node), fabric)


def _streams(model: ModelWrapper, node: NodeProto) -> list[int]:
    """Return which inputs of a layer are streams."""
    return [at for at, tensor in enumerate(node.input) if tensor and model.get_initializer(tensor) is None]
