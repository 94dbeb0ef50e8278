"""Draw the handshakes of one golden frame of a packed accelerator, from the package alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.errors import OutputError, UsageError
from brainsmith.figures import plural
from brainsmith.rtl.drawing.handshakes_svg import draw_handshakes, ordered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Wave:
    """A picture of a frame.

    Attributes:
        svg: The content of the file.
        design: The name of the design.
        frame: Which one it is, from 0.
        cycles: From its first beat in to its last beat out.
        interval: From then to the last beat out of the next frame; None without one.
        links: Those that are drawn.
        changed: Files of the package that are not as they were packed.
    """

    svg: str
    design: str
    frame: int
    cycles: int
    interval: int | None
    links: tuple[str, ...]
    changed: tuple[str, ...]


def draw_wave(
    folder: Path, frame: int = 0, links: Sequence[str] | None = None, window: tuple[int, int] | None = None
) -> Wave:
    """Simulate a package up to one of its golden frames, and draw the frame's handshakes.

    Args:
        folder: The package's, or that of the build which made it.
        frame: Which golden frame, from 0.
        links: The names of links, or of layers for all links at them; all by default.
        window: The cycles to draw, [begin, end) from the frame's first beat on; all by default.

    Raises:
        BuildError: There is no package, or it is damaged.
        SimulationError: The simulation fails.
        ToolError: g++ or Verilator is missing.
        UsageError: There is no such frame, link or cycle.
    """
    from brainsmith.rtl.package.reading import read_package
    from brainsmith.rtl.verification.design_runs import frame_count
    from brainsmith.rtl.verification.handshakes import handshakes

    package = read_package(folder)
    design = package.circuit()
    golden = {stream.layout.tensor: package.golden(stream.name) for stream in design.inputs}
    frames = frame_count(golden)
    if not 0 <= frame < frames:
        raise UsageError(
            f"there is no frame {frame}: {package.folder} has {plural(frames, 'golden frame')}, 0 to {frames - 1}"
        )
    ends = [(link.name, link.source.layer, link.target.layer) for link in design.links if not link.weights]
    chosen = _chosen(links, ends)
    found = handshakes(design, golden, frame)
    if window is not None and not 0 <= window[0] < window[1] <= found["cycles"]:
        raise UsageError(
            f"cycles {window[0]} to {window[1]} cannot be drawn: frame {frame} takes cycles 0 to {found['cycles']}"
        )
    svg = draw_handshakes(found, design.top, package.period, chosen, window)
    shown = tuple(link["name"] for link in ordered(found["links"]) if link["name"] in chosen)
    return Wave(svg, design.top, frame, found["cycles"], found["interval"], shown, package.changed)


def check_file(file: Path) -> None:
    """Refuse a file that cannot be written, before anything is simulated.

    Raises:
        OutputError: It is a folder, or in none.
    """
    if file.is_dir():
        raise OutputError(f"{file}: the picture cannot be written: it is a folder\n  name a file in it")
    if not file.absolute().parent.is_dir():
        raise OutputError(
            f"{file}: the picture cannot be written: there is no folder {file.parent}\n  make it first"
        )


def write_picture(content: str, file: Path) -> None:
    """Write a picture; a file of that name is replaced.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        file.write_text(content, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{file}: the picture cannot be written: {error.strerror}\n  name a file in a folder that is writable"
        ) from error


def _chosen(wanted: Sequence[str] | None, ends: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return the names of the links to draw.

    Raises:
        UsageError: A name is neither that of a link nor that of a layer.
    """
    if wanted is None:
        return [name for name, _, _ in ends]
    from brainsmith.close_names import did_you_mean

    known = {word for end in ends for word in end if word}
    unknown = [word for word in wanted if word not in known]
    if unknown:
        names = ", ".join(name for name, _, _ in ends)
        hint = did_you_mean(unknown[0], sorted(known))
        raise UsageError(f"no link and no layer is named {unknown[0]!r}{hint}\n  the links are {names}")
    return [end[0] for end in ends if any(word in end for word in wanted)]
