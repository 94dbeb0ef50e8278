"""What is wrong with a design, as data and as a sentence that a user can act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from brainsmith.figures import plural

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Design, Link
    from brainsmith.rtl.verification.beat_comparison import Comparison
    from brainsmith.rtl.verification.waits import Standstill

Kind = Literal["right", "layer", "fifo", "stalled", "slow", "unseen"]


@dataclass(frozen=True)
class LinkState:
    """What moved at a link that carries a tensor, against the golden model.

    Attributes:
        link: The link.
        source: What it was given.
        target: What was taken from it, after its FIFO.
        early: Whether its source may give beats of a frame that was not fed.
    """

    link: Link
    source: Comparison
    target: Comparison
    early: bool

    def __str__(self) -> str:
        link, seen = self.link, self.source
        wrong = f", {seen.wrong} of {seen.values} values wrong" if seen.wrong else ""
        left = f", {seen.moved - self.target.moved} in its FIFO (depth {link.depth})" if link.depth else ""
        return (
            f"{link.name} ({link.source} -> {link.target}): {seen.moved} of {seen.beats} beats{left}{wrong}"
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
        seen: What moved there, of a layer or a FIFO at fault.
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
    seen: Comparison | None = None
    standstill: Standstill | None = None
    problem: str = ""
    links: tuple[LinkState, ...] = ()

    def __str__(self) -> str:
        lines = [self._verdict()]
        if self.standstill is not None:
            lines += [f"  {reason}" for reason in self.standstill.reasons]
        if self.kind != "right" and not (self.seen and self.seen.first):
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
        if self.seen is not None:
            return f"{where} is at fault: {_RIGHT[self.kind]}, and at {self.link!r} {_what(self.seen)}"
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


_RIGHT = {"layer": "its inputs are right", "fifo": "what goes into it is right"}


def _what(seen: Comparison) -> str:
    if seen.first is not None:
        return f"{seen.wrong} of {seen.values} values are wrong, first in {seen.first}"
    kind = "" if seen.complete else "only "
    return f"{kind}{seen.moved} of {seen.beats} beats moved"


def kernel_of(design: Design, layer: str) -> str:
    """Return the kernel of a layer; empty if the design has no such layer."""
    return next((one.kernel for one in design.layers if one.name == layer), "")
