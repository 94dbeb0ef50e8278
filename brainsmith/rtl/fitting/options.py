"""What can be chosen: the foldings of each layer, and what stands between neighbours that are folded differently."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.forks import cached_property
from brainsmith.rtl.devices.device import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.devices.device import FpgaDevice
    from brainsmith.rtl.fitting.pipeline import Pipeline

    Counts = NDArray[np.int64]

WEIGHED = ("lut", "bram18", "dsp")
"""What the cost of a circuit counts: the sum of the shares of a device that it takes of each."""


@dataclass(frozen=True)
class LayerOptions:
    """A layer, or a few that are folded together, and what it may be.

    Attributes:
        name: How messages call it.
        cycles: From frame to frame, of each option, (options,).
        needs: What each option takes of a device, (options, resources), in the order of `RESOURCES`.
        foldings: What each option is; only whoever made it reads it.
        timings: A number of each option, (options,): those with one number move beats alike. Empty if nobody asks for
            latencies.
    """

    name: str
    cycles: Counts
    needs: Counts
    foldings: Sequence[Any] = ()
    timings: Counts = field(default_factory=lambda: np.empty(0, np.int64))

    def kept(self, which: NDArray[Any]) -> LayerOptions:
        """Return the layer with some of its options."""
        few = [self.foldings[at] for at in np.arange(len(self.cycles))[which]] if self.foldings else ()
        timings = self.timings[which] if len(self.timings) else self.timings
        return LayerOptions(self.name, self.cycles[which], self.needs[which], few, timings)


@dataclass(frozen=True)
class WidthLink:
    """A stream from a layer to another.

    Attributes:
        first: The place of the layer that gives it.
        second: The place of the layer that takes it.
        given: Which width each option of the first gives, as a row of `needs`, (options,).
        taken: Which width each option of the second takes, as a column of `needs`, (options,).
        needs: What stands between two widths (a converter, a FIFO), (widths, widths, resources).
    """

    first: int
    second: int
    given: Counts
    taken: Counts
    needs: Counts

    def of(self, first: int, second: int) -> Counts:
        """Return what stands between two options, (resources,)."""
        found: Counts = self.needs[self.given[first], self.taken[second]]
        return found


@dataclass(frozen=True)
class Network:
    """What can be chosen.

    Attributes:
        layers: All of them.
        links: The streams between them, each from a layer to a later one.
        pipeline: What latencies follow from; None if nobody asks for them.
    """

    layers: tuple[LayerOptions, ...]
    links: tuple[WidthLink, ...] = ()
    pipeline: Pipeline | None = None

    def kept(self, which: Sequence[NDArray[Any]]) -> Network:
        """Return the network with some of the options of each layer."""
        layers = tuple(layer.kept(few) for layer, few in zip(self.layers, which, strict=True))
        links = tuple(
            replace(link, given=link.given[which[link.first]], taken=link.taken[which[link.second]])
            for link in self.links
        )
        return Network(layers, links, self.pipeline)

    def within(self, interval: int) -> Network:
        """Return the network with the options that take at most so many cycles for a frame."""
        return self.kept([layer.cycles <= interval for layer in self.layers])

    @cached_property
    def intervals(self) -> Counts:
        """The cycles that some option takes and no layer is slower than, ascending: what an interval can be."""
        least = max(int(layer.cycles.min()) for layer in self.layers)
        every: Counts = np.unique(np.concatenate([layer.cycles for layer in self.layers]))
        return every[every >= least]

    def needs_of(self, choice: Sequence[int]) -> Counts:
        """Return what a choice takes, (resources,): an option of each layer, and all that stands between them."""
        layers = sum(layer.needs[at] for layer, at in zip(self.layers, choice, strict=True))
        total: Counts = layers + sum(link.of(choice[link.first], choice[link.second]) for link in self.links)
        return total

    def interval_of(self, choice: Sequence[int]) -> int:
        """Return the cycles from frame to frame: those of the slowest layer."""
        return max(int(layer.cycles[at]) for layer, at in zip(self.layers, choice, strict=True))


@dataclass(frozen=True)
class DeviceBudget:
    """What a circuit may take, and what each resource costs.

    Attributes:
        limits: How many there are, (resources,), in the order of `RESOURCES`.
        prices: Of one of each: its share of the device, for what is `WEIGHED`; else 0, (resources,).
    """

    limits: Counts
    prices: NDArray[np.float64]

    def cost(self, needs: Counts) -> NDArray[np.float64]:
        """Return what needs cost, (..., resources) to (...,)."""
        found: NDArray[np.float64] = needs @ self.prices
        return found


def budget_of(device: FpgaDevice, use: float = 1.0) -> DeviceBudget:
    """Return a share of a device as a budget.

    Args:
        device: What is there.
        use: The share of each resource that may be taken, above 0 and up to 1.
    """
    there = np.array([getattr(device, name) for name in RESOURCES], np.int64)
    weighed = np.array([name in WEIGHED for name in RESOURCES]) & (there > 0)
    prices = np.where(weighed, 1 / np.maximum(there, 1), 0.0)
    return DeviceBudget(np.floor(there * use + 1e-9).astype(np.int64), prices)
