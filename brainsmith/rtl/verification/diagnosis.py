"""What is wrong with a design, as data and as a sentence that a user can act on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.compare import Comparison, Mismatch
    from brainsmith.rtl.verification.waits import Standstill

Kind = Literal["right", "layer", "fifo", "stalled", "slow", "unseen"]


@dataclass(frozen=True)
class LinkState:
    """What moved at a link.

    Attributes:
        name: Of the link.
        source: Where it begins.
        target: Where it ends.
        tensor: What it carries.
        depth: Of its FIFO.
        beats: How many should have moved.
        given: How many came from the source.
        taken: How many the target took.
        blocked: Cycles in which the source offered a beat that was not taken.
        starved: Cycles in which the target was ready for a beat that was not there.
        wrong: Values of the source that are not the golden model's, of those that moved.
        values: How many values were compared.
    """

    name: str
    source: str
    target: str
    tensor: str
    depth: int
    beats: int
    given: int
    taken: int
    blocked: int
    starved: int
    wrong: int
    values: int

    def __str__(self) -> str:
        wrong = f", {self.wrong} of {self.values} values wrong" if self.wrong else ""
        left = f", {self.given - self.taken} in its FIFO (depth {self.depth})" if self.depth else ""
        return (
            f"{self.name} ({self.source} -> {self.target}): {self.given} of {self.beats} beats{left}{wrong}"
        )


@dataclass(frozen=True)
class Diagnosis:
    """Where a design goes wrong first.

    Attributes:
        kind: `right`: every link carries what the golden model computes. `layer`: its inputs are right and its
            output is not. `fifo`: what comes out of a FIFO is not what went into it. `stalled`: nothing wrong moved,
            and the run stands still. `slow`: nothing wrong moved, and the run had not ended at its limit.
            `unseen`: the simulation reports an error before anything wrong moved.
        frames: How many were run.
        cycles: How many the run took.
        layer: At fault; empty if none is, or a FIFO, or a circle of waits.
        kernel: Of the layer.
        link: Where the first wrong or missing value is.
        first: The first wrong value; None if beats are missing or too many.
        wrong: Values at the link that are not the golden model's.
        values: How many were compared.
        moved: Beats that moved at the link.
        beats: How many should have.
        standstill: Why the run did not end.
        problem: What the simulation itself reports.
        links: What moved at every link, in the order of the design.
    """

    kind: Kind
    frames: int
    cycles: int
    layer: str = ""
    kernel: str = ""
    link: str = ""
    first: Mismatch | None = None
    wrong: int = 0
    values: int = 0
    moved: int = 0
    beats: int = 0
    standstill: Standstill | None = None
    problem: str = ""
    links: tuple[LinkState, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [self._verdict()]
        if self.standstill is not None:
            lines += [f"  {reason}" for reason in self.standstill.reasons]
        if self.kind != "right" and self.first is None:
            lines += [f"  {state}" for state in self.links]
        if self.standstill is not None and self.standstill.circle:
            full = " or ".join(map(repr, self.standstill.full)) or "a link between them"
            fork = self.standstill.fork
            why = f"it must hold what waits while the other branch of {fork!r} computes; " if fork else ""
            lines.append(
                f"  give {full} a deeper FIFO: {why}run the step rtl_size_fifos, or design.with_depths"
            )
        return "\n".join(lines)

    def _verdict(self) -> str:
        where = f"layer {self.layer!r} ({self.kernel})" if self.layer else f"the FIFO of link {self.link!r}"
        if self.kind in ("layer", "fifo"):
            return f"{where} is at fault: {_RIGHT[self.kind]}, and at {self.link!r} {self._what()}"
        if self.kind == "stalled":
            return f"{self._stuck()} stands still after {plural(self.cycles, 'cycle')} and {plural(self.frames, 'frame')}:"
        if self.kind == "slow":
            return f"beats still moved after {plural(self.cycles, 'cycle')}, and all of them were right: set a higher limit"
        if self.kind == "unseen":
            return "no wrong value moved between layers before the simulation reported an error:"
        return f"every link of the design carries what the golden model computes, for {plural(self.frames, 'frame')}"

    def _stuck(self) -> str:
        if self.layer:
            return f"layer {self.layer!r} ({self.kernel}) is at fault: the design"
        held = self.standstill and not self.standstill.circle and self.link
        return f"the FIFO of link {self.link!r} is at fault: the design" if held else "the design"

    def _what(self) -> str:
        if self.first is not None:
            index = ", ".join(map(str, self.first.index))
            return (
                f"{self.wrong} of {self.values} values are wrong, first in frame {self.first.frame} at [{index}]: "
                f"{self.first.found} instead of {self.first.expected}"
            )
        kind = "only " if self.moved < self.beats else ""
        return f"{kind}{self.moved} of {self.beats} beats moved"


_RIGHT = {"layer": "its inputs are right", "fifo": "what goes into it is right"}


def link_state(link: Link, source: Comparison, taken: int, blocked: int, starved: int) -> LinkState:
    """Describe a link that carries a tensor."""
    return LinkState(
        name=link.name,
        source=str(link.source),
        target=str(link.target),
        tensor=link.layout.tensor if link.layout else "",
        depth=link.depth,
        beats=source.beats,
        given=source.moved,
        taken=taken,
        blocked=blocked,
        starved=starved,
        wrong=source.wrong,
        values=source.values,
    )


def kernel_of(design: Design, layer: str) -> str:
    """Return the kernel of a layer; empty if the design has no such layer."""
    return next((one.kernel for one in design.layers if one.name == layer), "")
