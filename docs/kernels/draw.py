"""Draw the timing diagrams of docs/kernels: `python docs/kernels/draw.py [BACKEND...]`.

Each is a real simulation of a small case (benchmarks/kernel_cases.py): the layer as it is stitched, fed and emptied by
ends that stall now and then. The pictures depend on nothing else, so they change only when a core does.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import numpy as np  # noqa: E402
from kernel_cases import CASES, PART  # noqa: E402
from timing_svg import Signal, draw_timing  # noqa: E402

from brainsmith.plugin.adapters.finn_runtime import prepare_finn  # noqa: E402
from brainsmith.rtl.cores.trial import make_design, random_values  # noqa: E402
from brainsmith.rtl.simulation.simulation_result import PHASES  # noqa: E402
from brainsmith.rtl.simulation.stalls import Stalls  # noqa: E402
from brainsmith.rtl.stitching.design import DESIGN  # noqa: E402
from brainsmith.rtl.verification.design_runs import lane_values  # noqa: E402
from brainsmith.rtl.verification.link_watch import build_watched, watch_design  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernel_cases import KernelCases
    from numpy.typing import NDArray

    from brainsmith.rtl.cores.trial import Case
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.link_watch import WatchedRun

PICTURES = ROOT / "brainsmith" / "backends" / "rtl" / "data_sheets"
FRAMES = 6
FED, GIVEN = "00001000", "0000001100"
"""When the ends stall where a case does not say: 1 is a cycle without a beat, or in which none is taken."""


def picture(name: str) -> Path:
    """Return where a backend's picture is: it has the name of the core."""
    return PICTURES / f"{CASES[name].core}.svg"


def drawn_backends() -> list[str]:
    """Return the backends that have a picture: of those that share a core, the first."""
    return list({CASES[name].core: name for name in reversed(CASES)}.values())


def draw(names: Sequence[str]) -> dict[str, str]:
    """Simulate the cases of backends side by side, none connected to another, and draw each.

    Args:
        names: Of the backends.

    Returns:
        The contents of SVG files, by the names of the backends.
    """
    prepare_finn()
    with tempfile.TemporaryDirectory() as folder:
        _, design = make_design([CASES[name].drawn for name in names], Path(folder), PART)
    fed: dict[str, NDArray[Any]] = {}
    for at, name in enumerate(names):
        fed |= _frames(at, CASES[name].drawn)
    links = {name: _links(design, at) for at, name in enumerate(names)}
    run = watch_design(
        build_watched(design, quick=True),
        design,
        fed,
        stalls={link: stalls for name in names for link, stalls in _stalls(CASES[name], links[name]).items()},
        window=range(max(CASES[name].cycles for name in names)),
    )
    if run.result.problem is not None:
        raise run.result.problem
    return {
        name: draw_timing(
            CASES[name].core, CASES[name].caption, _signals(run, links[name], CASES[name].cycles)
        )
        for name in names
    }


def _frames(at: int, case: Case) -> dict[str, NDArray[Any]]:
    """Return the inputs of one case, which do not depend on the others that are drawn."""
    random = np.random.default_rng(1)
    fed = case.frames or [random_values(random, kind, (FRAMES, *shape)) for shape, kind in case.inputs]
    return dict(zip(case.names(at)[0], fed, strict=True))


def _links(design: Design, at: int) -> list[Link]:
    """Return the streams of the layer of a case, its inputs first."""
    found = [
        link for link in design.links if link.layout is not None and link.layout.tensor.startswith(f"c{at}_")
    ]
    return sorted(found, key=lambda link: link.target.layer == DESIGN)


def _stalls(shown: KernelCases, links: Sequence[Link]) -> dict[str, Stalls]:
    """Return when the design's ends of a layer's streams stall."""
    found = {}
    for link in links:
        fed = link.source.layer == DESIGN
        mine, layer = (link.source, link.target) if fed else (link.target, link.source)
        bits = shown.stalls.get(layer.stream, FED if fed else GIVEN)
        found[mine.stream] = Stalls.pattern(map(int, bits))
    return found


def _signals(run: WatchedRun, links: Sequence[Link], cycles: int) -> list[Signal]:
    """Return what was seen at a layer's streams until its last beat, or until the picture ends."""
    last = max(int(run.targets[link.name].moved_at[-1]) for link in links)
    return [_signal(run, link, min(cycles, last + 1)) for link in links]


def _signal(run: WatchedRun, link: Link, cycles: int) -> Signal:
    """Return what was seen at a link, named after the layer's stream."""
    seen = run.targets[link.name]
    assert link.layout is not None
    values = lane_values(link.layout, seen.words)
    phases = [PHASES[phase] for phase in seen.phases[:cycles]]
    valid = tuple(phase in ("moved", "blocked") for phase in phases)
    ready = tuple(phase in ("moved", "starved") for phase in phases)
    data, beat = [], 0
    for phase in phases:
        data.append(
            " ".join(map(str, values[beat])) if phase in ("moved", "blocked") and beat < len(values) else ""
        )
        beat += phase == "moved"
    end = link.source if link.target.layer == DESIGN else link.target
    return Signal(end.stream, valid, ready, tuple(data))


def main(names: list[str]) -> None:
    """Draw the named backends' pictures; one of each core by default."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, svg in draw(names or drawn_backends()).items():
        picture(name).write_text(svg, encoding="utf-8")
        print(picture(name).relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
