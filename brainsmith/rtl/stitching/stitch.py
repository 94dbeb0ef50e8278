"""Stitch the RTL layers of a model into one design with AXI streams at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.stitching.codegen import generate_layer, with_converters
from brainsmith.rtl.stitching.design import DESIGN, Design, DesignStream, End, Layer, Link

if TYPE_CHECKING:
    from pathlib import Path

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.library.sources import Library, Source
    from brainsmith.rtl.simulation.plan import Memory
    from brainsmith.rtl.stitching.codegen import LayerCode

TOP = "finn_design"
FIFO_SOURCES = ("fifo/hdl/fifo.sv", "fifo/hdl/fifo_gauge.sv")
_WEIGHTS = End("", "m_axis_0")


def stitch(
    model: ModelWrapper, folder: Path, part: str, period: float = 5.0, library: Library | None = None
) -> Design:
    """Generate the layers of a model and plan how they are connected; FIFOs come later (`with_depths`).

    Args:
        model: Specialised and folded, every node an RTL layer of FINN; not changed.
        folder: Where FINN generates code. The design holds all of it, so the folder may be removed afterwards.
        part: The FPGA, such as `xczu7ev-ffvc1156-2-e`.
        period: Of the clock, in nanoseconds.
        library: FINN's RTL library; that of the installed FINN by default.

    Raises:
        BuildError: A layer has no RTL, feeds several others, needs a second clock, gets its weights from outside, or has
            a folding that gives wrong results.
        RtlSourceError: FINN's library is not what the rules expect.
    """
    from qonnx.custom_op.registry import getCustomOp

    library = library or find_library()
    model = with_converters(model)
    nodes = {node.name: getCustomOp(node) for node in model.graph.node}
    _check_folding(nodes)
    _check_clocks(nodes)
    code = {
        node.name: generate_layer(model, node, folder / node.name, library, part, period)
        for node in model.graph.node
    }
    fifos = tuple(library.read(file) for file in FIFO_SOURCES)
    sources: dict[str, Source] = {}
    memories: list[Memory] = []
    for source in (*(one for layer in code.values() for one in layer.sources), *fifos):
        if sources.setdefault(source.name, source) != source:
            raise BuildError(f"two different sources of the design are called {source.name}")
    for layer in code.values():
        memories += layer.memories
    return Design(
        top=TOP,
        layers=tuple(one for name, node in nodes.items() for one in _layers(name, node, code[name])),
        links=tuple(_links(model, nodes, code)),
        inputs=tuple(_inputs(model, nodes)),
        outputs=tuple(_outputs(model, nodes)),
        sources=tuple(sources.values()),
        memories=tuple(memories),
    )


def _check_folding(nodes: dict[str, Any]) -> None:
    """Refuse what FINN's matrix-vector unit does wrong under back-pressure: all columns in one cycle."""
    wrong = [
        name
        for name, node in nodes.items()
        if node.onnx_node.op_type == "MVAU_rtl" and node.get_nodeattr("SIMD") == node.get_nodeattr("MW")
    ]
    if wrong:
        raise BuildError(
            f"SIMD must be less than MW, not equal to it, in {', '.join(wrong)}: FINN's matrix-vector unit loses "
            "results then when its output is held back\n  fold these layers with a lower SIMD"
        )


def _check_clocks(nodes: dict[str, Any]) -> None:
    """Refuse layers that need a second clock: a design has one."""
    pumped = [
        name
        for name, node in nodes.items()
        for attribute in ("pumpedCompute", "pumpedMemory")
        if attribute in node.get_nodeattr_types() and node.get_nodeattr(attribute)
    ]
    if pumped:
        raise BuildError(
            f"pumpedCompute and pumpedMemory must be 0 in {', '.join(dict.fromkeys(pumped))}: a stitched design "
            "has no clock of twice the rate"
        )


def _layers(name: str, node: Any, code: LayerCode) -> list[Layer]:
    """Return a layer's instance, and that of the memory of its weights before it."""
    layer = Layer(name, code.module, node.onnx_node.op_type, code.ports, int(node.get_exp_cycles()))
    return (
        [Layer(code.memory, code.memory, "memstream", code.memory_ports), layer] if code.memory else [layer]
    )


def _links(model: ModelWrapper, nodes: dict[str, Any], code: dict[str, LayerCode]) -> list[Link]:
    sources = {
        value.name: (End(DESIGN, f"s_axis_{at}"), 0)
        for at, value in enumerate(_fed(model, model.graph.input))
    }
    links = []
    for node in model.graph.node:
        layer = nodes[node.name]
        for at, tensor in enumerate(node.input):
            target = End(node.name, f"in{at}_V")
            if tensor in sources:
                source, bits = sources.pop(tensor)
                wanted = int(layer.get_instream_width_padded(at))
                _check_width(source, bits or wanted, target, wanted)
                links.append(Link(_name(source), source, target, wanted))
            elif model.get_initializer(tensor) is None:
                raise BuildError(f"tensor {tensor!r} feeds more than one layer, or comes from none")
            elif code[node.name].memory:
                source = End(code[node.name].memory, _WEIGHTS.stream)
                bits = int(layer.get_instream_width_padded(at))
                links.append(Link(_name(source), source, target, bits, weights=True))
        for at, tensor in enumerate(node.output):
            sources[tensor] = (End(node.name, f"out{at}_V"), int(layer.get_outstream_width_padded(at)))
    for at, value in enumerate(model.graph.output):
        source, bits = sources.pop(value.name)
        links.append(Link(_name(source), source, End(DESIGN, f"m_axis_{at}"), bits))
    return links


def _name(source: End) -> str:
    return f"{source.layer}_{source.stream}" if source.layer else source.stream


def _check_width(source: End, bits: int, target: End, wanted: int) -> None:
    if bits != wanted:
        raise BuildError(f"{source} has {bits} bits and {target} takes {wanted}")


def _fed(model: ModelWrapper, values: Any) -> list[Any]:
    return [value for value in values if model.get_initializer(value.name) is None]


def _inputs(model: ModelWrapper, nodes: dict[str, Any]) -> list[DesignStream]:
    found = []
    for at, value in enumerate(_fed(model, model.graph.input)):
        consumer = model.find_consumers(value.name)[0]
        index = list(consumer.input).index(value.name)
        node = nodes[consumer.name]
        shape, kind = node.get_folded_input_shape(index), node.get_input_datatype(index)
        bits = int(node.get_instream_width_padded(index))
        found.append(_stream(model, f"s_axis_{at}", value.name, int(shape[-1]), kind, bits))
    return found


def _outputs(model: ModelWrapper, nodes: dict[str, Any]) -> list[DesignStream]:
    found = []
    for at, value in enumerate(model.graph.output):
        producer = model.find_producer(value.name)
        index = list(producer.output).index(value.name)
        node = nodes[producer.name]
        shape, kind = node.get_folded_output_shape(index), node.get_output_datatype(index)
        bits = int(node.get_outstream_width_padded(index))
        found.append(_stream(model, f"m_axis_{at}", value.name, int(shape[-1]), kind, bits))
    return found


def _stream(model: ModelWrapper, name: str, tensor: str, lanes: int, kind: Any, bits: int) -> DesignStream:
    shape = tuple(int(size) for size in model.get_tensor_shape(tensor))
    return DesignStream(name, tensor, shape, lanes, int(kind.bitwidth()), bool(kind.signed()), bits)
