"""Draw one node of a graph: a box with its operator, and up to two lines below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.graph_drawing.operator_families import family
from brainsmith.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.graph_drawing.layered import Point

# Widths of an average character in pixels, of the widest of the fonts that the style sheets name.
CHARACTER, SMALL_CHARACTER = 8.6, 6.4
LEAST_WIDTH, MOST_WIDTH = 104, 280
HEIGHTS = (30, 42, 62)  # by the number of lines below the heading
LEFT = 13  # where a node's texts begin


@dataclass(frozen=True)
class Box:
    """What a node shows.

    Attributes:
        op_type: Its operator; the box has the colour of its family.
        heading: Its first line.
        lines: Up to two more, none of them empty.
        load: A layer's share of the cycles of the busiest layer, which is the bottleneck; None where it is unknown.
    """

    op_type: str
    heading: str
    lines: tuple[str, ...]
    load: float | None

    @property
    def family(self) -> str:
        """The family of its operator."""
        return family(self.op_type)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels: as wide as its texts, within limits."""
        longest = max(map(len, self.lines), default=0)
        wanted = max(len(self.heading) * CHARACTER, longest * SMALL_CHARACTER) + 2 * LEFT
        return round(min(MOST_WIDTH, max(LEAST_WIDTH, wanted))), HEIGHTS[len(self.lines)]

    def draw(self, corner: Point, also: Iterable[str] = (), **attributes: str | None) -> Markup:
        """Draw it at its place; its title and label say everything that it shows, and what `also` holds."""
        (width, height), port, top = self.size, self.family == "port", self.load == 1
        spoken = ", ".join(dict.fromkeys(words for words in (self.heading, *self.lines, *also) if words))
        return tag(
            "g",
            tag("title", spoken),
            tag("rect", class_="box", width=width, height=height, rx=height / 2 if port else 5),
            None
            if self.family in ("port", "memory")
            else tag("rect", class_="strip", width=5, height=height, rx=2),
            self._texts(int(width - 20)),
            None if self.load is None else self._bar(self.load, width - 2 * LEFT, height - 8),
            class_=f"node {self.family}{' top' if top else ''}",
            role="img",
            aria_label=spoken,
            transform=f"translate({corner[0]:.1f} {corner[1]:.1f})",
            **attributes,
        )

    def _texts(self, room: int) -> list[Markup]:
        """Write the lines, with white space between them for those who hear the page."""
        first = 18 if self.lines else 19
        words = shortened(self.heading, int(room / CHARACTER))
        written = [tag("text", words, class_="op", x=LEFT, y=first)]
        for line, y in zip(self.lines, (34, 49), strict=False):
            words = shortened(line, int(room / SMALL_CHARACTER))
            written += [Markup(" "), tag("text", words, class_="type", x=LEFT, y=y)]
        return written

    def _bar(self, load: float, room: float, top: float) -> list[Markup]:
        """Draw a layer's share of the cycles of the busiest one as part of a line, which is so wide."""
        bar = {"x": LEFT, "y": top, "height": 3, "rx": 1}
        return [
            tag("rect", class_="load-track", width=room, **bar),
            tag("rect", class_="load", width=max(1.0, load * room), **bar),
        ]


def shortened(name: str, room: int, tail: int = 8) -> str:
    """Write a name with an ellipsis in its middle where there is no room for it; its end tells it from others."""
    tail = min(tail, room // 2)
    return name if len(name) <= room else f"{name[: room - tail - 1]}…{name[-tail:]}"
