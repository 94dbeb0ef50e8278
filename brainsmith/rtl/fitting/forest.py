"""The cheapest choice of a network without branches that meet again, by dynamic programming over the widths of streams.

Without limits, all that a layer's choice means to the rest is the width at the link towards it: so of each width the
cheapest options behind it are kept, link by link.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import Counts, Network, WidthLink

    Costs = NDArray[np.float64]


class _Edge(NamedTuple):
    """A link, seen from the layer that is decided later.

    Attributes:
        child: The layer that is decided first.
        own: The widths of the child's options, (options,).
        others: The widths of the later layer's options, (options,).
        costs: Between them, (widths of the child, widths of the later one).
    """

    child: int
    own: Counts
    others: Counts
    costs: Costs


def is_forest(network: Network) -> bool:
    """Tell whether no two ways lead from a layer to another, whatever the direction of the streams."""
    root = list(range(len(network.layers)))

    def find(at: int) -> int:
        while root[at] != at:
            at = root[at]
        return at

    for link in network.links:
        first, second = find(link.first), find(link.second)
        if first == second:
            return False
        root[first] = second
    return True


class Forest:
    """The cheapest choices of a network that `is_forest`, for any interval.

    Args:
        network: Its layers' options.
        prices: Of one of each resource, (resources,).
    """

    def __init__(self, network: Network, prices: NDArray[np.float64]) -> None:
        self._network = network
        self._costs: list[Costs] = [layer.needs @ prices for layer in network.layers]
        self._edges: list[list[_Edge]] = [[] for _ in network.layers]
        self._order: list[int] = []
        self._roots: list[int] = []
        seen: set[int] = set()
        for root in range(len(network.layers)):
            if root not in seen:
                self._roots.append(root)
                self._walk(root, seen, prices)

    def _walk(self, root: int, seen: set[int], prices: NDArray[np.float64]) -> None:
        """Order the layers of a tree, each behind all that it is decided after."""
        waiting, found = [root], []
        seen.add(root)
        while waiting:
            at = waiting.pop()
            found.append(at)
            for link in self._network.links:
                other = link.second if link.first == at else link.first
                if at in (link.first, link.second) and other not in seen:
                    seen.add(other)
                    self._edges[at].append(_edge(link, other, prices))
                    waiting.append(other)
        self._order += found[::-1]

    def cheapest(self, interval: int) -> tuple[int, ...]:
        """Return the cheapest options that take at most so many cycles for a frame; each layer has some."""
        layers = self._network.layers
        costs = [
            np.where(layer.cycles <= interval, cost, np.inf)
            for layer, cost in zip(layers, self._costs, strict=True)
        ]
        best: dict[int, tuple[Counts, Counts]] = {}
        for at in self._order:
            for edge in self._edges[at]:
                option, value = _least(edge.own, costs[edge.child], len(edge.costs))
                total = value[:, None] + edge.costs
                width = total.argmin(axis=0)
                best[edge.child] = option, width
                costs[at] = costs[at] + total[width, np.arange(total.shape[1])][edge.others]
        choice = [0] * len(layers)
        for root in self._roots:
            choice[root] = int(costs[root].argmin())
        for at in reversed(self._order):
            for edge in self._edges[at]:
                option, width = best[edge.child]
                choice[edge.child] = int(option[width[edge.others[choice[at]]]])
        return tuple(choice)


def _edge(link: WidthLink, child: int, prices: NDArray[np.float64]) -> _Edge:
    costs = link.needs @ prices
    if child == link.first:
        return _Edge(child, link.given, link.taken, costs)
    return _Edge(child, link.taken, link.given, costs.T)


def _least(widths: Counts, costs: Costs, count: int) -> tuple[Counts, Costs]:
    """Return of each width the cheapest option and its cost; infinite if no option has that width."""
    order = np.argsort(costs, kind="stable")[::-1]
    option = np.zeros(count, np.int64)
    option[widths[order]] = order  # the last one written is the cheapest
    value = np.full(count, np.inf)
    value[widths[order]] = costs[order]
    return option, value
