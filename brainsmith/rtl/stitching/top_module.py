"""The Verilog of a design's top module, and the plan of its simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from brainsmith.errors import BuildError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.ports import Stream
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
from brainsmith.rtl.stitching.design import DESIGN, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from brainsmith.rtl.stitching.design import Design, Layer, Link

_CLOCKS = {"ap_clk": "ap_clk", "ap_clk2x": "ap_clk", "ap_rst_n": "ap_rst_n"}
"""Nothing here is pumped, so the second clock is the first."""

_TIED = (("s_axilite_", ""), ("s_axis_0_", MEMORY), ("in1_V_", "Thresholding_rtl"))
"""Inputs that a design leaves alone, and in which kernel: AXI-Lite in any, and what selects one of a memory's sets."""

_KINDS = ("data", "valid", "ready")

APART = "apart"
"""The input of a design with probes that takes it apart: 1 while each layer is fed and emptied by itself."""

DEPTH, FILL = "_depth", "_maxcount"
"""What follows a link's name at the ports of an adjustable FIFO: its depth goes in, the most beats in it come out."""


def top_module(design: Design, capacities: Mapping[str, int] | None = None, probes: bool = False) -> str:
    """Return the top module.

    Args:
        design: What is in it.
        capacities: Of links, in beats, that get an adjustable FIFO instead of one with their depth. Then the module
            has an input `<link>_depth` and an output `<link>_maxcount` for each.
        probes: Whether the streams of `probe_design` are outputs, and those of `switch_design` ports: in place of its
            links while the input `apart` is 1.

    Raises:
        BuildError: An input of a layer would be left open.
    """
    chosen = capacities or {}
    ports = ["input ap_clk", "input ap_rst_n"]
    for streams, way, back in ((design.inputs, "input", "output"), (design.outputs, "output", "input")):
        for stream in streams:
            ports += _declared(stream.bits, [f"{stream.name}_t{kind}" for kind in _KINDS], way, back)
    for name in chosen:
        ports += [f"input [31:0] {name}{DEPTH}", f"output [31:0] {name}{FILL}"]
    watched = probe_design(design) if probes else ()
    for probe in watched:
        ports += _declared(probe.link.bits, probe.stream.ports, "output", "output")
    switches = switch_design(design) if probes else ()
    ports += [f"input {APART}"] if switches else []
    ports += [port for switch in switches for port in _switch_ports(switch)]
    parts = [f"module {design.top} (\n    " + ",\n    ".join(ports) + "\n);"]
    switched = {link.name for link in design.links if probes and link.layout}
    parts += [_link(link, chosen.get(link.name, 0), link.name in switched) for link in design.links]
    parts += [_probe(probe) for probe in watched]
    parts += [_instance(layer, design.links) for layer in design.layers]
    return "\n\n".join([*parts, "endmodule\n"])


def plan_design(
    design: Design,
    trace: bool = False,
    probes: bool = False,
    capacities: Mapping[str, int] | None = None,
    more: Iterable[RtlSource] = (),
) -> SimulationPlan:
    """Return the plan of a design's simulation.

    Args:
        design: What is in it.
        trace: Whether waveforms can be written.
        probes: As for `top_module`.
        capacities: As for `top_module`.
        more: Sources that the top module needs for these.
    """
    top = RtlSource(f"{design.top}.v", top_module(design, capacities, probes))
    packages = sorted(design.sources, key=lambda source: "endpackage" not in source.text)
    return SimulationPlan(design.top, (*packages, *more, top), design.memories, trace=trace)


@dataclass(frozen=True)
class Probe:
    """One end of a link, watched from outside: its data, valid and ready are outputs of the design.

    Attributes:
        link: It carries a tensor.
        side: `source`, where its beats are given, or `target`, after its FIFO.
    """

    link: Link
    side: Literal["source", "target"]

    @property
    def stream(self) -> Stream:
        """The ports."""
        name = f"probe_{self.link.name}_{self.side}"
        return Stream(name, *(f"{name}_{kind}" for kind in _KINDS))


def probe_design(design: Design) -> tuple[Probe, ...]:
    """Return where a design with probes is watched: at the source of each tensor, and after each FIFO."""
    carrying = [link for link in design.links if not link.weights]
    return tuple(
        Probe(link, side)
        for link in carrying
        for side in (("source", "target") if link.depth else ("source",))
    )


@dataclass(frozen=True)
class Switch:
    """One end of a link at a layer, to which the design connects its own ports while it is taken apart.

    Attributes:
        link: It carries a tensor.
        side: `source`, where the layer gives its beats to the design's end, or `target`, where it takes them from there.
    """

    link: Link
    side: Literal["source", "target"]

    @property
    def stream(self) -> Stream:
        """The ports, named as `take_apart` names them; what a layer gives is seen by the probe there."""
        name = self.link.name
        if self.side == "target":
            return Stream(f"{name}_fed", *(f"fed_{name}_{kind}" for kind in _KINDS))
        seen = Probe(self.link, "source").stream
        return Stream(f"{name}_given", seen.data, seen.valid, f"given_{name}_ready")


def switch_design(design: Design) -> tuple[Switch, ...]:
    """Return where a design with probes can be taken apart: at each end of a tensor's link that is a layer's."""
    carrying = [link for link in design.links if not link.weights]
    given = [Switch(link, "source") for link in carrying if link.source.layer != DESIGN]
    return (*given, *(Switch(link, "target") for link in carrying if link.target.layer != DESIGN))


def _switch_ports(switch: Switch) -> list[str]:
    if switch.side == "source":
        return [f"input {switch.stream.ready}"]
    return _declared(switch.link.bits, switch.stream.ports, "input", "output")


def _declared(bits: int, names: Sequence[str], way: str, back: str) -> list[str]:
    """Declare data, valid and ready of a stream: the first two go one way, and the last goes back."""
    data, valid, ready = names
    return [f"{way} [{bits - 1}:0] {data}", f"{way} {valid}", f"{back} {ready}"]


def _link(link: Link, capacity: int, switched: bool) -> str:
    """Return the nets at both ends of a link, and what lies between them."""
    sides = ("from", "to", "in", "out") if switched else ("from", "to")
    nets = [f"wire [{link.bits - 1}:0] {link.name}_{side}_data;" for side in sides]
    nets += [f"wire {link.name}_{side}_{kind};" for side in sides for kind in ("valid", "ready")]
    if switched:
        nets += [*_switched_source(link), *_switched_target(link)]
    inner = ("in", "out") if switched else ("from", "to")
    return "\n".join([*nets, *_design_ends(link), _between(link, capacity, *inner)])


def _switched_source(link: Link) -> list[str]:
    """Connect the end where a link begins with what lies in it; a layer that is by itself, with the design's port."""
    name = link.name
    if link.source.layer == DESIGN:
        return _joined(f"{name}_from_", f"{name}_in_")
    ready = Switch(link, "source").stream.ready
    return [
        f"assign {name}_in_data = {name}_from_data;",
        f"assign {name}_in_valid = {name}_from_valid && !{APART};",
        f"assign {name}_from_ready = {APART} ? {ready} : {name}_in_ready;",
    ]


def _switched_target(link: Link) -> list[str]:
    """Connect what lies in a link with the end where it ends; a layer that is by itself, with the design's ports."""
    name = link.name
    if link.target.layer == DESIGN:
        return _joined(f"{name}_out_", f"{name}_to_")
    fed = Switch(link, "target").stream
    return [
        f"assign {name}_to_data = {APART} ? {fed.data} : {name}_out_data;",
        f"assign {name}_to_valid = {APART} ? {fed.valid} : {name}_out_valid;",
        f"assign {name}_out_ready = {name}_to_ready && !{APART};",
        f"assign {fed.ready} = {name}_to_ready;",
    ]


def _probe(probe: Probe) -> str:
    nets = f"{probe.link.name}_{'from' if probe.side == 'source' else 'to'}"
    return "\n".join(f"assign {probe.stream.name}_{kind} = {nets}_{kind};" for kind in _KINDS)


def _design_ends(link: Link) -> list[str]:
    """Connect a link to the design's own ports."""
    fed, given = link.source.layer == DESIGN, link.target.layer == DESIGN
    lines = _joined(f"{link.source.stream}_t", f"{link.name}_from_") if fed else []
    return lines + (_joined(f"{link.name}_to_", f"{link.target.stream}_t") if given else [])


def _joined(source: str, target: str) -> list[str]:
    """Connect two streams, each given by what stands before `data`, `valid` and `ready` in the names of its nets."""
    return [
        f"assign {target}data = {source}data;",
        f"assign {target}valid = {source}valid;",
        f"assign {source}ready = {target}ready;",
    ]


def _between(link: Link, capacity: int, begin: str, end: str) -> str:
    """Return what lies between two sides of a link."""
    name = link.name
    before, behind = f"{name}_{begin}_", f"{name}_{end}_"
    if not capacity and not link.depth:
        return "\n".join(_joined(before, behind))
    module, parameters = "fifo", f".DEPTH({link.depth}), .DATA_WIDTH({link.bits})"
    more = ".count(), .maxcount()"
    if capacity:
        module, parameters = "adjustable_fifo", f".WIDTH({link.bits}), .CAPACITY({capacity})"
        more = f".depth({name}{DEPTH}), .maxcount({name}{FILL})"
    return (
        f"{module} #({parameters}) {name}_fifo (\n"
        "    .clk(ap_clk), .rst(!ap_rst_n),\n"
        f"    .idat({before}data), .ivld({before}valid), .irdy({before}ready),\n"
        f"    .odat({behind}data), .ovld({behind}valid), .ordy({behind}ready),\n"
        f"    {more}\n);"
    )


def _instance(layer: Layer, links: tuple[Link, ...]) -> str:
    nets = dict(_CLOCKS)
    for link in links:
        for end, side in ((link.source, "from"), (link.target, "to")):
            if end.layer == layer.name:
                for kind in _KINDS:
                    net = f"{link.name}_{side}_{kind}"
                    nets |= {f"{end.stream}_t{kind}": net, f"{end.stream}_T{kind.upper()}": net}
    connected = [f".{port}({_net(layer, port, is_input, nets)})" for port, is_input in layer.ports]
    return f"{layer.module} {layer.name}_inst (\n    " + ",\n    ".join(connected) + "\n);"


def _net(layer: Layer, port: str, is_input: bool, nets: dict[str, str]) -> str:
    if port in nets:
        return nets[port]
    tied = any(port.startswith(prefix) and kernel in ("", layer.kernel) for prefix, kernel in _TIED)
    if is_input and not tied:
        raise BuildError(
            f"input {port!r} of layer {layer.name!r} would be left open, so the design is not stitched"
        )
    return "1'b0" if is_input else ""
