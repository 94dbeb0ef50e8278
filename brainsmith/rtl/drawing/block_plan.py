"""What a block diagram shows, read from a report's `rtl.design` into values that are always complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brainsmith.figures import plural
from brainsmith.rtl.stitching.design import MEMORY


@dataclass(frozen=True)
class Block:
    """A layer, or a stream of the design (`kernel` is empty).

    `memory` is the wire from the memory of its weights, `cycles` an estimate per frame: None where there is none.
    """

    name: str
    kernel: str = ""
    cycles: float | None = None
    memory: Wire | None = None

    @property
    def is_port(self) -> bool:
        """Whether it is an input or output of the design."""
        return not self.kernel


@dataclass(frozen=True)
class Wire:
    """A stream between two blocks, by their indices; `source` is -1 where it comes from a weight memory."""

    name: str
    source: int
    target: int
    ends: tuple[str, str]
    bits: float | None
    depth: float
    tensor: str

    @property
    def width(self) -> str:
        """Its width for people."""
        return "" if self.bits is None else f"{self.bits:,.0f} bit"

    @property
    def fifo(self) -> str:
        """The FIFO in it for people; empty where there is none."""
        return f"FIFO {self.depth:,.0f}" if self.depth else ""

    @property
    def sentence(self) -> str:
        """All that is known of it."""
        parts = [f"{self.ends[0]} to {self.ends[1]}", self.width, self.tensor]
        parts.append(f"FIFO of {plural(self.depth, 'beat')}" if self.depth else "no FIFO")
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Plan:
    """Blocks in the order of the data, and the wires between them; weight memories belong to their blocks.

    `lost` counts links of layers that the design does not have.
    """

    top: str
    blocks: tuple[Block, ...]
    wires: tuple[Wire, ...]
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
    layers = _entries(design, "layers")
    streams = {end: [_text(port, "name") for port in _entries(design, end)] for end in ("inputs", "outputs")}
    memories = {_text(layer, "name") for layer in layers if layer.get("kernel") == MEMORY}
    blocks = [Block(name) for name in streams["inputs"]]
    blocks += [_block(layer) for layer in layers if layer.get("kernel") != MEMORY]
    blocks += [Block(name) for name in streams["outputs"]]
    places = {block.name: index for index, block in enumerate(blocks)}
    wires, lost = [], 0
    for link in _entries(design, "links"):
        source, target = _layer(_text(link, "source"), places), _layer(_text(link, "target"), places)
        feeds = _text(link, "source").rpartition(".")[0] in memories
        if target < 0 or (source < 0 and not feeds):
            lost += 1
        else:
            wires.append(_wire(link, -1 if feeds else source, target))
    fed = {wire.target: wire for wire in wires if wire.source < 0}
    drawn = tuple(replace(block, memory=fed.get(index)) for index, block in enumerate(blocks))
    return Plan(_text(design, "top"), drawn, tuple(wire for wire in wires if wire.source >= 0), lost)


def short_ends(source: str, target: str) -> tuple[str, str]:
    """Return the ends of a link without the streams that a layer usually has: `A.out0_V`, `B.in0_V` as `A`, `B`."""
    return source.removesuffix(".out0_V"), target.removesuffix(".in0_V")


def _block(layer: Mapping[str, Any]) -> Block:
    cycles = _number(layer.get("cycles")) or None
    return Block(_text(layer, "name"), _text(layer, "kernel") or "unknown kernel", cycles)


def _layer(end: str, places: Mapping[str, int]) -> int:
    """Find the block at an end: a layer's `layer.stream`, or a stream of the design."""
    return places.get(end, places.get(end.rpartition(".")[0], -1))


def _wire(link: Mapping[str, Any], source: int, target: int) -> Wire:
    ends = (_text(link, "source"), _text(link, "target"))
    depth = max(0.0, _number(link.get("depth")) or 0.0)
    bits = _number(link.get("bits"))
    return Wire(_text(link, "name"), source, target, ends, bits, depth, _text(link, "tensor"))


def _entries(source: object, key: str) -> list[Mapping[str, Any]]:
    found = source.get(key) if isinstance(source, Mapping) else None
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list | tuple) else []


def _text(source: object, key: str) -> str:
    found = source.get(key) if isinstance(source, Mapping) else None
    return found if isinstance(found, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e15 else None
