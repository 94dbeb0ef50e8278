"""The latency of a choice of foldings, and the way through the layers that makes it as long as it is.

A beat waits for the beats that it is made of: so a latency is the sum of cycles along the longest way, from beat to beat,
through layers and streams. Any way bounds the latency of every choice from below, by what the layers and streams of that
choice need from one of its beats to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from brainsmith.rtl.sizing.traces import THROUGH
from brainsmith.rtl.timing.beat_schedule import ALWAYS, BeatSchedule, converted
from brainsmith.rtl.timing.schedule_timing import Played

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from brainsmith.rtl.fitting.options import Network, WidthLink
    from brainsmith.rtl.sizing.traces import Cycles

    Stages = tuple[BeatSchedule, ...]
    Waits = NDArray[np.float64]

_NEVER = ALWAYS // 2
"""A cycle before which only what waits for nothing can be."""


class StreamEnd(NamedTuple):
    """Where a stream begins or ends.

    Attributes:
        layer: The place of the layer.
        at: Which of its outputs, or inputs that are streams.
    """

    layer: int
    at: int


@dataclass(frozen=True)
class Stream:
    """A stream of a network.

    Attributes:
        source: Who gives it; None if it comes into the design.
        target: Who takes it; None if it leaves the design.
        link: The place of its link; None at the ends of the design.
    """

    source: StreamEnd | None
    target: StreamEnd | None
    link: int | None = None


@dataclass(frozen=True)
class Pipeline:
    """What a network's latency follows from.

    Attributes:
        streams: All of them.
        stages: Of a number among the `timings` of the layers' options: the schedules of what is folded together, each
            behind the one before it. The first one takes the inputs, the last one gives the outputs.
    """

    streams: tuple[Stream, ...]
    stages: Callable[[int], Stages]


class Beat(NamedTuple):
    """A beat of a frame, of which there are so many; in other widths it means the beat that has its last value."""

    at: int
    beats: int

    def of(self, beats: int) -> int:
        """Return which of so many beats of the frame that is."""
        return -(-(self.at + 1) * beats // self.beats) - 1


@dataclass
class Way:
    """A way of beats through layers and streams, from the beginning of a frame to its end.

    The latency of every choice is at least the constant and what its options and widths add to it; that of the choice that
    it was found for is just that.

    Attributes:
        constant: Cycles.
        layers: By the place of a layer on the way: the cycles of each option, (options,); minus infinity if that beat does not wait.
        links: By the place of a link: the cycles between each two widths, (widths, widths), likewise.
    """

    constant: int = 0
    layers: dict[int, Waits] = field(default_factory=dict)
    links: dict[int, Waits] = field(default_factory=dict)

    def kept(self, which: Sequence[NDArray[Any]]) -> Way:
        """Return the way through a network with some of the options of each layer."""
        return Way(self.constant, {at: waits[which[at]] for at, waits in self.layers.items()}, self.links)

    def least(self, network: Network, place: int) -> Waits:
        """Return of each option of a layer the cycles that no choice with it takes less than, (options,)."""
        others = [waits.min() for at, waits in self.layers.items() if at != place]
        for at, waits in self.links.items():
            link = network.links[at]
            others.append(waits[np.ix_(np.unique(link.given), np.unique(link.taken))].min())
        own = self.layers.get(place, np.zeros(len(network.layers[place].cycles)))
        return self.constant + own + float(sum(others))


def latency_of(network: Network, choice: Sequence[int]) -> int:
    """Return the cycles from a frame's first beat in to its last beat out, of a design that is empty.

    Args:
        network: With its pipeline.
        choice: An option of each layer.
    """
    return _Run(network, choice).latency


def longest_way(network: Network, choice: Sequence[int]) -> Way:
    """Return why the latency of a choice is not less."""
    return _WayBack(network, choice).found


def _pipeline(network: Network) -> Pipeline:
    if network.pipeline is None:
        raise ValueError("the network's layers have no schedules")
    return network.pipeline


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
        ends = [int(self.due[at][-1]) for at, stream in enumerate(self.streams) if stream.target is None]
        self.latency = max(ends) + 1

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
            beats = _taken_beats(self.stages(stream.target.layer), stream.target.at)
            self.due[at] = np.arange(beats) + THROUGH
        return self.due[at]

    def _pass(self, at: int, put: Cycles) -> None:
        """Let beats pass a stream: a FIFO, or a width converter between two."""
        target = self.streams[at].target
        due = put + THROUGH
        if target is not None:
            beats = _taken_beats(self.stages(target.layer), target.at)
            if beats != len(put):
                (due,) = _played((_converter(len(put), beats),), [due])
                due = due + THROUGH
        self.put[at], self.due[at] = put, due


class _WayBack:
    """Follows the beats back that a frame's last beat waits for."""

    def __init__(self, network: Network, choice: Sequence[int]) -> None:
        self._run = _Run(network, choice)
        self._network = network
        self.found = Way(constant=THROUGH + 1)
        at = max(
            (at for at, stream in enumerate(self._run.streams) if stream.target is None),
            key=lambda at: int(self._run.due[at][-1]),
        )
        beats = len(self._run.put[at])
        step: tuple[int, Beat] | None = at, Beat(beats - 1, beats)
        while step is not None:
            step = self._through_layer(*step)

    def _through_layer(self, at: int, given: Beat) -> tuple[int, Beat] | None:
        """Go from a beat that a layer gives to the one that it waits for; None if it is the beginning."""
        source = self._run.streams[at].source
        assert source is not None
        place, streams = source.layer, self._run.taken_by(source.layer)
        stages, cycle = self._run.stages(place), int(self._run.put[at][given.at])
        dues = [self._run.due[one] for one in streams]

        def with_only(number: int, count: int) -> int:
            offered = [np.full(len(due), ALWAYS) for due in dues]
            offered[number][:count] = dues[number][:count]
            return int(_played(stages, offered)[source.at][given.at])

        if with_only(0, 0) == cycle:  # it waits for nothing but the reset
            self.found.layers[place] = self._waits(place, source.at, given, None)
            return None
        number = next(one for one, due in enumerate(dues) if with_only(one, len(due)) == cycle)
        count = _least(len(dues[number]), lambda count: with_only(number, count) == cycle)
        taken = Beat(count - 1, len(dues[number]))
        self.found.layers[place] = self._waits(place, source.at, given, (number, taken))
        return self._through_stream(streams[number], taken)

    def _through_stream(self, at: int, taken: Beat) -> tuple[int, Beat] | None:
        """Go from a beat that is taken to the one that was given; None if that came into the design."""
        stream = self._run.streams[at]
        if stream.source is None:
            assert stream.target is not None
            place = stream.target.layer
            begin = [
                taken.of(_taken_beats(stages, stream.target.at)) + THROUGH for stages in self._options(place)
            ]
            self.found.layers[place] = self.found.layers[place] + np.array(begin, float)
            return None
        assert stream.link is not None
        put, given = self._run.put[at], Beat(taken.at, taken.beats)
        if len(put) != taken.beats:
            converter, cycle = (_converter(len(put), taken.beats),), int(self._run.due[at][taken.at]) - THROUGH

            def with_first(count: int) -> int:
                offered = np.full(len(put), ALWAYS)
                offered[:count] = put[:count] + THROUGH
                return int(_played(converter, [offered])[0][taken.at])

            given = Beat(_least(len(put), lambda count: with_first(count) == cycle) - 1, len(put))
        self.found.links[stream.link] = self._between(stream, given, taken)
        return at, given

    def _options(self, place: int) -> Iterator[Stages]:
        layer = self._network.layers[place]
        return (_stages(self._network, place, at) for at in range(len(layer.cycles)))

    def _waits(self, place: int, output: int, given: Beat, taken: tuple[int, Beat] | None) -> Waits:
        """Return the cycles from a beat that is taken, or from the reset, to one that is given, of each option."""
        known: dict[int, float] = {}
        timings = self._network.layers[place].timings
        for number in np.unique(timings):
            stages = _pipeline(self._network).stages(int(number))
            at = given.of(len(stages[-1].given[output].turns))
            if taken is None:
                offered = [np.full(len(one.turns), ALWAYS) for one in stages[0].taken]
                known[int(number)] = float(_played(stages, offered)[output][at])
            else:
                known[int(number)] = _wait(stages, taken[0], taken[1], output, at)
        return np.array([known[int(number)] for number in timings])

    def _between(self, stream: Stream, given: Beat, taken: Beat) -> Waits:
        """Return the cycles from a beat that is given to one that is taken, between each two widths of a link."""
        assert stream.link is not None
        assert stream.source is not None
        assert stream.target is not None
        link = self._network.links[stream.link]
        rows, columns = self._beats(link, stream.source, stream.target)
        waits = np.full(link.needs.shape[:2], -np.inf)
        for row, ours in rows.items():
            for column, theirs in columns.items():
                first, last = given.of(ours), taken.of(theirs)
                if ours != theirs:
                    converter = (_converter(ours, theirs),)
                    waits[row, column] = 2 * THROUGH + _wait(converter, 0, given, 0, last)
                elif last >= first:
                    waits[row, column] = THROUGH + last - first
        return waits

    def _beats(
        self, link: WidthLink, source: StreamEnd, target: StreamEnd
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Return the beats of a frame by the width that is given, and by the one that is taken."""
        rows, columns = (np.unique(each, return_index=True) for each in (link.given, link.taken))
        given = {
            int(row): len(_stages(self._network, link.first, int(at))[-1].given[source.at].turns)
            for row, at in zip(*rows, strict=True)
        }
        taken = {
            int(column): _taken_beats(_stages(self._network, link.second, int(at)), target.at)
            for column, at in zip(*columns, strict=True)
        }
        return given, taken


def _stages(network: Network, place: int, option: int) -> Stages:
    return _pipeline(network).stages(int(network.layers[place].timings[option]))


def _taken_beats(stages: Stages, at: int) -> int:
    return len(stages[0].taken[at].turns)


def _converter(taken: int, given: int) -> BeatSchedule:
    """Return the schedule of a converter from so many beats of a frame to another number of them."""
    unit = int(np.gcd(taken, given))  # a beat of the one side is as wide as the other side has beats
    return converted(given // unit, taken // unit, taken, given)


def _played(stages: Stages, due: Sequence[Cycles], begin: int | None = None) -> list[Cycles]:
    """Return when stages, which are empty, give the beats of a frame, by output."""
    given: list[Cycles] = list(due)
    for at, schedule in enumerate(stages):
        played = Played(schedule, begin)
        played.frame([one + THROUGH for one in given] if at else given)
        given = [frames[0] for frames in played.given]
    return given


def _wait(stages: Stages, number: int, taken: Beat, output: int, given: int) -> float:
    """Return the cycles from a beat that can be taken to one that is given; minus infinity if that does not wait for it.

    Beats behind it come a cycle later each, at the earliest.
    """
    offered = [np.full(len(one.turns), ALWAYS) for one in stages[0].taken]
    first = taken.of(len(offered[number]))
    offered[number][first:] = np.arange(len(offered[number]) - first)
    cycle = int(_played(stages, offered, ALWAYS)[output][given])
    return -np.inf if cycle < _NEVER else float(cycle)


def _least(count: int, holds: Callable[[int], bool]) -> int:
    """Return the least number from 1 to `count` for which something holds that holds for all above."""
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
