"""Synthesise a design: each layer, each FIFO and all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brainsmith.plugin.processes import Workers
from brainsmith.progress import Task, carried, wait_for
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.resource_models.resource_model import needs
from brainsmith.rtl.synthesis.cells import cost
from brainsmith.rtl.synthesis.for_synthesis import altered_design
from brainsmith.rtl.synthesis.fpga_families import family_of
from brainsmith.rtl.synthesis.notes import notes_on
from brainsmith.rtl.synthesis.pieces import fifo_piece, layer_pieces, whole
from brainsmith.rtl.synthesis.synthesis_checks import check_slices, check_whole
from brainsmith.rtl.synthesis.synthesis_report import Estimate, FifoFigures, LayerFigures, SynthesisReport
from brainsmith.rtl.synthesis.yosys import default_store, find_yosys, map_piece, plan_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.synthesis.cells import Resources
    from brainsmith.rtl.synthesis.fpga_families import Family
    from brainsmith.rtl.synthesis.pieces import Piece
    from brainsmith.rtl.synthesis.yosys import Job, Mapped

PROCESSES = 2
"""How many run at a time; each takes 100 to 400 MB."""


@dataclass(frozen=True)
class _Done:
    """A piece and what became of it."""

    piece: Piece
    mapped: Mapped

    @property
    def used(self) -> Resources:
        return cost(self.mapped.cells, self.piece.name)


def synthesise(
    design: Design, part: str, *, estimates: Mapping[str, Estimate] | None = None
) -> SynthesisReport:
    """Say what a design needs of a part: each layer alone, each FIFO alone, and all of it flattened.

    What was synthesised before, of the same content, is not done again.

    Args:
        design: Its FIFOs have their depths.
        part: AMD's name of it.
        estimates: Made before, by the names of layers.

    Raises:
        BuildError: The part is of no known family, Yosys refuses a layer, or a layer that computes in DSP slices has
            none, alone or in the whole design.
        RtlSourceError: FINN's library is not what the rules for synthesis expect.
        ToolError: pyosys is missing.
    """
    family = family_of(part)
    tool = find_yosys()
    design = altered_design(design, find_library())
    links = [link for link in design.links if link.depth]
    layers, fifos = layer_pieces(design), [fifo_piece(design, link) for link in links]
    done = _run([*layers, *fifos, whole(design)], family, tool)
    warnings = [note for one in done for note in check_slices(one.piece, one.mapped.cells, family)]
    report = SynthesisReport(
        part=part,
        family=family.name,
        tool=tool,
        used=done[-1].used,
        layers=tuple(_layer(one, estimates or {}) for one in done[: len(layers)]),
        fifos=tuple(
            FifoFigures(link.name, link.bits, link.depth, one.used, _fifo_estimate(link, family))
            for link, one in zip(links, done[len(layers) : -1], strict=True)
        ),
        notes=(),
        seconds=round(sum({id(one.mapped): one.mapped.seconds for one in done}.values()), 1),
        peak_mb=max(one.mapped.peak_mb for one in done),
        path=done[-1].mapped.path,
        mvau_ns=family.mvau_ns,
    )
    check_whole(report)
    return replace(report, notes=(*warnings, *notes_on(report, family, done[-1].mapped.cells)))


def synthesise_layers(
    design: Design, part: str, *, estimates: Mapping[str, Estimate] | None = None
) -> tuple[LayerFigures, ...]:
    """Say what each layer of a design alone needs of a part, and leave the whole design out.

    Args:
        design: Its FIFOs do not matter.
        part: AMD's name of it.
        estimates: Made before, by the names of layers.

    Raises:
        BuildError: The part is of no known family, or Yosys refuses a layer.
        RtlSourceError: FINN's library is not what the rules for synthesis expect.
        ToolError: pyosys is missing.
    """
    family, tool = family_of(part), find_yosys()
    pieces = layer_pieces(altered_design(design, find_library()))
    return tuple(_layer(one, estimates or {}) for one in _run(pieces, family, tool))


def _run(pieces: Sequence[Piece], family: Family, tool: str) -> list[_Done]:
    """Synthesise all pieces, the last first, because it takes longest; the error of the first that failed is raised."""
    store = default_store()
    jobs = [plan_job(piece, family, tool) for piece in pieces]
    distinct = {job.key(): job for job in jobs}
    with Workers(PROCESSES) as pool, Task("synthesising", len(distinct), "parts of the design") as task:

        def map_one(job: Job) -> Mapped:
            mapped = map_piece(job, store)
            task.add()
            return mapped

        tasks = {key: pool.submit(carried(map_one), job) for key, job in reversed(distinct.items())}
        found = {key: wait_for(tasks[key]) for key in distinct}
    return [_Done(piece, found[job.key()]) for piece, job in zip(pieces, jobs, strict=True)]


def _fifo_estimate(link: Link, family: Family) -> Estimate:
    needed = needs("StreamingFIFO_rtl", {"depth": link.depth, "bits": link.bits}, family.name)
    return Estimate(**{name: int(value) for name, value in needed._asdict().items()})


def _layer(done: _Done, estimates: Mapping[str, Estimate]) -> LayerFigures:
    piece = done.piece
    return LayerFigures(
        piece.name, piece.kernel, done.used, estimates.get(piece.name), done.mapped.seconds, done.mapped.path
    )
