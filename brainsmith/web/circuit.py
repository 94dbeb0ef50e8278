"""The section of the circuit: its block diagram, what its simulation measured, its FIFOs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brainsmith import figures
from brainsmith.figures import number
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, fields, first_text, items, numbers
from brainsmith.rtl.drawing.block_diagram import block_diagram
from brainsmith.rtl.drawing.block_plan import Plan, read_plan, short_ends
from brainsmith.web.design_layers import DesignLayer
from brainsmith.web.elements import cell, count_cell, graph_frame, scrolling, section, sentence, table
from brainsmith.web.wave_figure import wave_figure

_NONE = "The build made no circuit: its output was estimates only, or it ended earlier."


def circuit_section(
    rtl: object, layers: Sequence[DesignLayer], clock_ns: float | None, wave: str = ""
) -> Markup:
    """Show the stitched design, and how it ran beside what was estimated.

    Args:
        rtl: The report's `rtl`.
        layers: Those that the diagram's blocks lead to.
        clock_ns: Clock period, for times.
        wave: The picture of a frame's handshakes, the content of an SVG file; empty where there is none.
    """
    circuit = fields(rtl)
    if not circuit:
        return section("circuit", "Circuit", sentence(_NONE))
    plan = read_plan(circuit.get("design"))
    places = {layer.name: f"layer-{layer.index}" for layer in layers}
    parts = [
        _diagram(plan, places),
        tag("div", _runs(circuit), _cycles(circuit, clock_ns), class_="halves"),
        wave_figure(fields(circuit.get("wave")), wave, number(circuit.get("interval_cycles"))),
        _fifos(items(circuit.get("fifos")), fields(circuit.get("sizing"))),
    ]
    return section("circuit", "Circuit", parts, note=_note(plan))


def _note(plan: Plan) -> str:
    memories = sum(block.is_memory for block in plan.blocks)
    layers = sum(not block.is_port for block in plan.blocks) - memories
    top = f"{plan.top}: " if plan.top else ""
    return f"{top}{figures.plural(layers, 'layer')}, {figures.plural(memories, 'weight memory', 'weight memories')}."


def _diagram(plan: Plan, places: Mapping[str, str]) -> Markup:
    if not plan.blocks:
        return sentence("The report does not hold the design, so it cannot be drawn.")
    lost = f"; {figures.plural(plan.lost, 'link')} of absent layers left out" if plan.lost else ""
    words = (
        f"the design as it is stitched: streams with their widths, FIFOs with their depths in beats, estimated "
        f"cycles per frame{lost}"
    )
    canvas = scrolling(
        "Block diagram", block_diagram(plan, "Block diagram", places), "canvas", data_zoom="circuit"
    )
    return graph_frame("Block diagram", words, canvas, tools="circuit")


def _runs(circuit: Fields) -> Markup:
    title = tag("h3", "Frames against the golden model")
    parts = fields(circuit.get("parts"))
    if parts:
        return tag("div", title, _in_parts(parts), _layers_alone(items(circuit.get("layers"))))
    if number(circuit.get("frames")) is None:
        return tag("div", title, sentence("The circuit was not simulated."))
    rows = [_run("without stalls", circuit, "frames", "mismatches", stalled=False)]
    if number(circuit.get("stalled_frames")):
        rows.append(_run("with random stalls", circuit, "stalled_frames", "stalled_mismatches", stalled=True))
    columns = ("Run", "Frames", "Mismatches", "Stalled at input", "Stalled at output")
    return tag("div", title, table("Simulated frames", columns, rows, range(1, 5)), _remarks(circuit))


def _in_parts(parts: Fields) -> Markup:
    """Say what was simulated in place of the whole circuit, and what that does not show."""
    uncovered = "; ".join(str(one) for one in items(parts.get("uncovered")))
    words = (
        f"In parts: {first_text(parts, 'text')}. The whole was not simulated: {first_text(parts, 'whole')}."
    )
    return sentence(f"{words} Not covered: {uncovered}." if uncovered else words)


def _layers_alone(layers: Sequence[object]) -> Markup:
    """Show the layers that ran alone, with the cycles of a frame beside their estimates."""
    rows = []
    for layer in map(fields, layers):
        values, wrong, cycles, estimate = numbers(layer, "values", "wrong", "cycles", "estimate")
        figures_of = [count_cell(value) for value in (values, wrong, cycles, estimate)]
        rows.append(tag("tr", tag("th", first_text(layer, "name"), scope="row"), figures_of))
    columns = ("Layer alone", "Values", "Wrong", "Cycles", "Estimated")
    return table("Layers alone", columns, rows, range(1, 5))


def _run(name: str, circuit: Fields, frames: str, mismatches: str, *, stalled: bool) -> Markup:
    ran, wrong = numbers(circuit, frames, mismatches)
    kind = "open" if wrong is None else "bad" if wrong else "good"
    stalls = [_stalls(circuit, end) if stalled else cell("never", 0) for end in ("input", "output")]
    return tag(
        "tr",
        tag("th", name, scope="row"),
        count_cell(ran),
        tag("td", tag("span", figures.count(wrong), class_=f"state {kind}"), class_="number"),
        stalls,
    )


def _stalls(circuit: Fields, end: str) -> Markup:
    cycles = number(fields(circuit.get("stalled_cycles")).get(end))
    share = number(fields(circuit.get("stalled_shares")).get(end))
    part = "" if share is None or cycles is None else f" ({figures.share(share, 0)})"
    return cell(f"{figures.count(cycles)}{part}", cycles)


def _remarks(circuit: Fields) -> Markup | None:
    stalled, made, right, speed = numbers(
        circuit, "stalled_frames", "generated_frames", "accuracy", "cycles_per_second"
    )
    words = []
    if stalled:
        words.append(
            "Stalled: cycles in which the test bench stopped a stream; in brackets, their share of all cycles, in the run "
            "where it is smallest."
        )
    if circuit.get("random") is True:
        words.append("The frames were random: the build had no golden inputs.")
    if made:
        words.append(
            f"After the frames in the table, each run streamed {figures.plural(made, 'generated one')}: extreme values, "
            "patterns, and values around thresholds."
        )
    words += _alone([fields(layer) for layer in items(circuit.get("layers"))])
    if right is not None:
        words.append(f"The circuit's accuracy is {figures.percent(right)}.")
    if speed is not None:
        words.append(f"The simulation ran {figures.count(speed)} cycles per second.")
    return sentence(" ".join(words)) if words else None


def _alone(layers: Sequence[Fields]) -> list[str]:
    """State the result of running each layer alone."""
    values, wrong = (sum(number(layer.get(key)) or 0 for layer in layers) for key in ("values", "wrong"))
    if not values:
        return []
    ran = figures.plural(len(layers), "layer")
    return [
        f"Each of the {ran} was also simulated alone: {figures.count(wrong)} of {figures.count(values)} values differ."
    ]


def _cycles(circuit: Fields, clock_ns: float | None) -> Markup | None:
    rows = [
        _measure("interval", "from one frame to the next", circuit, clock_ns),
        _measure("latency", "of one frame alone", circuit, clock_ns),
    ]
    columns = ("Cycles", "Measured", "Estimated", "Ratio", "Time")
    title = tag("h3", "Cycles, measured beside the estimate")
    return tag("div", title, table("Measured cycles", columns, rows, range(1, 5)))


def _measure(key: str, what: str, circuit: Fields, clock_ns: float | None) -> Markup:
    measured, estimate = numbers(circuit, f"{key}_cycles", f"{key}_estimate")
    ratio = measured / estimate if measured is not None and estimate else None
    time = None if measured is None or not clock_ns else measured * clock_ns * 1e-9
    return tag(
        "tr",
        tag("th", key.capitalize(), tag("span", f" {what}", class_="kind"), scope="row"),
        cell(_exact(measured), measured),
        count_cell(estimate),
        cell(figures.ABSENT if ratio is None else f"{ratio:.3f}", ratio),
        cell(figures.seconds(time), time),
    )


def _exact(value: float | None) -> str:
    return figures.count(value) if value is None or value == round(value) else f"{value:,.2f}"


def _fifos(found: Sequence[object], sizing: Fields) -> Markup:
    title = tag("h3", "FIFOs")
    if not found:
        return tag("div", title, sentence("The design has no FIFOs."), class_="below")
    rows = [_fifo(index, fields(fifo)) for index, fifo in enumerate(found)]
    total = sum(number(fields(fifo).get("total_bits")) or 0 for fifo in found)
    label = [tag("td"), tag("th", "All FIFOs", scope="row"), tag("td", colspan=4)]
    foot = tag("tfoot", tag("tr", label, cell(figures.count(total))))
    columns = ("#", "From", "To", "Width", "Depth", "Gauge", "Bits")
    note = sentence(
        "Width in bits, depth in beats. The gauge is how far a FIFO without a limit fills up; from there, depths are "
        f"reduced as long as the interval stays the same.{_sized(sizing)}"
    )
    shown = table("FIFOs", columns, rows, {0, 3, 4, 5, 6}, foot)
    return tag("div", title, note, shown, class_="below")


def _sized(sizing: Fields) -> str:
    """Say what the search for depths came to."""
    gauge, tries = numbers(sizing, "gauge_bits", "simulations")
    words = ""
    if gauge is not None:
        words = f" With the gauges as depths, all FIFOs together would hold {figures.plural(gauge, 'bit')}."
    if tries is not None and sizing.get("minimal") is True:
        words += f" {figures.plural(tries, 'simulation')} showed that no single FIFO can be made smaller."
    return words + _gauged_alone(sizing)


def _gauged_alone(sizing: Fields) -> str:
    """Say that layers were gauged one by one, and of which that holds only for the frames that were simulated."""
    (alone,) = numbers(sizing, "layers_alone")
    if not alone:
        return ""
    never = [name for name in items(sizing.get("unsettled")) if isinstance(name, str)]
    words = (
        f" The gauges were read of {figures.plural(alone, 'layer')}, each simulated alone until it repeated"
    )
    if not never:
        return f"{words}: they hold for any number of frames."
    names = ", ".join(never)
    return f"{words}, but for {names}, whose state did not return: there they hold for the frames that were simulated."


def _fifo(index: int, fifo: Fields) -> Markup:
    source, target = short_ends(first_text(fifo, "from", "name"), first_text(fifo, "to"))
    return tag(
        "tr",
        cell(index + 1),
        tag("th", source or figures.ABSENT, scope="row"),
        tag("td", target or figures.ABSENT),
        [count_cell(value) for value in numbers(fifo, "bits", "depth", "gauge", "total_bits")],
    )
