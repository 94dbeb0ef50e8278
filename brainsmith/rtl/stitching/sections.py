"""Cut layers out of a design: a design of their own, with the same RTL, weights and FIFOs between them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from brainsmith.rtl.stitching.design import DESIGN, MEMORY, DesignStream, End, Link

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from brainsmith.rtl.library.sources import RtlSource
    from brainsmith.rtl.simulation.simulation_plan import Memory
    from brainsmith.rtl.stitching.design import Design

_DEFINED = re.compile(
    r"^\s*(?:module|package|interface|class|primitive)\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE
)
_WORD = re.compile(r"\w+")


def cut_out(
    design: Design, layers: Collection[str], cut: Callable[[Link], bool] = lambda link: False
) -> Design:
    """Return some layers of a design as one of their own.

    A link to or from a layer that is left out becomes an input or output, and so does each end of the design. Their
    names are those of the links, with `_fed` or `_given` after them. For example, of a -> b -> c, layers b and c have
    the input `a_out0_V_fed`, the FIFO of the link b_out0_V, and the output `c_out0_V_given`.

    Args:
        design: What they are of.
        layers: Their names; the memory of a layer's weights belongs to it.
        cut: Which of the links between them are cut too.
    """
    kept = _with_memories(design, layers)
    links, inputs, outputs = [], [], []
    for link in design.links:
        given, taken = link.source.layer in kept, link.target.layer in kept
        if given and taken and not (link.layout and cut(link)):
            links.append(link)
            continue
        if link.layout is None:
            continue
        if taken:
            fed = f"{link.name}_fed"
            links.append(Link(fed, End(DESIGN, fed), link.target, link.bits, link.layout))
            inputs.append(DesignStream(fed, link.bits, link.layout))
        if given:
            out = f"{link.name}_given"
            links.append(Link(out, link.source, End(DESIGN, out), link.bits, link.layout))
            outputs.append(DesignStream(out, link.bits, link.layout))
    chosen = tuple(layer for layer in design.layers if layer.name in kept)
    modules = {layer.module for layer in chosen} | ({"fifo"} if any(link.depth for link in links) else set())
    plain = [source for source in design.sources if not _DEFINED.search(source.text)]  # such as headers
    words = modules.union(*(_WORD.findall(source.text) for source in plain))
    needed = (*plain, *needed_sources(words, design.sources))
    return replace(
        design,
        layers=chosen,
        links=tuple(links),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        sources=tuple(source for source in design.sources if source in needed),
        memories=_needed_memories(design, kept),
    )


def without_names(design: Design) -> Design:
    """Return a design whose layers and links are numbered: equal layers of a network then have the same simulation.

    It is the same up to names, also in its sources and memories; tensors keep theirs. For example, layer `MVAU_rtl_3` with
    its memory `MVAU_rtl_3_wstrm` is `layer0` with `layer0_wstrm`.
    """
    layers = {name: f"layer{at}" for at, name in enumerate(layer_names(design))}
    ends = {stream.name: f"end{at}" for at, stream in enumerate((*design.inputs, *design.outputs))}
    # The name of one layer may begin with that of another: MVAU_rtl_1 and MVAU_rtl_10.
    pattern = re.compile("|".join(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![0-9])" for name in layers))

    def named(text: str) -> str:
        return pattern.sub(lambda found: layers[found[0]], text)

    def end(old: End) -> End:
        return End(named(old.layer), old.stream) if old.layer else End(DESIGN, ends[old.stream])

    def link(old: Link) -> Link:
        outer = next((one.stream for one in (old.source, old.target) if not one.layer), None)
        name = named(old.name) if outer is None else ends[outer]
        return replace(old, name=name, source=end(old.source), target=end(old.target))

    return replace(
        design,
        layers=tuple(replace(one, name=named(one.name), module=named(one.module)) for one in design.layers),
        links=tuple(link(one) for one in design.links),
        inputs=tuple(replace(one, name=ends[one.name]) for one in design.inputs),
        outputs=tuple(replace(one, name=ends[one.name]) for one in design.outputs),
        sources=tuple(replace(one, name=named(one.name), text=named(one.text)) for one in design.sources),
        memories=tuple(replace(one, name=named(one.name), text=one.text) for one in design.memories),
    )


def layer_names(design: Design) -> list[str]:
    """Return the names of a design's layers, in its order, without the memories of weights."""
    return [layer.name for layer in design.layers if layer.kernel != MEMORY]


def _with_memories(design: Design, layers: Collection[str]) -> set[str]:
    memories = {link.source.layer for link in design.links if link.weights and link.target.layer in layers}
    return {*layers, *memories}


def needed_sources(words: Iterable[str], sources: Sequence[RtlSource]) -> list[RtlSource]:
    """Return the sources that define what some words name, and what these need in turn."""
    home = {name: source for source in sources for name in _DEFINED.findall(source.text)}
    found: dict[str, RtlSource] = {}
    waiting = [home[word] for word in words if word in home]
    while waiting:
        source = waiting.pop()
        if source.name not in found:
            found[source.name] = source
            waiting += [home[word] for word in set(_WORD.findall(source.text)) & home.keys()]
    return list(found.values())


def _needed_memories(design: Design, kept: Collection[str]) -> tuple[Memory, ...]:
    """Return the memories of some layers, which begin with the names of their modules, and those of no layer."""
    modules = {layer.module: layer.name for layer in design.layers}

    def owner(memory: Memory) -> str | None:
        found = [module for module in modules if memory.name.startswith(f"{module}_")]
        return modules[max(found, key=len)] if found else None

    return tuple(memory for memory in design.memories if owner(memory) in {*kept, None})
