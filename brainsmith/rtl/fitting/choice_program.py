"""Choosing as a mixed-integer program, which HiGHS solves.

Each option is a variable that is 0 or 1, one of each layer is 1. Each pair of widths of a link is a variable that is 1
where both ends have these widths: the sums over either end are what the options of that end say. So these variables are
whole whenever the options are, and without limits and branches the relaxation has a whole solution for every objective.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import Network, WidthLink
    from brainsmith.rtl.fitting.pipeline import Moment, Wait


@dataclass(frozen=True)
class Solution:
    """What HiGHS found.

    Attributes:
        choice: An option of each layer; None if none was found. If options may be taken in parts, that of each layer of
            which most is taken, which need not fit.
        value: Of the objective; infinite without a choice.
        bound: No choice has less; infinite if there is none.
    """

    choice: tuple[int, ...] | None
    value: float
    bound: float


@dataclass
class _ProgramRows:
    """Rows of a program: of each its bounds, and its entries."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])
    places: list[NDArray[Any]] = field(default_factory=list)
    values: list[NDArray[Any]] = field(default_factory=list)

    def add(self, low: float, high: float, *entries: tuple[Any, Any]) -> None:
        """Add a row: between what the sum of its entries must lie."""
        self.low.append(low)
        self.high.append(high)
        count = 0
        for places, values in entries:
            places = np.atleast_1d(places)
            self.places.append(places)
            self.values.append(np.broadcast_to(np.asarray(values, float), places.shape))
            count += len(places)
        self.starts.append(self.starts[-1] + count)


class ChoiceProgram:
    """A network's choices, with limits and an objective.

    Args:
        network: Of which each layer has an option.
        seconds: How long each call may take.
    """

    def __init__(self, network: Network, seconds: float) -> None:
        self._network, self._seconds = network, seconds
        sizes = [len(layer.cycles) for layer in network.layers]
        self._begin = np.concatenate([[0], np.cumsum(sizes)])
        self._rows = _ProgramRows()
        self._needs = [layer.needs for layer in network.layers]
        self._columns = int(self._begin[-1])
        self._pairs: list[NDArray[np.int64]] = []
        self._extra: list[tuple[float, float]] = []
        for place in range(len(sizes)):
            self._rows.add(1, 1, (self._of(place), 1))
        for link in network.links:
            self._add_link(link)
        self._matrix = np.concatenate(self._needs).astype(float)

    def _of(self, place: int) -> NDArray[np.int64]:
        """Return the variables of a layer's options."""
        return np.arange(self._begin[place], self._begin[place + 1])

    def _add_link(self, link: WidthLink) -> None:
        """Add the pairs of widths at a link, and what says which of them is there."""
        rows, row_of = np.unique(link.given, return_inverse=True)
        columns, column_of = np.unique(link.taken, return_inverse=True)
        pairs = self._columns + np.arange(len(rows) * len(columns)).reshape(len(rows), len(columns))
        self._columns += pairs.size
        self._pairs.append(pairs)
        self._needs.append(link.needs[np.ix_(rows, columns)].reshape(pairs.size, -1))
        for at in range(len(rows)):
            self._rows.add(0, 0, (pairs[at], 1), (self._of(link.first)[row_of == at], -1))
        for at in range(len(columns)):
            self._rows.add(0, 0, (pairs[:, at], 1), (self._of(link.second)[column_of == at], -1))

    def limit(self, limits: NDArray[Any]) -> None:
        """Limit what is taken of each resource, (resources,)."""
        for limit, used, needs in self._shares(limits):
            self._rows.add(-np.inf, limit, (used, needs))

    def exceed(self, limits: NDArray[Any]) -> int:
        """Limit what is taken of each resource to its limit, and as many times that as a variable says besides.

        Returns:
            The place of the variable.
        """
        more = self._new(0, np.inf)
        for limit, used, needs in self._shares(limits):
            self._rows.add(-np.inf, limit, (used, needs), (more, -1))
        return more

    def _shares(self, limits: NDArray[Any]) -> Iterator[tuple[float, NDArray[Any], NDArray[Any]]]:
        """Yield of each resource its limit, who takes of it, and how much, in shares of the limit: rows of a like size."""
        for resource, limit in enumerate(limits):
            needs, scale = self._matrix[:, resource], max(float(limit), 1.0)
            used = np.flatnonzero(needs)
            if used.size:
                yield float(limit) / scale, used, needs[used] / scale

    def _new(self, low: float, high: float) -> int:
        """Add a variable that is no choice, and return its place."""
        self._extra.append((low, high))
        return self._columns + len(self._extra) - 1

    def latency(self, waits: Iterable[Wait], most: int) -> int:
        """Add the latency: a variable, whose place is returned, and what bounds it from below.

        Args:
            waits: Of this network, in the order in which a frame passes them.
            most: The most that it may be, cycles.
        """
        variables: dict[Moment | None, int] = {}
        latest: dict[Moment | None, float] = {None: 0.0}  # if all is chosen that is slow
        for wait in waits:
            cycles = wait.of(self._network).ravel()
            begin = latest[wait.before]
            latest[wait.after] = max(latest.get(wait.after, 0.0), begin + float(cycles.max()))
            # A moment that does not wait for the other one is not before the reset.
            cycles = np.where(np.isinf(cycles), -begin, cycles)
            if wait.after not in variables:
                variables[wait.after] = self._new(0, np.inf if wait.after else most)
            entries: list[tuple[Any, Any]] = [(variables[wait.after], 1)]
            if wait.before is not None:
                entries.append((variables[wait.before], -1))
            if wait.layer is not None:
                entries.append((self._of(wait.layer), -cycles))
            elif wait.link is not None:
                entries.append((self._pairs[wait.link].ravel(), -cycles))
            constant = float(cycles[0]) if wait.layer is None and wait.link is None else 0.0
            self._rows.add(constant, np.inf, *entries)
        return variables[None]

    def solve(
        self, prices: NDArray[Any] | None = None, variable: int | None = None, *, relaxed: bool = False
    ) -> Solution:
        """Minimise what is taken, by prices (resources,), or a variable.

        Args:
            prices: Of one of each resource.
            variable: The place of one that was added.
            relaxed: Whether options may be taken in parts: the value is then a bound only.

        Raises:
            BuildError: HiGHS fails.
        """
        from highspy import HighsModelStatus

        solver = _silent_solver()
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("random_seed", 0)
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", 0.0)
        solver.setOptionValue("time_limit", float(self._seconds))
        solver.passModel(self._model(prices, variable, relaxed))
        solver.run()
        status, info = solver.getModelStatus(), solver.getInfo()
        if status in (HighsModelStatus.kInfeasible, HighsModelStatus.kUnboundedOrInfeasible):
            return Solution(None, np.inf, np.inf)
        if status not in (HighsModelStatus.kOptimal, HighsModelStatus.kTimeLimit):
            raise BuildError(f"HiGHS could not choose the foldings: {solver.modelStatusToString(status)}")
        if relaxed and status != HighsModelStatus.kOptimal:
            return Solution(None, -np.inf, -np.inf)
        if info.primal_solution_status != 2:  # kSolutionStatusFeasible: time was up before there was one
            return Solution(None, np.inf, info.mip_dual_bound)
        found = np.asarray(solver.getSolution().col_value)
        choice = tuple(int(np.argmax(found[self._of(place)])) for place in range(len(self._network.layers)))
        value = info.objective_function_value
        return Solution(choice, value, value if relaxed else info.mip_dual_bound)

    def _model(self, prices: NDArray[Any] | None, variable: int | None, relaxed: bool) -> Any:
        """Return the program as HiGHS takes it."""
        from highspy import HighsLp, HighsVarType, MatrixFormat

        choices, extra = int(self._begin[-1]), self._extra
        total = self._columns + len(extra)
        cost = np.zeros(total)
        if prices is not None:
            cost[: self._columns] = self._matrix @ prices
        if variable is not None:
            cost[variable] = 1.0
        lp = HighsLp()
        lp.num_col_, lp.num_row_ = total, len(self._rows.low)
        lp.col_cost_ = cost
        # Sums over either end hold pairs between 0 and 1.
        lp.col_lower_ = np.array([0.0] * self._columns + [low for low, _ in extra])
        lp.col_upper_ = np.array([1.0] * self._columns + [high for _, high in extra])
        lp.row_lower_, lp.row_upper_ = np.array(self._rows.low), np.array(self._rows.high)
        lp.a_matrix_.format_ = MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.array(self._rows.starts, np.int32)
        lp.a_matrix_.index_ = np.concatenate(self._rows.places).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate(self._rows.values)
        if not relaxed:
            whole = [HighsVarType.kInteger] * choices
            lp.integrality_ = [*whole, *[HighsVarType.kContinuous] * (total - choices)]
        return lp


def _silent_solver() -> Any:
    """Return a HiGHS that prints nothing: it says what it is as soon as its callbacks are enabled, when it is made."""
    from highspy import Highs

    class Silent(Highs):
        def enableCallbacks(self) -> None:
            self.silent()
            super().enableCallbacks()  # type: ignore[no-untyped-call]

    return Silent()  # type: ignore[no-untyped-call]
