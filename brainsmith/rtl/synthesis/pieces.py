"""Cut a design into what is synthesised: each layer with the memory of its weights, each FIFO, and all of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.stitching.design import DESIGN, MEMORY, DesignStream, End, Link
from brainsmith.rtl.stitching.design_folder import design_files
from brainsmith.rtl.stitching.sections import cut_out, needed_sources
from brainsmith.rtl.stitching.top_module import top_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.rtl.simulation.simulation_plan import Memory
    from brainsmith.rtl.stitching.design import Design

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Piece:
    """A circuit to synthesise.

    Attributes:
        name: What messages call it.
        kernel: Of the layer; `fifo` or `design` for other parts.
        top: The top module.
        sources: Packages first.
        memories: Contents that the sources load.
    """

    name: str
    kernel: str
    top: str
    sources: tuple[RtlSource, ...]
    memories: tuple[Memory, ...]

    @property
    def files(self) -> dict[str, str]:
        """Return sources and memory contents by their paths in the folder that Yosys runs in."""
        return design_files(self.sources, self.memories)


def whole(design: Design) -> Piece:
    """Return all of a design."""
    return _piece("the whole design", "design", design)


def layer_pieces(design: Design) -> list[Piece]:
    """Return each layer alone, with the memory of its weights, its unused inputs tied as in the design."""
    alone = ((layer, cut_out(design, [layer.name])) for layer in design.layers if layer.kernel != MEMORY)
    return [
        _piece(layer.name, layer.kernel, replace(part, top=f"{layer.module}_alone")) for layer, part in alone
    ]


def fifo_piece(design: Design, link: Link) -> Piece:
    """Return the FIFO of a link alone; equal ones are the same piece, whatever the link."""
    ends = End(DESIGN, "s_axis_0"), End(DESIGN, "m_axis_0")
    if link.layout is None:
        raise ValueError(f"link {link.name} carries weights and has no FIFO")
    alone = replace(
        design,
        top="finn_fifo",
        layers=(),
        links=(Link("stream", *ends, link.bits, link.layout, link.depth),),
        inputs=(DesignStream("s_axis_0", link.bits, link.layout),),
        outputs=(DesignStream("m_axis_0", link.bits, link.layout),),
        memories=(),
    )
    return _piece(f"a FIFO of {plural(link.depth, 'beat')} of {plural(link.bits, 'bit')}", "fifo", alone)


def _piece(name: str, kernel: str, design: Design) -> Piece:
    top = RtlSource(f"{design.top}.v", top_module(design))
    return Piece(name, kernel, design.top, needed(top, design.sources), design.memories)


def needed(top: RtlSource, sources: Sequence[RtlSource]) -> tuple[RtlSource, ...]:
    """Return a top module and the sources that it needs, so that what is kept of it does not depend on the others."""
    found = [top, *needed_sources(_WORD.findall(top.text), sources)]
    return tuple(sorted(found, key=lambda source: ("endpackage" not in source.text, source.name)))
