"""Draw the pictures of README.md, docs/rtl.md and of the digits examples: `python docs/pictures/draw.py [BUILD...]`.

The flow is drawn from the table here. With folders of builds, their block diagrams are drawn too, and of the MLP the
handshakes of a frame; the shipped ones are those of blueprints/digits_mlp_rtl.yaml and digits_residual_rtl.yaml.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.block_diagram import block_diagram, standing_alone
from brainsmith.rtl.drawing.block_plan import read_plan
from brainsmith.rtl.drawing.theme import arrow, svg_file
from brainsmith.rtl.drawing.wave_drawing import draw_wave

HERE = Path(__file__).parent
FRAME = 3
TITLES = {"mlp": "The digits MLP as a circuit", "residual": "The residual digits CNN as a circuit"}
COLUMN, BOX, LEFT = 184, 164, 24
TOOLS, STEPS, FILES, OUTPUTS = 128, 170, 296, 440
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'
STYLE = """
text{fill:var(--ink);font:11.5px var(--sans)}
.soft{fill:var(--soft)}
.name{font:650 12.5px var(--mono)}
.file{font:11.5px var(--mono)}
.step{fill:var(--node);stroke:var(--compute);stroke-width:1.8}
.around{fill:var(--node);stroke:var(--line-strong)}
.golden{fill:var(--node);stroke:var(--threshold);stroke-width:1.8}
.left{fill:var(--sunk);stroke:var(--line-strong);stroke-dasharray:4 3}
.tool{fill:var(--track)}
.flow{fill:none;stroke:var(--edge);stroke-width:1.6}
.leaves{fill:none;stroke:var(--edge);stroke-width:1.2;stroke-dasharray:2 3}
.arrow{fill:var(--edge)}
.extent{stroke:var(--movement);stroke-width:2.2;fill:none}
"""
# Name, tool, what it does, what it leaves.
RTL_STEPS = (
    ("rtl_codegen", "FINN's generators", ("width converters, then", "Verilog of every layer"), ("rtl/layers/",)),
    (
        "rtl_stitch", "FINN's RTL, by rules", ("one top module with", "AXI-Stream ports"),
        ("rtl/design/", "  hdl/  memory/", "  filelist.f", "  design.json"),
    ),
    (
        "rtl_size_fifos", "Verilator, g++", ("gauges, then the least", "depths that keep the rate"),
        ("rtl/design/ again", "report/", "  rtl_fifos.json"),
    ),
    (
        "rtl_simulate", "Verilator, g++", ("every golden frame, with", "and without stalls"),
        ("rtl/golden/", "report/", "  rtl_simulation.json"),
    ),
    (
        "rtl_synthesise", "Yosys", ("LUT, FF, BRAM, DSP:", "each layer, and all"),
        ("report/", "  rtl_synthesis.json"),
    ),
    (
        "rtl_package", "", ("sources, vectors, IP-XACT,", "Vivado script, bench"),
        ("accelerator/",),
    ),
)  # fmt: skip
EXTENTS = (("output: rtl", 2), ("output: simulated", 3), ("output: synthesised", 4))


def text(words: str, x: float, y: float, style: str = "", anchor: str = "middle") -> Markup:
    """Write words."""
    return tag("text", words, x=x, y=y, class_=style or None, text_anchor=anchor, style="white-space:pre")


def box(x: float, y: float, width: float, height: float, style: str, lines: list[tuple[str, str]]) -> Markup:
    """Draw a box with lines of words in its middle."""
    first = y + height / 2 - 8 * (len(lines) - 1) + 4
    words = [text(line, x + width / 2, first + 16 * index, kind) for index, (line, kind) in enumerate(lines)]
    return tag("g", tag("rect", x=x, y=y, width=width, height=height, rx=6, class_=style), words)


def line(path: str, style: str = "flow") -> Markup:
    """Draw an arrow."""
    return tag("path", d=path, class_=style, marker_end="url(#arrow)")


def middle(column: int) -> float:
    """Return the middle of a column."""
    return LEFT + COLUMN * column + BOX / 2


def flow() -> str:
    """Return the picture of the whole flow."""
    parts = [*_front(), *_golden()]
    for column, (name, tool, does, leaves) in enumerate(RTL_STEPS):
        parts += _step(column, name, tool, does)
        parts += _leaves(column, leaves)
    parts += _extents()
    width, height = LEFT * 2 + COLUMN * 5 + BOX, OUTPUTS + 92
    title = "From hardware layers to a verified, packed accelerator: the steps, their tools, what each leaves"
    return svg_file(title, parts, width, height, f"svg{{--mono:{MONO}}}{STYLE}", [arrow("arrow")])


def _front() -> list[Markup]:
    """Draw what comes before the RTL steps."""
    y, height = 24, 52
    gap = LEFT + BOX
    return [
        box(LEFT, y, BOX, height, "left", [("model.onnx", "file"), ("blueprint.yaml", "file")]),
        line(f"M{gap} 50H{LEFT + COLUMN}"),
        box(
            LEFT + COLUMN, y, BOX, height, "around", [("cleanup ... specialize,", ""), ("fold, estimate", "")]
        ),
        line(f"M{gap + COLUMN} 50H{LEFT + 2 * COLUMN}"),
        box(
            LEFT + 2 * COLUMN,
            y,
            BOX,
            height,
            "around",
            [("hardware layers,", ""), ("folded, RTL backends", "")],
        ),
        line(f"M{middle(2)} {y + height}V102H{LEFT - 10}V{STEPS + 40}H{LEFT}"),
    ]


def _golden() -> list[Markup]:
    """Draw what the circuit is compared with."""
    y, height = 24, 52
    x = LEFT + 3 * COLUMN
    return [
        line(f"M{x - COLUMN + BOX} 50H{x}"),
        box(x, y, BOX, height, "golden", [("golden model:", ""), ("the layers in Python", "")]),
        box(x + COLUMN, y, BOX, height, "left", [("golden inputs,", ""), ("or random ones", "")]),
        line(f"M{x + COLUMN} 50H{x + BOX}"),
        line(f"M{x + BOX / 2} {y + height}V102H{x + BOX + 10}V{STEPS + 22}H{x + BOX}"),
        text("inputs and results, bit for bit", x + BOX + 20, 106, "soft", "start"),
    ]


def _step(column: int, name: str, tool: str, does: tuple[str, ...]) -> list[Markup]:
    x = LEFT + COLUMN * column
    lines = [(name, "name"), *((words, "soft") for words in does)]
    drawn = [box(x, STEPS, BOX, 80, "step", lines)]
    if tool:
        pill = tag("rect", x=x + 10, y=TOOLS, width=BOX - 20, height=24, rx=12, class_="tool")
        drawn += [pill, text(tool, x + BOX / 2, TOOLS + 16), line(f"M{x + BOX / 2} {TOOLS + 24}V{STEPS}")]
    if column < len(RTL_STEPS) - 1:
        drawn.append(line(f"M{x + BOX} {STEPS + 40}H{x + COLUMN}"))
    return drawn


def _leaves(column: int, files: tuple[str, ...]) -> list[Markup]:
    x, height = LEFT + COLUMN * column, 16 * len(files) + 18
    names = [text(name, x + 12, FILES + 22 + 16 * index, "file", "start") for index, name in enumerate(files)]
    card = tag("rect", x=x, y=FILES, width=BOX, height=height, rx=3, class_="left")
    return [line(f"M{x + BOX / 2} {STEPS + 80}V{FILES}", "leaves"), card, *names]


def _extents() -> list[Markup]:
    """Draw how far each output goes; all end with the package."""
    parts = []
    for index, (name, last) in enumerate(EXTENTS):
        y, end = OUTPUTS + 34 * index, LEFT + COLUMN * last + BOX
        parts.append(tag("path", d=f"M{LEFT} {y - 6}v12M{LEFT} {y}H{end}M{end} {y - 6}v12", class_="extent"))
        parts.append(text(name, LEFT + 10, y - 6, "file", "start"))
        parts.append(text("then rtl_package", end + 10, y + 4, "soft", "start"))
    return parts


def circuit_pictures(build: Path) -> dict[str, str]:
    """Return the pictures of a build by their names: its block diagram, and of the MLP the handshakes of a frame."""
    report = json.loads((build / "report.json").read_text("utf-8"))
    name, plan = report["model"]["name"], read_plan(report["rtl"]["design"])
    pictures = {f"digits_{name}_blocks.svg": standing_alone(block_diagram(plan, TITLES[name]))}
    if name == "mlp":
        pictures["digits_mlp_wave.svg"] = draw_wave(build, FRAME).svg
    return pictures


def write(name: str, content: str) -> None:
    """Write a picture beside this file, and say how large it is."""
    path = HERE / name
    path.write_text(content.rstrip() + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main(words: list[str]) -> None:
    """Draw the flow, and the circuits of the builds whose folders are given."""
    write("rtl_flow.svg", flow())
    for build in map(Path, words):
        for name, content in circuit_pictures(build).items():
            write(name, content)


if __name__ == "__main__":
    main(sys.argv[1:])
