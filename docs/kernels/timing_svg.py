"""Draw a timing diagram: the clock, and valid, ready and data of each stream, cycle by cycle."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.handshake_rows import row_patterns
from brainsmith.rtl.drawing.theme import svg_file

if TYPE_CHECKING:
    from collections.abc import Sequence

MARGIN, LABELS, TOP, FOOT = 20, 128, 82, 34
LINE, HIGH, GAP = 24, 14, 14
"""Height of a signal's row, of its waveform, and the space between two streams."""
NARROW, WIDE, LETTER = 26, 92, 6.4
"""Of a cycle, by what its data have to say; and of a letter in them."""
_STYLE = """
text{fill:var(--ink);font:11px var(--sans)}
.title{font-size:15px;font-weight:650}
.soft,.cycle{fill:var(--soft)}
.cycle{font-size:10px}
.name{font-weight:620}
.data text{font-size:10.5px;paint-order:stroke;stroke:var(--page);stroke-width:2.5px}
.grid{stroke:var(--line);stroke-dasharray:2 3}
.wave{fill:none;stroke:var(--ink);stroke-width:1.4}
.clock{fill:none;stroke:var(--soft);stroke-width:1.2}
.none{stroke:var(--line-strong)}
.moved{fill:var(--bar);fill-opacity:.3}
.blocked{fill:url(#blocked)}
.cell{fill:none;stroke:var(--ink);stroke-width:1.2}
.blocked-ground{fill:var(--page)}
.blocked-stripe{stroke:var(--hot);stroke-width:2.2}
"""


@dataclass(frozen=True)
class Signal:
    """One stream, as it was seen in each cycle.

    Attributes:
        name: Of the stream.
        valid: In each cycle.
        ready: In each cycle.
        data: What the beat holds that is offered in each cycle; empty where none is.
    """

    name: str
    valid: tuple[bool, ...]
    ready: tuple[bool, ...]
    data: tuple[str, ...]


def draw_timing(title: str, caption: str, signals: Sequence[Signal]) -> str:
    """Draw streams over the same cycles, the first cycle after the reset at the left.

    Args:
        title: What is drawn.
        caption: What is to be seen.
        signals: All over the same number of cycles.

    Returns:
        The content of an SVG file, in light and dark colours.
    """
    cycles = len(signals[0].valid)
    step = _step(signals)
    rows = [_clock(cycles, step)]
    rows += [
        tag("g", _stream(one, step), transform=f"translate(0 {LINE + GAP + at * (3 * LINE + GAP)})")
        for at, one in enumerate(signals)
    ]
    below = LINE + len(signals) * (3 * LINE + GAP) + GAP
    wide, high = 2 * MARGIN + LABELS + round(cycles * step), TOP + below + FOOT
    grid = [tag("path", class_="grid", d=f"M{at * step:g} 0V{below}") for at in range(cycles + 1)]
    numbers = [
        tag("text", at, class_="cycle", x=(at + 0.5) * step, y=below + 14, text_anchor="middle")
        for at in range(0, cycles, 1 if step > NARROW else 2)
    ]
    parts = [
        tag("text", title, class_="title", x=MARGIN, y=26),
        tag("text", caption, class_="soft", x=MARGIN, y=45),
        _legend(),
        tag("g", grid, numbers, rows, transform=f"translate({MARGIN + LABELS} {TOP})"),
    ]
    return svg_file(title, parts, wide, high, _STYLE, row_patterns()[:1], f"{title}: {caption}")


def _step(signals: Sequence[Signal]) -> float:
    """Return the width of a cycle, into which every text fits."""
    longest = max(len(text) for signal in signals for text in signal.data)
    return min(max(round(LETTER * longest + 10), NARROW), WIDE)


def _beats(signal: Signal) -> list[tuple[str, int]]:
    """Return what is offered in each cycle, with the number of the beat: two equal ones are two."""
    found, number = [], 0
    for valid, ready, text in zip(signal.valid, signal.ready, signal.data, strict=True):
        found.append((text if valid else "", number))
        number += valid and ready
    return found


def _clock(cycles: int, step: float) -> Markup:
    edges = "".join(f"V{-HIGH}h{step / 2:g}V0h{step / 2:g}" for _ in range(cycles))
    wave = tag("path", class_="clock", d=f"M0 0{edges}", transform=f"translate(0 {HIGH + 4})")
    return tag("g", _label("clk", HIGH, "name"), wave)


def _stream(signal: Signal, step: float) -> list[Markup]:
    wires = ((signal.valid, "valid"), (signal.ready, "ready"))
    rows = [
        tag(
            "g",
            _label(f"{signal.name} {word}" if not at else word, HIGH, "name" if not at else "soft"),
            _wire(levels, step),
            transform=f"translate(0 {at * LINE})",
        )
        for at, (levels, word) in enumerate(wires)
    ]
    cells = [_label("data", HIGH, "soft"), *_cells(signal, step)]
    return [*rows, tag("g", cells, class_="data", transform=f"translate(0 {2 * LINE})")]


def _label(text: str, y: float, style: str) -> Markup:
    return tag("text", text, class_=style, x=-12, y=y, text_anchor="end")


def _wire(levels: Sequence[bool], step: float) -> Markup:
    path = "".join(f"V{-HIGH if level else 0}h{step:g}" for level in levels)
    start = -HIGH if levels[0] else 0
    return tag("path", class_="wave", d=f"M0 {start}{path}", transform=f"translate(0 {HIGH + 4})")


def _cells(signal: Signal, step: float) -> list[Markup]:
    """Draw each beat from the cycle in which it is offered to that in which it moves."""
    drawn: list[Markup | None] = []
    at = 0
    middle = HIGH / 2 + 4
    for (text, _), run in groupby(_beats(signal)):
        count = len(list(run))
        x, wide = at * step, count * step
        if not text:
            drawn.append(tag("path", class_="none", d=f"M{x:g} {middle:g}h{wide:g}"))
        else:
            moves = signal.valid[at + count - 1] and signal.ready[at + count - 1]
            held = (count - 1) * step if moves else wide
            shape = f"M{x:g} {middle:g}l3 -8H{x + wide - 3:g}l3 8l-3 8H{x + 3:g}z"
            drawn += [
                tag("rect", class_="blocked", x=x, y=middle - 8, width=held, height=16) if held else None,
                tag("rect", class_="moved", x=x + held, y=middle - 8, width=step, height=16)
                if moves
                else None,
                tag("path", class_="cell", d=shape),
                tag(
                    "text",
                    text,
                    x=x + (held + step / 2 if moves else wide / 2),
                    y=middle + 4,
                    text_anchor="middle",
                ),
            ]
        at += count
    return [one for one in drawn if one is not None]


def _legend() -> Markup:
    parts = []
    x = 0
    for style, words in (("moved", "a beat moves"), ("blocked", "it waits: valid, not ready")):
        parts += [
            tag("rect", class_=style, x=x, y=-10, width=22, height=12),
            tag("text", words, class_="soft", x=x + 28, y=0),
        ]
        x += 28 + round(6 * len(words)) + 22
    return tag("g", parts, transform=f"translate({MARGIN} 66)")
