"""Why a run stands still: who waits for whom, from the output that is not complete back to the cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.figures import plural
from brainsmith.rtl.stitching.design import DESIGN

if TYPE_CHECKING:
    from brainsmith.rtl.stitching.design import Link
    from brainsmith.rtl.verification.link_watch import WatchedRun


@dataclass(frozen=True)
class Standstill:
    """Why a run did not end.

    Attributes:
        culprit: The layer that neither waits for a beat nor for room, and does nothing; or the link whose FIFO
            does not give what it holds. Empty in a cycle.
        link: Where the beats are missing, or not taken.
        reasons: One sentence for each wait, from the output backwards.
        circle: Whether the waits lead back to where they came from.
        full: In a cycle, the links in it whose beats are not taken: one of their FIFOs is too small.
        fork: In a cycle, the layer that waits for room in one branch while another lacks its beats.
    """

    culprit: str
    link: str
    reasons: tuple[str, ...]
    circle: bool
    full: tuple[str, ...] = ()
    fork: str = ""


def find_standstill(run: WatchedRun) -> Standstill | None:
    """Follow the waits of a run that did not end; None if every output is complete."""
    links = [link for link in run.design.links if not link.weights]
    outputs = [link for link in links if link.target.layer == DESIGN]
    late = [link for link in outputs if run.targets[link.name].moved < run.beats(link)]
    return _Search(run, links).follow(late[0]) if late else None


class _Search:
    """Goes from wait to wait; each is a link, and whether it lacks beats or its beats are not taken."""

    def __init__(self, run: WatchedRun, links: list[Link]) -> None:
        self.run = run
        self.links = links
        self.reasons: list[str] = []

    def follow(self, link: Link) -> Standstill:
        path: list[tuple[Link, bool]] = []
        lacking = True
        while (link, lacking) not in path:
            path.append((link, lacking))
            culprit, following = self._lack(link) if lacking else self._jam(link)
            if following is None:
                return Standstill(culprit, link.name, tuple(self.reasons), False)
            link, lacking = following
        self.reasons.append(f"so all of these wait for each other, from {link.name!r} on")
        circle = path[path.index((link, lacking)) :]
        full = tuple(one.name for one, lacks in circle if not lacks)
        return Standstill("", link.name, tuple(self.reasons), True, full, _fork(circle))

    def _lack(self, link: Link) -> tuple[str, tuple[Link, bool] | None]:
        """Explain why no beat comes at the end of a link."""
        source, target = self.run.sources[link.name], self.run.targets[link.name]
        held = source.moved - target.moved
        if held:
            self.reasons.append(f"the FIFO of {link.name!r} holds {plural(held, 'beat')} and gives none")
            return link.name, None
        if link.source.layer == DESIGN:
            self.reasons.append(f"input {link.source} gives no further beat: {self._progress(link)}")
            return DESIGN, None
        self.reasons.append(f"{self._missing(link)}: layer {link.source.layer!r} does not give it")
        return self._at(link.source.layer, "does not give what is missing")

    def _jam(self, link: Link) -> tuple[str, tuple[Link, bool] | None]:
        """Explain why a beat that is offered at the beginning of a link is not taken."""
        if link.depth and self.run.targets[link.name].phase != "blocked":
            self.reasons.append(f"the FIFO of {link.name!r} takes no beat and gives none")
            return link.name, None
        held = self.run.sources[link.name].moved - self.run.targets[link.name].moved
        full = f"the FIFO of {link.name!r} is full with {plural(held, 'beat')}: " if link.depth else ""
        taker = f"layer {link.target.layer!r}" if link.target.layer else f"output {link.target}"
        self.reasons.append(f"{full}{taker} does not take a beat at {link.name!r}, {self._progress(link)}")
        if link.target.layer == DESIGN:
            return DESIGN, None
        return self._at(link.target.layer, "does not take what is offered")

    def _at(self, layer: str, otherwise: str) -> tuple[str, tuple[Link, bool] | None]:
        """Return what a layer waits for: a beat, or room for one."""
        for link in self.links:
            taken = self.run.targets[link.name]
            lacks = taken.phase in ("idle", "starved") and taken.moved < self.run.beats(link)
            if link.target.layer == layer and lacks:
                return "", (link, True)
        for link in self.links:
            if link.source.layer == layer and self.run.sources[link.name].phase == "blocked":
                return "", (link, False)
        self.reasons.append(f"layer {layer!r} waits for no beat and for no room, and {otherwise}")
        return layer, None

    def _missing(self, link: Link) -> str:
        moved, beats = self.run.sources[link.name].moved, self.run.beats(link)
        if moved >= beats or link.layout is None:
            return f"{link.name!r} has all of its {beats} beats"
        frame, beat = divmod(moved, link.layout.beats)
        return f"{link.name!r} lacks beat {beat} (of {link.layout.beats}) of frame {frame}, {self._progress(link)}"

    def _progress(self, link: Link) -> str:
        return f"{self.run.sources[link.name].moved} of {self.run.beats(link)} moved"


def _fork(circle: list[tuple[Link, bool]]) -> str:
    """Return the layer that does not give at one of its outputs what is lacking, because another is not taken."""
    for (link, lacking), (following, lacks) in zip(circle, [*circle[1:], circle[0]], strict=True):
        if lacking and not lacks and link.source.layer == following.source.layer:
            return link.source.layer
    return ""
