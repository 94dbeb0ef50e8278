"""Draw the example of docs/integer.md, from Quant to threshold: `python docs/pictures/draw_integer.py`.

The curve and the thresholds are those that the step finds: nothing is drawn by hand.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from brainsmith.markup import Markup, tag
from brainsmith.plugins import steps
from brainsmith.rtl.drawing.theme import arrow, svg_file

FILE = Path(__file__).with_name("integer_layer.svg")
QONNX = "qonnx.custom_op.general"
INPUT, WEIGHT, OUTPUT, BIAS = 0.5, 0.25, 0.75, -0.25
WEIGHTS = (2.0, -1.0)
BITS = 2
WIDTH, HEIGHT, LEFT = 760, 436, 36
PLOT, LOWEST, LEVEL = 348, 330, 44
STYLE = """
text{fill:var(--ink);font:12px var(--sans)}
.soft{fill:var(--soft)}
.name{font-weight:650}
.float{fill:var(--node);stroke:var(--arithmetic);stroke-width:1.6}
.waits{fill:var(--sunk);stroke:var(--line-strong);stroke-dasharray:4 3}
.whole{fill:var(--node);stroke:var(--compute);stroke-width:1.8}
.steps{fill:var(--node);stroke:var(--threshold);stroke-width:1.8}
.flow{fill:none;stroke:var(--edge);stroke-width:1.6}
.arrow{fill:var(--edge)}
.curve{fill:none;stroke:var(--arithmetic);stroke-width:1.4}
.level{fill:var(--threshold)}
.threshold{stroke:var(--threshold);stroke-width:1.2;stroke-dasharray:3 3}
.axis{stroke:var(--line-strong)}
"""


def network() -> bytes:
    """Return the layer as an exporter writes it."""
    constants: list[tuple[str, object]] = [
        ("half", INPUT), ("quarter", WEIGHT), ("out", OUTPUT), ("zero", 0.0), ("four", 4.0), ("bits", float(BITS)),
        ("weights", np.asarray(WEIGHTS)[:, None] * WEIGHT), ("bias", [BIAS]),
    ]  # fmt: skip
    narrow = {"domain": QONNX, "narrow": 0, "rounding_mode": "ROUND"}
    nodes = [
        helper.make_node("Mul", ["pixels", "half"], ["values"], name="values"),
        helper.make_node(
            "Quant", ["weights", "quarter", "zero", "four"], ["w"], name="w", signed=1, **narrow
        ),
        helper.make_node("MatMul", ["values", "w"], ["sums"], name="sums"),
        helper.make_node("Add", ["sums", "bias"], ["biased"], name="biased"),
        helper.make_node("Relu", ["biased"], ["positive"], name="positive"),
        helper.make_node(
            "Quant", ["positive", "out", "zero", "bits"], ["y"], name="levels", signed=0, **narrow
        ),
    ]
    ends = (("pixels", [1, 2]), ("y", [1, 1]))
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
    held = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants]
    graph = helper.make_graph(nodes, "layer", values[:1], values[1:], held)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(QONNX, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def thresholds() -> tuple[list[int], int, int]:
    """Return the thresholds that the step finds, and the least and the greatest sum."""
    from onnx import ModelProto
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper

    model = ModelWrapper(ModelProto.FromString(network()))
    model.set_tensor_datatype("pixels", DataType["UINT4"])
    made = steps.integer(steps.cleanup(model, None), None)
    (node,) = made.get_nodes_by_op_type("MultiThreshold")
    rows = made.get_initializer(node.input[1])
    most = DataType["UINT4"].max()
    ends = [sum(min(w * most, 0) for w in WEIGHTS), sum(max(w * most, 0) for w in WEIGHTS)]
    return [int(value) for value in rows[0]], int(ends[0]), int(ends[1])


def words(content: str, x: float, y: float, style: str = "", anchor: str = "middle") -> Markup:
    """Write words."""
    return tag("text", content, x=x, y=y, class_=style or None, text_anchor=anchor)


def box(x: float, y: float, width: float, style: str, first: str, second: str) -> Markup:
    """Draw a box with two lines of words."""
    lines = [words(first, x + width / 2, y + 20, "name"), words(second, x + width / 2, y + 36, "soft")]
    return tag("g", tag("rect", x=x, y=y, width=width, height=46, rx=6, class_=style), lines)


def row(y: float, boxes: list[tuple[str, str, str]], width: float, gap: float) -> list[Markup]:
    """Draw boxes in a row, joined by arrows."""
    parts = []
    for at, (style, first, second) in enumerate(boxes):
        x = LEFT + at * (width + gap)
        parts.append(box(x, y, width, style, first, second))
        if at:
            parts.append(tag("path", d=f"M{x - gap} {y + 23}H{x}", class_="flow", marker_end="url(#arrow)"))
    return parts


def curve(found: list[int], low: int, high: int) -> list[Markup]:
    """Draw the level of each sum that can come in, and the thresholds."""
    from qonnx.custom_op.general.intquant import int_quant

    sums = np.arange(low, high + 1)
    floats = np.maximum(sums.astype(np.float32) * np.float32(INPUT * WEIGHT) + np.float32(BIAS), 0)
    levels = (
        int_quant(floats, np.float32(OUTPUT), np.float32(0), np.float32(BITS), False, False, "ROUND") / OUTPUT
    )
    most = (1 << BITS) - 1
    step = (WIDTH - 2 * LEFT - 40) / (high - low)

    def x(value: float) -> float:
        return round(LEFT + 40 + (value - low) * step, 1)

    def y(value: float) -> float:
        return round(LOWEST - value * LEVEL, 1)

    right, top = WIDTH - LEFT, y(most) - 14
    exact = [f"{x(n)} {y(min(value / OUTPUT, most + 0.3))}" for n, value in zip(sums, floats, strict=True)]
    parts = [tag("path", d="M" + "L".join(exact), class_="curve")]
    parts += [
        tag("path", d=f"M{LEFT + 40} {y(0)}H{right}M{LEFT + 40} {y(0)}V{top}", class_="axis", fill="none")
    ]
    for level in range(most + 1):
        parts.append(words(f"level {level}", LEFT + 32, y(level) + 4, "soft", "end"))
    for place in found:
        at = x(place) - step / 2
        parts.append(tag("path", d=f"M{at} {y(0) + 6}V{top}", class_="threshold"))
        parts.append(words(f"n \u2265 {place}", at, y(0) + 20))
    dots = [tag("circle", cx=x(n), cy=y(level), r=2.4) for n, level in zip(sums, levels, strict=True)]
    parts.append(tag("g", dots, class_="level"))
    parts.append(words(f"n = {low}", LEFT + 40, y(0) + 20, "soft"))
    parts.append(words(f"{high}", right, y(0) + 20, "soft"))
    return parts


def picture() -> str:
    """Return the drawing."""
    found, low, high = thresholds()
    network_row = [
        ("float", "x \u00d7 0.5", "4-bit inputs"),
        ("float", "MatMul", "weights \u00d7 0.25"),
        ("waits", "Add", f"bias {BIAS}"),
        ("waits", "Relu", "waits"),
        ("waits", "Quant", f"{BITS} bits, scale {OUTPUT}"),
    ]
    integer_row = [
        ("whole", "x", "UINT4"),
        ("whole", "MatMul", "weights 2, \u22121: integers n"),
        ("steps", "MultiThreshold", ", ".join(map(str, found))),
        ("waits", f"\u00d7 {OUTPUT}", "the next layer's scale"),
    ]
    parts = [
        words("The network", LEFT, 22, "name", "start"),
        *row(30, network_row, 116, 27),
        words(
            f"Every n that can come in, {low} to {high}: what waits, computed (line), and its level (dots)", LEFT, 106,
            "name", "start",
        ),
        *curve(found, low, high),
        words("The layer of integers", LEFT, 378, "name", "start"),
        *row(384, integer_row, 152, 26.6),
    ]  # fmt: skip
    title = "From Quant to threshold: a layer of QONNX, the level of each sum, and the layer of integers"
    return svg_file(title, parts, WIDTH, HEIGHT, STYLE, [arrow("arrow")])


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
