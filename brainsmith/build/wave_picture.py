"""The picture of a frame's handshakes in a build's report: what `brainsmith wave` draws of the packed accelerator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brainsmith.build.circuits import SIMULATION
from brainsmith.build.report import PACKAGE
from brainsmith.errors import BrainsmithError, BuildError
from brainsmith.store.computed import Computed

Fields = dict[str, Any]

PICTURE = "report/wave.svg"
MOST = 50_000_000
"""Cycles of all links together that are simulated for a report at most: each takes a byte of memory. The residual example
has about a million."""
_ROOTS = ("brainsmith.rtl.drawing.wave_drawing",)
_FACTS = ("frame", "cycles", "interval")


def wave_for_report(
    folder: Path, fingerprint: str | None, cache_dir: Path, most: int = MOST
) -> Fields | None:
    """Draw the first golden frame of a packed accelerator into the build's folder.

    Args:
        folder: The output folder of the build.
        fingerprint: Of all that its steps made; None where nothing is kept.
        cache_dir: Where pictures are kept.
        most: The cycles that are watched, of all links together.

    Returns:
        The report's `rtl.wave`: `file` (relative to the folder; None if it could not be drawn), `frame`, `cycles`,
        `interval`, and `reason`. None if nothing was simulated or packed.
    """
    if not ((folder / PACKAGE).is_dir() and (folder / SIMULATION).is_file()):
        return None
    kept = None if fingerprint is None else Computed(str(cache_dir), "waves", fingerprint, _ROOTS)
    drawn: Fields | None = None if kept is None else kept.load()
    if drawn is None:
        try:
            drawn = _drawn(folder, most)
        except (BrainsmithError, OSError, ValueError) as error:  # a finished build is not lost to its picture
            reason = str(error).replace(str(folder), "the build's folder").partition("\n")[0]
            return {"file": None, **dict.fromkeys(_FACTS), "reason": reason}
        if kept is not None:
            kept.save(drawn, about={"of": "the first golden frame"})
    (folder / PICTURE).write_text(drawn["svg"], encoding="utf-8")
    return {"file": PICTURE, **{name: drawn[name] for name in _FACTS}, "reason": ""}


def _drawn(folder: Path, most: int) -> Fields:
    """Draw a frame.

    Raises:
        BuildError: Simulating it takes too long for the end of a build, or there is no whole package.
    """
    from brainsmith.rtl.drawing.wave_drawing import draw_wave
    from brainsmith.rtl.package.reading import read_package
    from brainsmith.rtl.verification.design_runs import estimated_cycles
    from brainsmith.rtl.verification.handshakes import FOLLOWERS

    design = read_package(folder).design
    cycles, links = estimated_cycles(design, 1 + FOLLOWERS), sum(not link.weights for link in design.links)
    if cycles * links > most:
        raise BuildError(
            f"{cycles:,} cycles on {links} links are too many to simulate for a report; `brainsmith wave` draws them"
        )
    wave = draw_wave(folder)
    return {"svg": wave.svg, **{name: getattr(wave, name) for name in _FACTS}}
