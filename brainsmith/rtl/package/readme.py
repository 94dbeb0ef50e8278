"""The README of a package: what it is, how tensors lie at its ports, how fast it is, and how to use it."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.rtl.package.component import LIBRARY, VENDOR, VERSION
from brainsmith.rtl.package.frame_order import value_type
from brainsmith.rtl.package.licences import licence_table
from brainsmith.rtl.stitching.design import MEMORY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brainsmith.rtl.package.contents import PackageFacts
    from brainsmith.rtl.stitching.design import Design, DesignStream

TEMPLATE = Path(__file__).with_name("readme_template.md")


def readme(design: Design, frames: int, facts: PackageFacts) -> str:
    """Return the README as Markdown.

    Args:
        design: What the package holds.
        frames: How many golden vectors there are.
        facts: What else is known of it.
    """
    streams = [_stream(one, one in design.inputs, facts) for one in (*design.inputs, *design.outputs)]
    return TEMPLATE.read_text("utf-8").format(
        top=design.top,
        version=facts.version,
        part=facts.part,
        period=facts.period,
        mhz=1000 / facts.period,
        layers=_layers(design),
        host=_host(facts),
        frames=frames,
        golden_from=facts.golden_from,
        streams="\n\n".join([_ports(design), *streams]),
        speed=_speed(design, facts),
        resources=_resources(facts),
        core=f"{VENDOR}:{LIBRARY}:{design.top}:{VERSION}",
        licences=licence_table(design, facts),
    )


def _host(facts: PackageFacts) -> str:
    if not facts.host:
        return ""
    parts = {place: [node["operator"] for node in facts.host[key]] for place, key in _PLACES.items()}
    listed = " and ".join(f"{place} {', '.join(names)}" for place, names in parts.items() if names)
    return (
        f"\n\nNot in it, and left to the host: {listed}. `host.json` lists these operators with their constants,\n"
        "and `host.py` computes them with numpy alone."
    )


_PLACES = {"before it": "before", "after it": "behind"}


def _quantised(stream: str, facts: PackageFacts) -> list[str]:
    """Say which levels the host gives to a stream."""
    ends = facts.host["accelerator"]["inputs"] if facts.host else []
    found = next((one["quantiser"] for one in ends if one["stream"] == stream and "quantiser" in one), None)
    if found is None:
        return []
    scale = f"{found['scale'][0]:.9g}" if len(found["scale"]) == 1 else f"{len(found['scale'])} scales"
    mode = f", rounded by {found['rounding_mode']}" if "rounding_mode" in found else ""
    return [
        f"They are the levels of a quantiser that the host computes: x / {scale} + {found['zero_point']:g}{mode}."
    ]


def _layers(design: Design) -> str:
    kernels = [layer.kernel for layer in design.layers if layer.kernel != MEMORY]
    counts = [f"{kernels.count(kernel)} {kernel}" for kernel in dict.fromkeys(kernels)]
    fifos = sum(link.depth > 0 for link in design.links)
    return f"{plural(len(kernels), 'layer')} ({', '.join(counts)}) and {plural(fifos, 'FIFO')} between them"


def _ports(design: Design) -> str:
    rows = [
        "| port | direction | bits | what it is |",
        "| --- | --- | --- | --- |",
        "| `ap_clk` | in | 1 | the clock; everything happens at its rising edge |",
        "| `ap_rst_n` | in | 1 | the reset, synchronous, active low; hold it for 16 cycles, and for 100 ns at least |",
    ]
    for streams, forward, back in ((design.inputs, "in", "out"), (design.outputs, "out", "in")):
        for stream in streams:
            rows += [
                f"| `{stream.name}_tdata` | {forward} | {stream.bits} | a beat of tensor `{stream.layout.tensor}` |",
                f"| `{stream.name}_tvalid` | {forward} | 1 | a beat is offered |",
                f"| `{stream.name}_tready` | {back} | 1 | it is taken |",
            ]
    return "## Ports\n\n" + "\n".join(rows) + "\n\nThere is no TLAST and no TKEEP: frames follow each other."


def _stream(stream: DesignStream, fed: bool, facts: PackageFacts) -> str:
    layout = stream.layout
    low, high = layout.span
    used = layout.lanes * layout.lane_bits
    unused = stream.bits - used
    lines = [
        f"### {stream.name}",
        "",
        f"One frame is a tensor of shape {_shape(layout.shape)} of {value_type(layout)} ({low:,} to {high:,}): "
        f"{prod(layout.shape):,} values in\n{plural(layout.beats, 'beat')} of {layout.lanes} each. "
        "Values follow each other in row-major order, the last axis fastest.",
        f"Value i of a beat is `tdata[{layout.lane_bits}*i +: {layout.lane_bits}]`: the first lies in the lowest bits"
        f"{', in two’s complement' if layout.signed else ', 0 for -1 and 1 for 1' if layout.bipolar else ''}.",
    ]
    if unused:
        what = "not read" if fed else "without meaning"
        lines.append(f"The highest {unused} bits of {stream.bits} are {what}.")
    lines += _quantised(stream.name, facts) if fed else []
    order = facts.orders.get(stream.name)
    if order is not None and (order.shape not in (layout.shape, layout.shape[1:]) or order.moves):
        lines.append(
            f"The network's own frames have the shape {_shape(order.shape)}; with their axes in the order "
            f"{_shape(order.axes)} their values come in this\norder. `brainsmith simulate` takes both."
        )
    return "\n".join(lines)


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _speed(design: Design, facts: PackageFacts) -> str:
    """Return what was measured, or what is estimated."""
    found = facts.simulated or {}
    measured = found.get("latency_cycles") is not None
    single = measured and found["interval_cycles"] is None  # an interval needs two frames
    interval = float(found["interval_cycles"] if measured and not single else design.interval)
    guess = design.latency if facts.latency is None else facts.latency
    latency = float(found["latency_cycles"] if measured else guess)
    rate = 1e9 / (interval * facts.period) if interval else 0.0
    text = (
        f"## Speed\n\nA frame every {interval:,.10g} cycles, which are {rate:,.0f} frames per second at "
        f"{1000 / facts.period:g} MHz; latency {latency:,.0f} cycles,\n{latency * facts.period / 1000:,.2f} µs"
    )
    parts = found.get("parts")
    if parts:
        missing = "; ".join(parts["uncovered"])
        return (
            f"{text}. These are estimates: the circuit was simulated in parts,\n{parts['text']}.\n"
            f"Not covered: {missing}."
        )
    if not measured:
        return f"{text}. These are estimates: the circuit was not simulated."
    if single:
        return (
            f"{text}. The latency was measured in simulation of the RTL, and the estimate is {guess:,}. The "
            f"interval is an\nestimate: it was not measured, because one frame was simulated.{_checked(design, found)}"
        )
    estimates = f"the estimates are {design.interval:,} and {guess:,}"
    return f"{text}. Both were measured in simulation of the RTL; {estimates}.{_checked(design, found)}"


def _checked(design: Design, found: Mapping[str, Any]) -> str:
    frames, stalled = found.get("frames"), found.get("stalled_frames")
    if frames is None or stalled is None:
        return ""
    slices = any(layer.kernel.startswith(("MVAU", "VVAU")) for layer in design.layers)
    cores = (
        "\nThe matrix-vector cores ran as FINN's behavioural description, not as DSP slices."
        if slices
        else ""
    )
    return (
        f"\n{frames:,} frames were compared with the golden model, {found.get('mismatches', 0):,} of them wrong; with "
        f"random stalls at all ends\n{stalled:,}, and {found.get('stalled_mismatches', 0):,} wrong.{cores}"
    )


def _resources(facts: PackageFacts) -> str:
    found = facts.synthesised
    if not found:
        return "## Resources\n\nNot known: the circuit was not synthesised."
    names = (
        ("lut", "LUT"), ("lutram", "LUTRAM"), ("ff", "FF"), ("bram18", "BRAM18"), ("uram", "URAM"), ("dsp", "DSP"),
    )  # fmt: skip
    cells = [(label, f"{found[name]:,}") for name, label in names if name in found]
    heading = " | ".join(label for label, _ in cells)
    values = " | ".join(value for _, value in cells)
    notes = "".join(f"\n- {note}" for note in found.get("notes", ()))
    return (
        f"## Resources\n\nYosys gives for {found.get('family', facts.part)}:\n\n| {heading} |\n"
        f"|{' --- |' * len(cells)}\n| {values} |" + (f"\n{notes}" if notes else "") + _placed(found)
    )


def _placed(found: Mapping[str, Any]) -> str:
    place = found.get("place")
    if not place:
        return ""
    return (
        f"\n\nPlaced and routed by nextpnr on {place['device']} it reaches {place['fmax_mhz']:g} MHz, with "
        f"{place['lut']:,} LUTs of four inputs,\n{place['ff']:,} flip-flops, {place['bram']:,} block RAMs and "
        f"{place['dsp']:,} multipliers. This does not predict the clock on the part that it was built for."
    )
