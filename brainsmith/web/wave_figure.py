"""The picture of a frame's handshakes, as `brainsmith wave` draws it, in a frame that can be zoomed."""

from __future__ import annotations

import base64
import re

from brainsmith import figures
from brainsmith.markup import Markup, tag
from brainsmith.report_fields import Fields, first_text, numbers
from brainsmith.web.elements import graph_frame, scrolling, sentence

_SIZE = re.compile(r'<svg [^>]*?viewBox="0 0 (\d+) (\d+)"')


def wave_figure(found: Fields, picture: str, interval: float | None = None) -> Markup | None:
    """Show the picture, or say why there is none; None where none was to be drawn.

    It stands in the page as an image, not as elements: so nothing in it can run, and its style is its own.

    Args:
        found: The report's `rtl.wave`.
        picture: The content of the SVG file.
        interval: Cycles from frame to frame at full speed, where that was measured.
    """
    size = picture_size(picture)
    if size is None:
        reason = first_text(found, "reason")
        words = f"The handshakes of a frame were not drawn: {reason}"
        return tag("div", tag("h3", "Handshakes"), sentence(words), class_="below") if reason else None
    words = _words(found, interval)
    image = tag(
        "img",
        src=picture_source(picture),
        alt=f"Handshakes of every stream: {words}",
        width=size[0],
        height=size[1],
    )
    canvas = scrolling("Handshakes", image, "canvas wave", data_zoom="wave")
    return graph_frame("Handshakes", words, canvas, tools="wave")


def picture_source(picture: str) -> str:
    """Return the address of an SVG file that is in the page itself."""
    return "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()


def picture_size(picture: str) -> tuple[int, int] | None:
    """Return width and height that an SVG file of ours states; None of another text."""
    size = _SIZE.match(picture)
    return None if size is None else (int(size[1]), int(size[2]))


def _words(found: Fields, at_full_speed: float | None) -> str:
    frame, cycles, interval = numbers(found, "frame", "cycles", "interval")
    if frame is None or cycles is None:
        return "one frame on its way through the circuit"
    following = f", the next one {figures.plural(interval, 'cycle')} later" if interval is not None else ""
    if interval is not None and at_full_speed is not None and interval > 1.01 * at_full_speed:
        following += (
            ", because its inputs come evenly spread; at full speed it is "
            f"{figures.plural(at_full_speed, 'cycle')}"
        )
    return f"frame {figures.count(frame)} on its way through the circuit, {figures.plural(cycles, 'cycle')}{following}"
