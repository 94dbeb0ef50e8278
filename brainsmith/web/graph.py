"""Draw a model's graph as SVG, and hand the script what a click on a node shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brainsmith.web.content import Edge, Graph, Layer, Node, text
from brainsmith.web.figures import count, plural
from brainsmith.web.layers import measures
from brainsmith.web.layout import Layout, Point, layered
from brainsmith.web.markup import Markup, tag

MARGIN = 14
# A taller drawing, in pixels, is printed over several pages, because on one it could not be read.
LONG = 2400
# Widths of an average character in pixels, of the widest of the fonts that the style sheet names.
CHARACTER, SMALL_CHARACTER = 7.9, 6.2
LEAST_WIDTH, MOST_WIDTH = 104, 280
PLAIN_HEIGHT, LAYER_HEIGHT, PORT_HEIGHT = 42, 62, 30

FAMILIES = {
    "port": "input, output",
    "compute": "matrix, convolution",
    "threshold": "quantiser, threshold, activation",
    "arithmetic": "element-wise",
    "movement": "data movement, shape",
    "other": "other",
}
# Parts of operator names in lower case; `=` stands before a whole name. The first line with a part gives the
# family, so that ConvolutionInputGenerator is no convolution.
_MARKS = {
    "port": ("=input", "=output"),
    "movement": (
        "reshape", "=transpose", "flatten", "squeeze", "im2col", "pad", "concat", "split", "slice", "gather",
        "fifo", "datawidth", "dwc", "inputgenerator", "duplicate", "iodma", "shuffle", "crop", "upsample",
        "resize", "=shape", "space", "streamingdataflow", "lookup",
    ),
    "compute": ("matmul", "mvau", "vvau", "conv", "gemm", "matrixvector", "vectorvector", "einsum"),
    "threshold": (
        "quant", "threshold", "relu", "sigmoid", "tanh", "softmax", "gelu", "trunc", "=clip", "=sign",
    ),
    "arithmetic": ("add", "mul", "sub", "div", "norm", "pow", "sqrt", "elementwise", "mean", "sum"),
}  # fmt: skip


@dataclass(frozen=True)
class Drawing:
    """A drawn graph.

    Attributes:
        svg: The drawing.
        details: What the script shows of each node.
        families: The families of operators that it has, in the legend's order.
        places: The id of each hardware layer's node, by the layer's index.
        dangling: How many edges could not be drawn, because they name an absent node.
    """

    svg: Markup
    details: dict[str, object]
    families: tuple[str, ...]
    places: dict[int, str]
    dangling: int


def family(op_type: str) -> str:
    """Say which family an operator belongs to; only a colour depends on it."""
    name = op_type.lower()
    for found, marks in _MARKS.items():
        if any(name == mark[1:] if mark[0] == "=" else mark in name for mark in marks):
            return found
    return "other"


def draw(graph: Graph, layers: Sequence[Layer], key: str, title: str) -> Drawing:
    """Draw one graph.

    Args:
        graph: Its nodes and edges.
        layers: The hardware layers that nodes refer to.
        key: A prefix for the ids of this drawing's elements.
        title: What the drawing shows, for readers who do not see it.
    """
    busiest = max((layer.cycles or 0 for layer in layers), default=0)
    shown = [_Box.of(node, layers, busiest) for node in graph.nodes]
    anchors = frozenset(i for i, node in enumerate(graph.nodes) if node.op_type == "Input")
    placed = layered(
        [(box.width, box.height) for box in shown], [(e.source, e.target) for e in graph.edges], anchors
    )
    width, height = placed.width + 2 * MARGIN, placed.height + 2 * MARGIN
    svg = tag(
        "svg",
        tag("title", f"{title}: {plural(len(graph.nodes), 'node')}, {plural(len(graph.edges), 'edge')}"),
        tag(
            "g",
            tag("g", [_edge(i, e, placed.routes[i]) for i, e in enumerate(graph.edges)], class_="edges"),
            tag(
                "g",
                [_node(f"{key}-{i}", box, placed.corners[i]) for i, box in enumerate(shown)],
                class_="nodes",
            ),
            transform=f"translate({MARGIN} {MARGIN})",
        ),
        class_="graph long" if height > LONG else "graph",
        role="group",
        aria_label=title,
        viewBox=f"0 0 {width:.1f} {height:.1f}",
        width=round(width),
        height=round(height),
    )
    used = {box.family for box in shown}
    places = {node.layer: f"{key}-{i}" for i, node in enumerate(graph.nodes) if node.layer is not None}
    families = tuple(name for name in FAMILIES if name in used)
    return Drawing(svg, _details(graph, layers, placed), families, places, graph.dangling)


@dataclass(frozen=True)
class _Box:
    """What a node shows: heading, a line of type and shape, and for a hardware layer its figures."""

    node: Node
    heading: str
    line: str
    figures: str
    load: float | None
    family: str
    width: float
    height: float

    @classmethod
    def of(cls, node: Node, layers: Sequence[Layer], busiest: float) -> _Box:
        layer = None if node.layer is None else layers[node.layer]
        kind = family(node.op_type)
        heading = (node.name if kind == "port" else node.op_type) or node.name
        line = "  ".join(part for part in (node.datatype, node.shape) if part)
        figures = _figures(layer) if layer else ""
        load = layer.cycles / busiest if layer and layer.cycles is not None and busiest else None
        height = LAYER_HEIGHT if layer else PLAIN_HEIGHT if line else PORT_HEIGHT
        wanted = (
            max(len(heading) * CHARACTER, len(line) * SMALL_CHARACTER, len(figures) * SMALL_CHARACTER) + 26
        )
        width = min(MOST_WIDTH, max(LEAST_WIDTH, wanted))
        return cls(node, heading, line, figures, load, kind, round(width), height)

    def fit(self, words: str, character: float) -> str:
        room = int((self.width - 20) / character)
        return words if len(words) <= room else f"{words[: room - 1]}…"


def _figures(layer: Layer) -> str:
    parallel = [
        f"{key} {text(layer.attributes[key])}"
        for key in ("PE", "SIMD")
        if layer.attributes.get(key) is not None
    ]
    cycles = [] if layer.cycles is None else [f"{count(layer.cycles)} cycles"]
    return " · ".join(([layer.backend] if layer.backend else []) + parallel + cycles)


def _node(element_id: str, box: _Box, corner: Point) -> Markup:
    names = [box.node.op_type, box.node.name, box.line, box.figures]
    top = box.load == 1
    spoken = ", ".join(dict.fromkeys(name for name in names if name)) + (", bottleneck" if top else "")
    lines = [
        tag(
            "text",
            box.fit(box.heading, CHARACTER),
            class_="op",
            x=13,
            y=18 if box.height > PORT_HEIGHT else 19,
        )
    ]
    if box.line:
        lines.append(tag("text", box.fit(box.line, SMALL_CHARACTER), class_="type", x=13, y=34))
    if box.figures:
        lines.append(tag("text", box.fit(box.figures, SMALL_CHARACTER), class_="type", x=13, y=49))
    if box.load is not None:
        lines.append(tag("rect", class_="load-track", x=13, y=54, width=box.width - 26, height=3, rx=1))
        lines.append(
            tag(
                "rect", class_="load", x=13, y=54, width=max(1.0, box.load * (box.width - 26)), height=3, rx=1
            )
        )
    return tag(
        "g",
        tag("title", spoken),
        tag(
            "rect",
            class_="box",
            width=box.width,
            height=box.height,
            rx=box.height / 2 if box.family == "port" else 5,
        ),
        None
        if box.family == "port"
        else tag("rect", class_="strip", x=0, y=0, width=5, height=box.height, rx=2),
        lines,
        id=element_id,
        class_=f"node {box.family}{' top' if top else ''}",
        role="img",
        aria_label=spoken,
        transform=f"translate({corner[0]:.1f} {corner[1]:.1f})",
    )


def _edge(index: int, edge: Edge, route: list[Point]) -> Markup | None:
    if not route:
        return None
    what = "  ".join(part for part in (edge.tensor, edge.datatype, edge.shape) if part)
    return tag("path", tag("title", what), class_="edge", data_edge=index, d=_curve(route))


def _curve(route: list[Point]) -> str:
    """Join points by curves that leave and arrive vertically."""
    (x, y), *rest = route
    parts = [f"M{x:.1f} {y:.1f}"]
    for to_x, to_y in rest:
        if abs(to_x - x) < 0.5:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return "".join(parts)


def _details(graph: Graph, layers: Sequence[Layer], placed: Layout) -> dict[str, object]:
    """List what the script needs: each node's texts, its row in the drawing, and the edges by index."""
    nodes = []
    for index, node in enumerate(graph.nodes):
        layer = None if node.layer is None else layers[node.layer]
        nodes.append({
            "title": node.op_type or node.name,
            "rows": _rows(node, layer),
            "layer": node.layer,
            "at": [placed.rows[index], round(placed.corners[index][0])],
        })  # fmt: skip
    edges = [[edge.source, edge.target, edge.tensor, edge.datatype, edge.shape] for edge in graph.edges]
    return {"nodes": nodes, "edges": edges}


def _rows(node: Node, layer: Layer | None) -> list[list[str]]:
    rows = [["Name", node.name], ["Output", "  ".join(part for part in (node.datatype, node.shape) if part)]]
    if layer:
        rows += [["Layer", layer.name], ["Backend", layer.backend]]
        rows += [[name, count(value)] for name, value in measures(layer).items() if value is not None]
        rows += [[key, text(value)] for key, value in layer.attributes.items()]
    return [row for row in rows if row[1]]
