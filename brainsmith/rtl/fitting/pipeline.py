"""The latency of a choice of foldings, and what makes it as long as it is.

A beat waits for the beats that it is made of, so a latency is the sum of cycles along the longest way, from beat to beat,
through layers and streams. What lies between two beats on that way bounds every other choice, too: the later beat comes at
least as long after the earlier one as the layer, or the stream, of that choice needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.rtl.sizing.traces import THROUGH
from brainsmith.rtl.timing.beat_schedule import ALWAYS, BeatSchedule, converted
from brainsmith.rtl.timing.schedule_timing import Played

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import Network
    from brainsmith.rtl.sizing.traces import Cycles

    Stages = tuple[BeatSchedule, ...]
    Cycle = NDArray[np.float64]

_NEVER = ALWAYS // 2
"""A cycle before which only what waits for nothing can be."""

_GRID = 8
"""Parts of a frame whose ends stand in for a value that not all options wait for."""


class LayerEnd(NamedTuple):
    """Where a stream begins or ends.

    Attributes:
        layer: The place of the layer.
        at: Which of its outputs, or inputs that are streams.
    """

    layer: int
    at: int


@dataclass(frozen=True)
class BeatStream:
    """A stream of a network.

    Attributes:
        source: Who gives it; None if it comes into the design.
        target: Who takes it; None if it leaves the design.
        link: The place of its link; None at the ends of the design.
    """

    source: LayerEnd | None
    target: LayerEnd | None
    link: int | None = None


@dataclass(frozen=True)
class Pipeline:
    """What a network's latency follows from.

    Attributes:
        streams: All of them.
        stages: Of a number among the `timings` of the layers' options: the schedules of what is folded together, each
            behind the one before it. The first one takes the inputs, the last one gives the outputs.
    """

    streams: tuple[BeatStream, ...]
    stages: Callable[[int], Stages]


class Moment(NamedTuple):
    """When a value of a frame passes an end of a stream.

    Attributes:
        stream: The place of the stream.
        taken: Whether it can be taken there; else it is given.
        share: The value is the last one of this share of the frame, above 0 and up to 1: some beat of any width has it.
    """

    stream: int
    taken: bool
    share: Fraction

    def beat(self, beats: int) -> int:
        """Return which of so many beats of the frame has it."""
        return ceil(self.share * beats) - 1


class Wait(NamedTuple):
    """By how much one moment is behind another at least.

    Attributes:
        before: The earlier moment; None for the reset.
        after: The later one; None for the end of the frame.
        layer: The place of the layer that lies between them, if it is one.
        link: The place of the link that lies between them, if it is one.
        cycles: Of each option, (options,), of each two widths, (widths, widths), or of all, (). Minus infinity where the
            later moment does not wait for the earlier one.
    """

    before: Moment | None
    after: Moment | None
    layer: int | None
    link: int | None
    cycles: Cycle

    def least(self, network: Network) -> float:
        """Return the cycles that it is at least, whatever is chosen."""
        return float(self.of(network).min())

    def of(self, network: Network) -> Cycle:
        """Return the cycles of what there is in a network, as `cycles`."""
        if self.link is None:
            return self.cycles
        link = network.links[self.link]
        return self.cycles[np.ix_(np.unique(link.given), np.unique(link.taken))]


def latency_of(network: Network, choice: Sequence[int]) -> int:
    """Return the cycles from a frame's first beat in to its last beat out, of a design that is empty.

    Args:
        network: With its pipeline.
        choice: An option of each layer.
    """
    return _Run(network, choice).latency


def waits_of(network: Network, choice: Sequence[int], known: Callable[[Moment], bool]) -> Iterator[Wait]:
    """Yield what makes the latency of a choice as long as it is.

    Summed along any way, by what is chosen, these waits are not more than the latency of any choice; of this one, along one
    way they are just that.

    Args:
        network: With its pipeline.
        choice: An option of each layer.
        known: Tells of which moments it is known what they wait for; those on this choice's own way are yielded
            nevertheless.
    """
    return _Waits(network, choice, known).all()


def order_of(network: Network, wait: Wait) -> float:
    """Return a number by which waits are in the order in which a frame passes them."""
    if wait.after is None:
        return np.inf
    stream = _pipeline(network).streams[wait.after.stream]
    if wait.after.taken:
        assert stream.target is not None
        return 2 * stream.target.layer
    assert stream.source is not None
    return 2 * stream.source.layer + 1


class _Run:
    """A frame that passes through an empty design.

    Attributes:
        put: By the place of a stream: when its beats are given.
        due: By the place of a stream: when they can be taken.
        latency: Of the frame, cycles.
    """

    def __init__(self, network: Network, choice: Sequence[int]) -> None:
        self.network, self.choice = network, choice
        self.streams = _pipeline(network).streams
        self.put: dict[int, Cycles] = {}
        self.due: dict[int, Cycles] = {}
        for place in range(len(choice)):
            given = _played(self.stages(place), [self._taken(at) for at in self.taken_by(place)])
            for at, stream in enumerate(self.streams):
                if stream.source is not None and stream.source.layer == place:
                    self._pass(at, given[stream.source.at])
        self.last = max(
            (at for at, stream in enumerate(self.streams) if stream.target is None),
            key=lambda at: int(self.due[at][-1]),
        )
        self.latency = int(self.due[self.last][-1]) + 1

    def stages(self, place: int) -> Stages:
        """Return the schedules of what a layer was chosen to be."""
        return _stages(self.network, place, self.choice[place])

    def taken_by(self, place: int) -> list[int]:
        """Return the places of the streams that a layer takes, by its inputs."""
        found = [
            (stream.target.at, at)
            for at, stream in enumerate(self.streams)
            if stream.target is not None and stream.target.layer == place
        ]
        return [at for _, at in sorted(found)]

    def _taken(self, at: int) -> Cycles:
        stream = self.streams[at]
        if stream.source is None:
            assert stream.target is not None
            self.due[at] = (
                np.arange(_taken_beats(self.stages(stream.target.layer), stream.target.at)) + THROUGH
            )
        return self.due[at]

    def _pass(self, at: int, put: Cycles) -> None:
        """Let beats pass a stream: a FIFO, or a width converter between two."""
        target, due = self.streams[at].target, put + THROUGH
        if target is not None:
            beats = _taken_beats(self.stages(target.layer), target.at)
            if beats != len(put):
                (due,) = _played((converted(len(put), beats),), [due])
                due = due + THROUGH
        self.put[at], self.due[at] = put, due


class _Waits:
    """Follows beats back to those that they wait for."""

    def __init__(self, network: Network, choice: Sequence[int], known: Callable[[Moment], bool]) -> None:
        self._run, self._network, self._known = _Run(network, choice), network, known
        self._asked: list[Moment] = []

    def all(self) -> Iterator[Wait]:
        """Yield the waits on the way to the frame's last beat, and on those to the moments that stand in on it."""
        end = Moment(self._run.last, False, Fraction(1))
        yield Wait(end, None, None, None, np.array(THROUGH + 1.0))
        yield from self._way(end)
        told: set[Moment] = set()
        while self._asked:
            asked = self._asked.pop()
            if asked not in told and not self._known(asked):
                told.add(asked)
                yield from self._way(asked)

    def _way(self, moment: Moment | None) -> Iterator[Wait]:
        while moment is not None:
            wait = self._of_stream(moment) if moment.taken else self._of_layer(moment)
            yield wait
            if wait.layer is not None and np.isinf(wait.cycles).any():
                yield from self._instead(wait)
            moment = wait.before

    def _of_layer(self, given: Moment) -> Wait:
        """Return what a beat that a layer gives waits for."""
        source = self._run.streams[given.stream].source
        assert source is not None
        place, streams = source.layer, self._run.taken_by(source.layer)
        stages, put = self._run.stages(place), self._run.put[given.stream]
        beat, dues = given.beat(len(put)), [self._run.due[one] for one in streams]

        def with_only(number: int, count: int) -> int:
            offered = [np.full(len(due), ALWAYS) for due in dues]
            offered[number][:count] = dues[number][:count]
            return int(_played(stages, offered)[source.at][beat])

        cycle = int(put[beat])
        if with_only(0, 0) == cycle:
            return self._since_reset(given)
        number = next(one for one, due in enumerate(dues) if with_only(one, len(due)) == cycle)
        beats = len(dues[number])
        count = _least(beats, lambda count: with_only(number, count) == cycle)
        return self._since(Moment(streams[number], True, Fraction(count, beats)), given)

    def _of_stream(self, taken: Moment) -> Wait:
        """Return what a beat that can be taken waits for."""
        stream = self._run.streams[taken.stream]
        if stream.source is None:
            assert stream.target is not None
            place, at = stream.target
            beats = [_taken_beats(stages, at) for stages in self._options(place)]
            cycles = np.array([taken.beat(count) + THROUGH for count in beats], float)
            return Wait(None, taken, place, None, cycles)
        put, due, share = self._run.put[taken.stream], self._run.due[taken.stream], taken.share
        if len(put) != len(due):
            beat, converter = taken.beat(len(due)), (converted(len(put), len(due)),)

            def with_first(count: int) -> int:
                offered = np.full(len(put), ALWAYS)
                offered[:count] = put[:count] + THROUGH
                return int(_played(converter, [offered])[0][beat])

            count = _least(len(put), lambda count: with_first(count) == due[beat] - THROUGH)
            share = min(share, Fraction(count, len(put)))
        given = Moment(taken.stream, False, share)
        return Wait(given, taken, None, stream.link, self._between(stream, given, taken))

    def _instead(self, wait: Wait) -> Iterator[Wait]:
        """Yield other waits of that moment, for options that do not wait for the earlier one; the last for the reset."""
        assert wait.before is not None
        assert wait.after is not None
        free = np.isinf(wait.cycles)
        for part in range(ceil(wait.before.share * _GRID) - 1, 0, -1):
            instead = self._since(wait.before._replace(share=Fraction(part, _GRID)), wait.after)
            if not np.isinf(instead.cycles[free]).all():
                assert instead.before is not None
                self._asked.append(instead.before)
                yield instead
                free &= np.isinf(instead.cycles)
            if not free.any():
                return
        yield self._since_reset(wait.after)

    def _since_reset(self, given: Moment) -> Wait:
        source = self._run.streams[given.stream].source
        assert source is not None

        def cycle(stages: Stages) -> float:
            offered = [np.full(len(one.turns), ALWAYS) for one in stages[0].taken]
            times = _played(stages, offered)[source.at]
            return float(times[given.beat(len(times))])

        return Wait(None, given, source.layer, None, self._of_options(source.layer, cycle))

    def _since(self, taken: Moment, given: Moment) -> Wait:
        source, target = self._run.streams[given.stream].source, self._run.streams[taken.stream].target
        assert source is not None
        assert target is not None

        def cycles(stages: Stages) -> float:
            return _wait(stages, target.at, taken, source.at, given)

        return Wait(taken, given, source.layer, None, self._of_options(source.layer, cycles))

    def _options(self, place: int) -> Iterator[Stages]:
        return (_pipeline(self._network).stages(int(at)) for at in self._network.layers[place].timings)

    def _of_options(self, place: int, cycles: Callable[[Stages], float]) -> Cycle:
        """Return cycles that follow from schedules, of each option of a layer."""
        timings = self._network.layers[place].timings
        known = {int(one): cycles(_pipeline(self._network).stages(int(one))) for one in np.unique(timings)}
        return np.array([known[int(one)] for one in timings])

    def _between(self, stream: BeatStream, given: Moment, taken: Moment) -> Cycle:
        """Return the cycles from a value that is given to one that can be taken, between each two widths of a link."""
        assert stream.link is not None
        assert stream.source is not None
        assert stream.target is not None
        link = self._network.links[stream.link]
        cycles = np.full(link.needs.shape[:2], -np.inf)
        for row, option in zip(*np.unique(link.given, return_index=True), strict=True):
            ours = len(_stages(self._network, link.first, int(option))[-1].given[stream.source.at].turns)
            for column, other in zip(*np.unique(link.taken, return_index=True), strict=True):
                theirs = _taken_beats(_stages(self._network, link.second, int(other)), stream.target.at)
                if ours == theirs:
                    cycles[row, column] = THROUGH + taken.beat(theirs) - given.beat(ours)
                else:
                    cycles[row, column] = 2 * THROUGH + _wait((converted(ours, theirs),), 0, given, 0, taken)
        return cycles


def _pipeline(network: Network) -> Pipeline:
    if network.pipeline is None:
        raise ValueError("the network's layers have no schedules")
    return network.pipeline


def _stages(network: Network, place: int, option: int) -> Stages:
    return _pipeline(network).stages(int(network.layers[place].timings[option]))


def _taken_beats(stages: Stages, at: int) -> int:
    return len(stages[0].taken[at].turns)


def _played(stages: Stages, due: Sequence[Cycles], begin: int | None = None) -> list[Cycles]:
    """Return when stages, which are empty, give the beats of a frame, by output."""
    given: list[Cycles] = list(due)
    for at, schedule in enumerate(stages):
        played = Played(schedule, begin)
        played.frame([one + THROUGH for one in given] if at else given)
        given = [frames[0] for frames in played.given]
    return given


def _wait(stages: Stages, number: int, taken: Moment, output: int, given: Moment) -> float:
    """Return the cycles from a value that can be taken to one that is given; minus infinity if that does not wait for it.

    The beats behind it come a cycle later each, at the earliest.
    """
    offered: list[Any] = [np.full(len(one.turns), ALWAYS) for one in stages[0].taken]
    first = taken.beat(len(offered[number]))
    offered[number][first:] = np.arange(len(offered[number]) - first)
    times = _played(stages, offered, ALWAYS)[output]
    cycle = int(times[given.beat(len(times))])
    return -np.inf if cycle < _NEVER else float(cycle)


def _least(count: int, holds: Callable[[int], bool]) -> int:
    """Return the least number from 1 to `count` for which something holds that holds for all above."""
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
