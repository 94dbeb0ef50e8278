"""What a block diagram shows, read from a report's `rtl.design` into values that are always complete."""

from __future__ import annotations

from dataclasses import dataclass

from brainsmith.figures import number, plural
from brainsmith.report_fields import Fields, fields, first_text, items
from brainsmith.rtl.stitching.design import MEMORY


@dataclass(frozen=True)
class Block:
    """A layer, a memory of weights, or a stream of the design (`kernel` is empty).

    `cycles` is an estimate per frame: None where there is none.
    """

    name: str
    kernel: str = ""
    cycles: float | None = None

    @property
    def is_port(self) -> bool:
        """Whether it is an input or output of the design."""
        return not self.kernel

    @property
    def is_memory(self) -> bool:
        """Whether it is the memory of a layer's weights."""
        return self.kernel == MEMORY


@dataclass(frozen=True)
class Wire:
    """A stream between two blocks, by their indices."""

    name: str
    source: int
    target: int
    ends: tuple[str, str]
    bits: float | None
    depth: float
    tensor: str

    @property
    def label(self) -> str:
        """Its width and its FIFO for people."""
        fifo = f"FIFO {self.depth:,.0f}" if self.depth else ""
        return ", ".join(words for words in (self.width, fifo) if words)

    @property
    def width(self) -> str:
        """Its width for people."""
        return "" if self.bits is None else f"{self.bits:,.0f} bit"

    @property
    def sentence(self) -> str:
        """All that is known of it."""
        parts = [f"{self.ends[0]} to {self.ends[1]}", self.width, self.tensor]
        parts.append(f"FIFO of {plural(self.depth, 'beat')}" if self.depth else "no FIFO")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Plan:
    """Blocks in the order of the data, the design's inputs first, and the wires between them.

    `lost` counts links of layers that the design does not have.
    """

    top: str
    blocks: tuple[Block, ...]
    wires: tuple[Wire, ...]
    inputs: int
    lost: int

    @property
    def busiest(self) -> float:
        """The cycles of the slowest layer; 0 where none is known."""
        return max((block.cycles or 0 for block in self.blocks), default=0)


def read_plan(design: object) -> Plan:
    """Read a design; what is absent or of another kind is left out.

    Args:
        design: The `rtl.design` of a report: `layers`, `links`, `inputs`, `outputs`.
    """
    found = fields(design)
    layers, links, inputs, outputs = (
        [entry for entry in map(fields, items(found.get(key))) if entry]
        for key in ("layers", "links", "inputs", "outputs")
    )
    blocks = [Block(first_text(port, "name")) for port in inputs]
    blocks += [_block(layer) for layer in layers]
    blocks += [Block(first_text(port, "name")) for port in outputs]
    places = {block.name: index for index, block in enumerate(blocks)}
    wires = [_wire(link, places) for link in links]
    drawn = tuple(wire for wire in wires if min(wire.source, wire.target) >= 0)
    return Plan(first_text(found, "top"), tuple(blocks), drawn, len(inputs), len(wires) - len(drawn))


def short_ends(source: str, target: str) -> tuple[str, str]:
    """Return the ends of a link without the streams that a layer usually has: `A.out0_V`, `B.in0_V` as `A`, `B`."""
    return source.removesuffix(".out0_V"), target.removesuffix(".in0_V")


def _block(layer: Fields) -> Block:
    kernel = first_text(layer, "kernel") or "unknown kernel"
    return Block(first_text(layer, "name"), kernel, number(layer.get("cycles")) or None)


def _place(end: str, places: dict[str, int]) -> int:
    """Find the block at an end: a layer's `layer.stream`, or a stream of the design; -1 where there is none."""
    return places.get(end, places.get(end.rpartition(".")[0], -1))


def _wire(link: Fields, places: dict[str, int]) -> Wire:
    source, target = first_text(link, "source"), first_text(link, "target")
    depth = max(0.0, number(link.get("depth")) or 0.0)
    bits, tensor = number(link.get("bits")), first_text(link, "tensor")
    ends = _place(source, places), _place(target, places)
    return Wire(first_text(link, "name"), *ends, (source, target), bits, depth, tensor)
