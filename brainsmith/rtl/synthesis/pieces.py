"""Cut a design into what is synthesised: each layer with the memory of its weights, each FIFO, and all of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.stitching.design import DESIGN, DesignStream, End, Link
from brainsmith.rtl.stitching.top_module import top_module

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.rtl.simulation.simulation_plan import Memory
    from brainsmith.rtl.stitching.design import Design, Layer

MEMORY = "memstream"
"""The kernel of a memory of weights."""

_DECLARED = re.compile(r"^\s*(?:module|package)\s+(?:automatic\s+|static\s+)?(\w+)", re.M)
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


def whole(design: Design) -> Piece:
    """Return all of a design."""
    return _piece("the whole design", "design", design)


def layer_pieces(design: Design) -> list[Piece]:
    """Return each layer alone, with the memory of its weights, its unused inputs tied as in the design."""
    return [
        _piece(layer.name, layer.kernel, _alone(design, layer))
        for layer in design.layers
        if layer.kernel != MEMORY
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
    )
    return _piece(f"a FIFO of {plural(link.depth, 'beat')} of {plural(link.bits, 'bit')}", "fifo", alone)


def _alone(design: Design, layer: Layer) -> Design:
    """Return a design of one layer: its streams are the design's, without FIFOs."""
    feeds = {link.source.layer for link in design.links if link.weights and link.target.layer == layer.name}
    links: list[Link] = []
    inputs: list[DesignStream] = []
    outputs: list[DesignStream] = []
    for link in design.links:
        if link.target.layer == layer.name and link.weights:
            links.append(link)
        elif link.target.layer == layer.name and link.layout:
            inputs.append(DesignStream(f"s_axis_{len(inputs)}", link.bits, link.layout))
            links.append(replace(link, name=inputs[-1].name, source=End(DESIGN, inputs[-1].name), depth=0))
        if link.source.layer == layer.name and link.layout:
            outputs.append(DesignStream(f"m_axis_{len(outputs)}", link.bits, link.layout))
            links.append(replace(link, name=outputs[-1].name, target=End(DESIGN, outputs[-1].name), depth=0))
    return replace(
        design,
        top=f"{layer.module}_alone",
        layers=tuple(one for one in design.layers if one.name in {layer.name, *feeds}),
        links=tuple(links),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
    )


def _piece(name: str, kernel: str, design: Design) -> Piece:
    top = RtlSource(f"{design.top}.v", top_module(design))
    sources = needed(top, design.sources)
    owners = tuple(f"{layer.module}_" for layer in design.layers)
    memories = tuple(memory for memory in design.memories if memory.name.startswith(owners))
    return Piece(name, kernel, design.top, sources, memories)


def needed(top: RtlSource, sources: Iterable[RtlSource]) -> tuple[RtlSource, ...]:
    """Return a top module and the sources that it needs, so that what is kept of it does not depend on the others.

    A source is needed where a name that it declares occurs, be it in a comment; packages come first.
    """
    declared = {name: source for source in sources for name in _DECLARED.findall(source.text)}
    found = {top.name: top}
    pending = [top]
    while pending:
        for word in set(_WORD.findall(pending.pop().text)) & declared.keys():
            source = declared[word]
            if source.name not in found:
                found[source.name] = source
                pending.append(source)
    return tuple(sorted(found.values(), key=lambda source: ("endpackage" not in source.text, source.name)))
