"""Stitch the RTL layers of a model into one design with AXI streams at its ends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.figures import plural
from brainsmith.graph.ends import input_values
from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.stitching.codegen import read_layer
from brainsmith.rtl.stitching.design import DESIGN, MEMORY, Design, DesignStream, End, Layer, Layout, Link
from brainsmith.rtl.stitching.orders import early_layers
from brainsmith.rtl.stitching.suitable import check_attributes, check_layers

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.library.sources import RtlSource
    from brainsmith.rtl.simulation.simulation_plan import Memory
    from brainsmith.rtl.stitching.codegen import LayerCode

TOP = "finn_design"
FIFO = "fifo/hdl/fifo.sv"
_WEIGHTS = End("", "m_axis_0")
_WHOLE = re.compile(r"U?INT\d+|BINARY|TERNARY|BIPOLAR")
_INSIDE = "quantise it to integers, or leave the layers around it out of the accelerator"
_TAKEN = (
    "it is an input of the accelerator: give the model's input a datatype of integers, such as UINT8, and put a factor "
    "such as 1/255 after it; docs/operators.md shows how"
)


def stitch(model: ModelWrapper) -> Design:
    """Plan how the layers of a model are connected; FIFOs come later (`with_depths`).

    Args:
        model: As `generate_layers` gives it. The design holds all of the generated code, so that may be removed
            afterwards.

    Raises:
        BuildError: A layer has no RTL or no code, feeds several others, needs a second clock, has a folding that
            gives wrong results, or takes or gives what is no integer.
        RtlSourceError: FINN's library is not what the rules expect.
    """
    from qonnx.custom_op.registry import getCustomOp

    check_layers(model)
    library = find_library()
    nodes = {node.name: getCustomOp(node) for node in model.graph.node}
    check_attributes(nodes)
    code = {name: read_layer(node, library) for name, node in nodes.items()}
    fifo = library.read(FIFO)
    sources: dict[str, RtlSource] = {}
    memories: list[Memory] = []
    for source in (*(one for layer in code.values() for one in layer.sources), fifo):
        if sources.setdefault(source.name, source) != source:
            raise BuildError(f"two different sources of the design are called {source.name}")
    for layer in code.values():
        memories += layer.memories
    early = early_layers(nodes)
    inputs = _inputs(model, nodes)
    links = _links(model, inputs, nodes, code)
    return Design(
        top=TOP,
        layers=tuple(
            one for name, node in nodes.items() for one in _layers(name, node, code[name], name in early)
        ),
        links=tuple(links),
        inputs=tuple(inputs),
        outputs=tuple(
            DesignStream(link.target.stream, link.bits, link.layout)
            for link in links
            if link.layout and link.target.layer == DESIGN
        ),
        sources=tuple(sources.values()),
        memories=tuple(memories),
    )


def _layers(name: str, node: Any, code: LayerCode, early: bool) -> list[Layer]:
    """Return a layer's instance, and that of the memory of its weights before it."""
    layer = Layer(name, code.module, node.onnx_node.op_type, code.ports, frame_cycles(node), early)
    return [Layer(code.memory, code.memory, MEMORY, code.memory_ports), layer] if code.memory else [layer]


def _links(
    model: ModelWrapper, inputs: list[DesignStream], nodes: dict[str, Any], code: dict[str, LayerCode]
) -> list[Link]:
    sources: dict[str, tuple[End, int, Layout]] = {}
    for stream in inputs:
        sources[stream.layout.tensor] = (End(DESIGN, stream.name), stream.bits, stream.layout)
    links = []
    for node in model.graph.node:
        layer = nodes[node.name]
        for at, tensor in enumerate(node.input):
            target = End(node.name, f"in{at}_V")
            if tensor in sources:
                source, bits, layout = sources.pop(tensor)
                _check_width(source, bits, target, int(layer.get_instream_width_padded(at)))
                links.append(Link(_name(source), source, target, bits, layout))
            elif model.get_initializer(tensor) is None:
                raise BuildError(f"tensor {tensor!r} feeds more than one layer, or comes from none")
            elif code[node.name].memory:
                source = End(code[node.name].memory, _WEIGHTS.stream)
                links.append(Link(_name(source), source, target, int(layer.get_instream_width_padded(at))))
        for at, tensor in enumerate(node.output):
            bits = int(layer.get_outstream_width_padded(at))
            lanes, kind = layer.get_folded_output_shape(at)[-1], layer.get_output_datatype(at)
            sources[tensor] = (End(node.name, f"out{at}_V"), bits, _layout(model, tensor, lanes, kind))
    for at, value in enumerate(model.graph.output):
        source, bits, layout = sources.pop(value.name)
        links.append(Link(_name(source), source, End(DESIGN, f"m_axis_{at}"), bits, layout))
    return links


def _name(source: End) -> str:
    return f"{source.layer}_{source.stream}" if source.layer else source.stream


def _check_width(source: End, bits: int, target: End, wanted: int) -> None:
    if bits != wanted:
        raise BuildError(f"{source} has {plural(bits, 'bit')} and {target} takes {wanted}")


def _inputs(model: ModelWrapper, nodes: dict[str, Any]) -> list[DesignStream]:
    fed = [value.name for value in input_values(model.graph)]
    found = []
    for at, tensor in enumerate(fed):
        consumer = model.find_consumers(tensor)[0]
        index = list(consumer.input).index(tensor)
        layer = nodes[consumer.name]
        lanes, kind = layer.get_folded_input_shape(index)[-1], layer.get_input_datatype(index)
        bits = int(layer.get_instream_width_padded(index))
        found.append(DesignStream(f"s_axis_{at}", bits, _layout(model, tensor, lanes, kind, _TAKEN)))
    return found


def _layout(model: ModelWrapper, tensor: str, lanes: int, kind: Any, advice: str = _INSIDE) -> Layout:
    if not _WHOLE.fullmatch(kind.name):
        raise BuildError(
            f"tensor {tensor!r} is {kind.name}, and the streams of a design carry integers\n  {advice}"
        )
    shape = tuple(int(size) for size in model.get_tensor_shape(tensor))
    bipolar = kind.name == "BIPOLAR"
    signed = bool(kind.signed()) and not bipolar
    return Layout(tensor, shape, int(lanes), int(kind.bitwidth()), signed, bipolar)
