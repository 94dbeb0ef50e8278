"""The whole front of interval against cost: of each interval the cheapest circuit, whatever device it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.rtl.fitting.forest import Forest, is_forest
from brainsmith.rtl.fitting.solve import Chosen, choose

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.rtl.fitting.options import Counts, DeviceBudget, Network

MOST = 200
"""How many intervals of a network with branches are tried, each by a program of its own."""

_SAME = 1e-9


@dataclass(frozen=True)
class FrontPoint:
    """A circuit that no other one is as fast and as cheap as.

    Attributes:
        interval: Cycles from frame to frame.
        cost: The sum of the shares of the device of what is weighed.
        needs: What it takes, (resources,).
        choice: An option of each layer.
        proven: Whether no circuit of this interval is cheaper.
    """

    interval: int
    cost: float
    needs: Counts
    choice: tuple[int, ...]
    proven: bool = True


def front_of(network: Network, budget: DeviceBudget) -> list[FrontPoint]:
    """Return the front, the fastest circuit first.

    Without branches it is all of it, exact. With branches it has at most `MOST` intervals, evenly spread, each exact.

    Args:
        network: Its layers' options.
        budget: What each resource costs; its limits do not matter.
    """
    intervals = network.intervals
    if is_forest(network):
        cheapest: Callable[[int], FrontPoint] = _of_forest(network, budget)
    else:
        cheapest = _by_programs(network, budget)
        intervals = intervals[np.unique(np.linspace(0, len(intervals) - 1, MOST).round().astype(int))]
    found: list[FrontPoint] = []
    for interval in intervals:
        point = cheapest(int(interval))
        if not found or point.cost < found[-1].cost - _SAME:
            found.append(point)
    return found


def _of_forest(network: Network, budget: DeviceBudget) -> Callable[[int], FrontPoint]:
    forest = Forest(network, budget.prices)

    def cheapest(interval: int) -> FrontPoint:
        return _point(network, budget, forest.cheapest(interval))

    return cheapest


def _by_programs(network: Network, budget: DeviceBudget) -> Callable[[int], FrontPoint]:
    from dataclasses import replace

    unlimited = replace(budget, limits=np.full_like(budget.limits, np.iinfo(np.int64).max // 2))

    def cheapest(interval: int) -> FrontPoint:
        found = choose(network, unlimited, "resources", interval)
        if not isinstance(found, Chosen):
            raise AssertionError("without limits something fits")  # noqa: TRY004
        return _point(network, budget, found.choice, proven=found.proven)

    return cheapest


def _point(
    network: Network, budget: DeviceBudget, choice: tuple[int, ...], *, proven: bool = True
) -> FrontPoint:
    needs = network.needs_of(choice)
    return FrontPoint(network.interval_of(choice), float(budget.cost(needs)), needs, choice, proven)
