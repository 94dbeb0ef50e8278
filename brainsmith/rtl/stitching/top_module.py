"""The Verilog of a design's top module, and the plan of its simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from brainsmith.errors import BuildError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.ports import Stream
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan
from brainsmith.rtl.stitching.design import DESIGN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.rtl.stitching.design import Design, Layer, Link

_CLOCKS = {"ap_clk": "ap_clk", "ap_clk2x": "ap_clk", "ap_rst_n": "ap_rst_n"}
"""Nothing here is pumped, so the second clock is the first."""

_TIED = (("s_axilite_", ""), ("s_axis_0_", "memstream"), ("in1_V_", "Thresholding_rtl"))
"""Inputs that a design leaves alone, and in which kernel: AXI-Lite in any, and what selects one of a memory's sets."""

_KINDS = ("data", "valid", "ready")

DEPTH, FILL = "_depth", "_maxcount"
"""What follows a link's name at the ports of an adjustable FIFO: its depth goes in, the most beats in it come out."""


def top_module(design: Design, capacities: Mapping[str, int] | None = None, probes: bool = False) -> str:
    """Return the top module.

    Args:
        design: What is in it.
        capacities: Of links, in beats, that get an adjustable FIFO instead of one with their depth. Then the module
            has an input `<link>_depth` and an output `<link>_maxcount` for each.
        probes: Whether the streams of `probe_design` are outputs.

    Raises:
        BuildError: An input of a layer would be left open.
    """
    chosen = capacities or {}
    ports = ["input ap_clk", "input ap_rst_n"]
    for stream in (*design.inputs, *design.outputs):
        fed = stream in design.inputs
        forward, back = ("input", "output") if fed else ("output", "input")
        ports += [f"{forward} [{stream.bits - 1}:0] {stream.name}_tdata", f"{forward} {stream.name}_tvalid"]
        ports.append(f"{back} {stream.name}_tready")
    for name in chosen:
        ports += [f"input [31:0] {name}{DEPTH}", f"output [31:0] {name}{FILL}"]
    watched = probe_design(design) if probes else ()
    ports += [port for probe in watched for port in _probe_ports(probe)]
    parts = [f"module {design.top} (\n    " + ",\n    ".join(ports) + "\n);"]
    parts += [_link(link, chosen.get(link.name, 0)) for link in design.links]
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
        side: `source`, where its beats are given, or `target`, behind its FIFO.
    """

    link: Link
    side: Literal["source", "target"]

    @property
    def stream(self) -> Stream:
        """The ports."""
        name = f"probe_{self.link.name}_{self.side}"
        return Stream(name, *(f"{name}_{kind}" for kind in _KINDS))


def probe_design(design: Design) -> tuple[Probe, ...]:
    """Return where a design with probes is watched: at the source of each tensor, and behind each FIFO."""
    carrying = [link for link in design.links if not link.weights]
    return tuple(
        Probe(link, side)
        for link in carrying
        for side in (("source", "target") if link.depth else ("source",))
    )


def _link(link: Link, capacity: int) -> str:
    """Return the nets at both ends of a link, and what lies between them."""
    nets = [f"wire [{link.bits - 1}:0] {link.name}_{side}_data;" for side in ("from", "to")]
    nets += [f"wire {link.name}_{side}_{kind};" for side in ("from", "to") for kind in ("valid", "ready")]
    return "\n".join([*nets, *_design_ends(link), _between(link, capacity)])


def _probe_ports(probe: Probe) -> list[str]:
    stream = probe.stream
    return [
        f"output [{probe.link.bits - 1}:0] {stream.data}", f"output {stream.valid}", f"output {stream.ready}"
    ]  # fmt: skip


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


def _between(link: Link, capacity: int) -> str:
    name = link.name
    if not capacity and not link.depth:
        return "\n".join(_joined(f"{name}_from_", f"{name}_to_"))
    module, parameters = "fifo", f".DEPTH({link.depth}), .DATA_WIDTH({link.bits})"
    more = ".count(), .maxcount()"
    if capacity:
        module, parameters = "adjustable_fifo", f".WIDTH({link.bits}), .CAPACITY({capacity})"
        more = f".depth({name}{DEPTH}), .maxcount({name}{FILL})"
    return (
        f"{module} #({parameters}) {name}_fifo (\n"
        "    .clk(ap_clk), .rst(!ap_rst_n),\n"
        f"    .idat({name}_from_data), .ivld({name}_from_valid), .irdy({name}_from_ready),\n"
        f"    .odat({name}_to_data), .ovld({name}_to_valid), .ordy({name}_to_ready),\n"
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
