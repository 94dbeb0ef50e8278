"""Draw a front: intervals along x, along y the shares of a device that the cheapest circuit of each takes; in decades."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from brainsmith.figures import share
from brainsmith.markup import Markup, tag
from brainsmith.rtl.drawing.theme import read_style, svg_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Fields = Mapping[str, Any]

LEFT, TOP, WIDE, HIGH, RIGHT, FOOT = 80, 96, 760, 420, 130, 64
_LEAST = 1e-4
"""Of the shares that are drawn; nothing is drawn of a resource of which none is taken."""

_LINE = 15
"""Pixels from one name to the next."""

_CURVES = {"cost": "sum", "lut": "LUT", "bram18": "BRAM18", "dsp": "DSP"}
_STYLE = read_style("front_svg.css")


def draw_front(front: Fields, name: str) -> str:
    """Draw a front.

    Args:
        front: As the step `rate_front` reports it.
        name: Of the network.

    Returns:
        The content of an SVG file.
    """
    points = front["points"]
    across = _scale([point["interval_cycles"] for point in points], WIDE)
    shares = {key: [_share(front, point, key) for point in points] for key in _CURVES}
    drawn = [value for values in shares.values() for value in values if value >= _LEAST]
    up = _scale([*drawn, 1.0], HIGH)
    curves = {
        key: _curve(key, [point["interval_cycles"] for point in points], values, across[0], up[0])
        for key, values in shares.items()
        if max(values) >= _LEAST
    }
    ends = {key: _y(up[0], shares[key][-1]) for key in curves}
    plot = tag(
        "g",
        [_across(value, across[0]) for value in across[1]],
        [_up(value, up[0]) for value in up[1]],
        tag("line", x1=0, x2=WIDE, y1=_y(up[0], 1.0), y2=_y(up[0], 1.0), class_="full"),
        list(curves.values()),
        [tag("text", _CURVES[key], x=WIDE + 8, y=y + 4) for key, y in _apart(ends).items()],
        tag(
            "text", "cycles from frame to frame", x=WIDE / 2, y=HIGH + 46, text_anchor="middle", class_="soft"
        ),
        transform=f"translate({LEFT} {TOP})",
    )
    title = f"{name} on {front['device']}: interval against cost"
    count = (
        f"{len(points)} circuits, each the cheapest of its interval; a share of 100 % is all of the device"
    )
    head = [tag("text", title, x=24, y=38, class_="title"), tag("text", count, x=24, y=62, class_="soft")]
    return svg_file(title, [*head, plot], LEFT + WIDE + RIGHT, TOP + HIGH + FOOT, _STYLE)


def _share(front: Fields, point: Fields, key: str) -> float:
    """Return what share of a resource a point takes, or its cost."""
    if key == "cost":
        return float(point["cost"])
    there = front["available"][key]
    return float(point["needs"][key] / there) if there else 0.0


def _scale(values: Sequence[float], length: int) -> tuple[Callable[[float], float], list[float]]:
    """Return where values of whole decades lie, and the decades."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)

    def place(value: float) -> float:
        return round((log10(value) - low) / (high - low) * length, 1)

    return place, [10.0**at for at in range(low, high + 1)]


def _y(up: Callable[[float], float], value: float) -> float:
    return round(HIGH - up(max(value, _LEAST)), 1)


def _curve(
    key: str, intervals: Sequence[int], values: Sequence[float],
    across: Callable[[float], float], up: Callable[[float], float],
) -> Markup:  # fmt: skip
    """Draw steps: a circuit is the cheapest one up to the next interval."""
    seen = [at for at, value in enumerate(values) if value >= _LEAST]
    path = "".join(
        f"{'M' if at == seen[0] else 'H'}{across(intervals[at])}{' ' if at == seen[0] else 'V'}{_y(up, values[at])}"
        for at in seen
    )
    return tag("path", d=f"{path}H{WIDE}", class_=f"curve {key}")


def _apart(ends: Mapping[str, float]) -> dict[str, float]:
    """Return where names stand beside the ends of curves, the topmost first, none on another."""
    found: dict[str, float] = {}
    for key, end in sorted(ends.items(), key=lambda entry: entry[1]):
        found[key] = max(end, max(found.values(), default=-_LINE) + _LINE)
    return found


def _across(value: float, place: Callable[[float], float]) -> Markup:
    x = place(value)
    line = tag("line", x1=x, x2=x, y1=0, y2=HIGH, class_="grid")
    return tag("g", line, tag("text", f"{value:,.0f}", x=x, y=HIGH + 20, text_anchor="middle"), class_="tick")


def _up(value: float, place: Callable[[float], float]) -> Markup:
    y = _y(place, value)
    line = tag("line", x1=0, x2=WIDE, y1=y, y2=y, class_="grid")
    text = share(value, 0) if value >= 0.01 else f"{value * 100:g} %"
    return tag("g", line, tag("text", text, x=-10, y=y + 4, text_anchor="end"), class_="tick")
