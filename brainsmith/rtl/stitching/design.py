"""A stitched design as data: layers, the streams between them, and the design's own streams."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from brainsmith.errors import BuildError
from brainsmith.figures import plural
from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.rtl.library.sources import RtlSource
    from brainsmith.rtl.simulation.simulation_plan import Memory

DESIGN = ""
"""The name that stands for the design itself at the end of a link."""

MEMORY = "memstream"
"""The kernel of a memory of weights."""


@dataclass(frozen=True)
class Layer:
    """One instance in the design.

    Attributes:
        name: Of the instance.
        module: What is instantiated.
        kernel: The operator, such as `MVAU_rtl`; `memstream` for the memory of a layer's weights.
        ports: All ports of the module, each with whether it is an input.
        cycles: FINN's estimate per frame; 0 for a memory.
        early: Whether it may begin a frame before its first input beat, and so give beats of one that is not fed.
    """

    name: str
    module: str
    kernel: str
    ports: tuple[tuple[str, bool], ...]
    cycles: int = 0
    early: bool = False


@dataclass(frozen=True)
class End:
    """One end of a link: a stream of a layer, or of the design (`DESIGN`)."""

    layer: str
    stream: str

    def __str__(self) -> str:
        return f"{self.layer}.{self.stream}" if self.layer else self.stream


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in a stream: row-major, `lanes` values in a beat, the first in the lowest bits.

    For example, one frame of shape (1, 6) of INT4 in 2 lanes is 3 beats of 8 bits: values 0 and 1, then 2 and 3, then 4
    and 5; value 0 is in bits 3:0 of the first beat, value 1 in bits 7:4.

    Tensors of specialised models are in the order of their streams: a depthwise sliding window of FINN gives the
    windows of its first `SIMD` channels, then those of the next, and its Python execution says the same.

    Attributes:
        tensor: Of the model.
        shape: Of one frame.
        lanes: Values in a beat.
        lane_bits: The width of a value.
        signed: Whether values are in two's complement.
        bipolar: Whether a value is -1 or 1, and its one bit 0 or 1.
    """

    tensor: str
    shape: tuple[int, ...]
    lanes: int
    lane_bits: int
    signed: bool
    bipolar: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """Return the least and the greatest value of a lane."""
        if self.bipolar:
            return -1, 1
        return (-(1 << self.lane_bits - 1) if self.signed else 0), (1 << self.lane_bits - self.signed) - 1

    @property
    def beats(self) -> int:
        """Return how many beats one frame has."""
        return prod(self.shape) // self.lanes


@dataclass(frozen=True)
class Link:
    """A stream from one layer to the next.

    Attributes:
        name: Unique in the design; that of its source.
        source: Where the beats come from.
        target: Where they go.
        bits: The width, a multiple of 8.
        layout: Of the tensor that it carries, as its source gives it; None for weights.
        depth: Of the FIFO in it, in beats; 0 is a plain connection.
    """

    name: str
    source: End
    target: End
    bits: int
    layout: Layout | None = None
    depth: int = 0

    @property
    def beats(self) -> int:
        """Return how many beats one frame has; 0 of weights, which have no frames."""
        return self.layout.beats if self.layout else 0

    @property
    def weights(self) -> bool:
        """Tell whether it carries a layer's weights; then it never gets a FIFO."""
        return self.layout is None


@dataclass(frozen=True)
class DesignStream:
    """An input or output of the design.

    Attributes:
        name: `s_axis_0`, `m_axis_0` and so on, as in FINN's stitched designs.
        bits: The width of a beat, a multiple of 8.
        layout: Of its tensor.
    """

    name: str
    bits: int
    layout: Layout


@dataclass(frozen=True)
class Design:
    """All of an accelerator: what is in it, how it is connected, and what it is made of.

    Attributes:
        top: The top module.
        layers: In the order of the model; the memory of a layer's weights comes before it.
        links: Each input of a layer is the target of one.
        inputs: Streams to feed.
        outputs: Streams to collect.
        sources: Of all layers, as open tools read them; not the top module.
        memories: Contents of weights and thresholds.
    """

    top: str
    layers: tuple[Layer, ...]
    links: tuple[Link, ...]
    inputs: tuple[DesignStream, ...]
    outputs: tuple[DesignStream, ...]
    sources: tuple[RtlSource, ...]
    memories: tuple[Memory, ...]

    @property
    def interval(self) -> int:
        """The estimate of the cycles from one frame to the next: those of the slowest layer."""
        return max(layer.cycles for layer in self.layers)

    @property
    def latency(self) -> int:
        """The estimate of the cycles of one frame: those of all layers, one after the other."""
        # For limits of runs and counts of frames. Layers overlap, so that it is rarely too small, and runs are given
        # up after ten times as many cycles and 1,000. What a frame takes is `first_latency` of the layers' schedules.
        return sum(layer.cycles for layer in self.layers)

    @property
    def surplus(self) -> tuple[str, ...]:
        """The outputs that may give beats of a frame that is not fed: those of a design that reads padding pixel by pixel.

        What is computed of padding alone may fill windows of several pixels further on, so it is all outputs or none.
        """
        ahead: set[str] = set()
        for layer in self.layers:
            sources = {link.source.layer for link in self.links if link.target.layer == layer.name}
            if layer.early or (sources & ahead and not self._waits_for_pixels(layer)):
                ahead.add(layer.name)
        read = any(layer.name in ahead and not layer.early for layer in self.layers)
        return tuple(stream.name for stream in self.outputs) if read else ()

    def _waits_for_pixels(self, layer: Layer) -> bool:
        """Tell whether a layer gives windows of several pixels, which padding alone does not fill."""
        if not layer.kernel.startswith("ConvolutionInputGenerator"):
            return False
        channels = [(link, link.layout.shape[-1]) for link in self.links if link.layout]
        taken = {count for link, count in channels if link.target.layer == layer.name}
        given = {count for link, count in channels if link.source.layer == layer.name}
        return taken != given

    def digest(self) -> str:
        """Return 40 hexadecimal digits that stand for the whole content."""
        return digest(json.dumps(asdict(self), sort_keys=True))

    def with_depths(self, depths: Mapping[str, int]) -> Design:
        """Return the design with other FIFOs.

        Args:
            depths: In beats, by the names of links; 0 takes a FIFO out. Links that are not named stay.

        Raises:
            BuildError: There is no such link, it carries weights, or a depth is 1 or negative.
        """
        known = {link.name for link in self.links if not link.weights}
        for name, depth in depths.items():
            if name not in known:
                raise BuildError(
                    f"there is no link {name!r} for a FIFO; the links are {', '.join(sorted(known))}"
                )
            if depth < 0 or depth == 1:
                raise BuildError(f"the depth of the FIFO {name!r} must be 0, or 2 or more, not {depth!r}")
        links = (replace(link, depth=depths.get(link.name, link.depth)) for link in self.links)
        return replace(self, links=tuple(links))

    def __str__(self) -> str:
        lines = [f"design {self.top}"]
        lines += [
            f"  {layer.kernel:<28} {layer.name}, {plural(layer.cycles, 'cycle')}" for layer in self.layers
        ]
        for link in self.links:
            fifo = f", FIFO of {link.depth:,}" if link.depth else ""
            lines.append(f"  {link.source} -> {link.target}: {plural(link.bits, 'bit')}{fifo}")
        return "\n".join(lines)
