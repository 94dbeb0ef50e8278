"""Tell float ties from defects, where what a step made gives other outputs than the network of floats before it.

What looks into networks is imported where something differs: an unchanged build knows the rest from earlier ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from brainsmith.build.aligned import STEP_SAMPLES, AlignedModel, chosen_runs
from brainsmith.build.verification_device import VerificationDevice
from brainsmith.execution.align import align
from brainsmith.forks import cached_property
from brainsmith.graph.array_types import Array
from brainsmith.transforms.integer.batch_of_one import with_batch_of_one
from brainsmith.transforms.integer.level_record import read_levels
from brainsmith.transforms.lattice.staircases import is_quantiser
from brainsmith.web.step_result import FloatTies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.baseline import Baseline
    from brainsmith.comparison.float_ties.explanation import Explanation
    from brainsmith.comparison.float_ties.float_network import FloatNetwork
    from brainsmith.comparison.float_ties.layer_levels import LayerLevels
    from brainsmith.execution.align import Alignment

_ARITHMETIC_ROOTS = (__name__, "brainsmith.comparison.float_ties.float_network")
_LEVELS_BYTES = 1 << 26
"""What the levels of the runs that are compared side by side take at most."""


@dataclass(frozen=True)
class TieVerdict:
    """The outcome of the samples that differ.

    Attributes:
        ties: What was found in them, if all of it is float ties and rounding of outputs.
        wrong: Else a sentence about the first difference that is not; empty if nothing more is known.
    """

    ties: FloatTies | None = None
    wrong: str = ""


class _Arithmetic(NamedTuple):
    """What is known of a network's floats.

    Attributes:
        rounds: Whether its arithmetic is not exact, so that there may be float ties.
        has_exact_outputs: Whether it rounds nothing up to the outputs either.
    """

    rounds: bool
    has_exact_outputs: bool


class NotedNetwork:
    """A network of floats as it was when it was noted, whatever becomes of its model.

    Args:
        noted: Not changed.

    Attributes:
        model: A copy, with a batch of 1.
    """

    def __init__(self, noted: ModelWrapper) -> None:
        from qonnx.core.modelwrapper import ModelWrapper

        self.model = with_batch_of_one(ModelWrapper(noted.model, make_deepcopy=True))[0]
        self._arithmetic: _Arithmetic | None = None

    @cached_property
    def network(self) -> FloatNetwork:
        """The network, read at the first use."""
        from brainsmith.comparison.float_ties.float_network import FloatNetwork

        return FloatNetwork(self.model)

    def arithmetic(self, device: VerificationDevice) -> _Arithmetic:
        """Return what is known of its floats; reading the network for it takes longer than an unchanged step."""
        if self._arithmetic is None:
            self._arithmetic = _Arithmetic(*device.fact(self.model, _ARITHMETIC_ROOTS, self._read_arithmetic))
        return self._arithmetic

    def _read_arithmetic(self) -> tuple[bool, bool]:
        network = self.network
        rounds = bool(network.rounded)
        return rounds, not rounds and all(network.grids[name].is_exact for name in network.outputs)


class FloatTieCheck:
    """Knows the last network of floats, and compares layers of integers with it value by value.

    Args:
        model: A network.
        device: Makes what executes a network and layers, and shares it with others.
    """

    def __init__(self, model: ModelWrapper, device: VerificationDevice | None = None) -> None:
        self._device = device or VerificationDevice()
        self._noted: NotedNetwork | None = None
        self._compared = (
            False  # a note of levels stays in the model, and says nothing of what later steps make
        )
        self._forgotten = False
        self.note(model)

    def note(self, model: ModelWrapper) -> None:
        """Take a model that a step made for the network, if it has quantisers still; or for its layers of integers."""
        if not self._forgotten and any(is_quantiser(node) for node in model.graph.node):
            self._noted = self._device.once(NotedNetwork, model)
        self._compared = self._compared or bool(read_levels(model))

    def forget(self) -> None:
        """Let the network go, once its layers were compared and are what later steps are compared with."""
        if self._compared:
            self._noted, self._forgotten = None, True

    def has_new_levels(self, model: ModelWrapper) -> bool:
        """Tell whether a step made a model of integer layers, of which the one before knew nothing."""
        return not self._compared and bool(read_levels(model))

    @property
    def network(self) -> FloatNetwork | None:
        """The network; None where no model had quantisers."""
        return None if self._noted is None else self._noted.network

    @property
    def rounds(self) -> bool:
        """Whether the network's arithmetic is not exact, so that there may be float ties."""
        return self._noted is not None and self._noted.arithmetic(self._device).rounds

    @property
    def has_exact_outputs(self) -> bool:
        """Whether floats round nothing up to the outputs, which are then the same bits for every way to compute them."""
        return self._noted is None or self._noted.arithmetic(self._device).has_exact_outputs

    def judge(
        self, base: Baseline, made: ModelWrapper, chosen: Array, wrong: Array, tolerance: float | None
    ) -> TieVerdict | None:
        """Explain the runs in which a model is another one than the network, in its outputs or in its levels.

        Args:
            base: What it was compared with.
            made: The model.
            chosen: The runs whose outputs were compared.
            wrong: Those whose outputs differ.
            tolerance: The largest difference of an output that counts as equal, where one is stated.

        Returns:
            None if nothing differs.
        """
        noted = self.has_new_levels(made)
        if not len(wrong) and not noted:
            return None
        pair = self._pair(base, made)
        if pair is None or not (noted or self.rounds):
            return TieVerdict() if len(wrong) else None
        differing, few = set(wrong.tolist()), chosen_runs(base, STEP_SAMPLES).tolist()
        looked_at = len(differing.union(few)) if pair.levels.names else len(chosen)
        others = [run for run in few if run not in differing]
        runs = sorted(differing.union(pair.differing_inside(np.array(others, int))))
        if not runs:
            return None
        assert self.network is not None
        found: list[Explanation] = []
        for run in runs:
            if not pair.gives_the_baseline(self.network, run, tolerance):
                return TieVerdict()
            for each in pair.explained(self.network, run, tolerance):
                if each.wrong:
                    return TieVerdict(wrong=f"in run {run}, {each.wrong}")
                found.append(each)
        return TieVerdict(_counted(found, looked_at * base.batch))

    def of_outputs(
        self, base: Baseline, expected: Array, samples: Iterable[int], tolerance: float | None
    ) -> TieVerdict:
        """Explain the samples for which the network gives other values than are expected of its first output.

        Args:
            base: The network, as the baseline.
            expected: (samples, values), or (samples, 1): class numbers.
            samples: Those that differ.
            tolerance: The largest difference of an output that counts as equal, where one is stated.
        """
        from brainsmith.comparison.float_ties.tie_search import TieSearch

        if not self.rounds or self.network is None or base.batch > 1:
            return TieVerdict()
        name, found = self.network.outputs[0], []
        shape = next(iter(base.outputs.values())).shape[1:]
        for at in samples:
            feed = {each: stack[at] for each, stack in base.feed.items()}
            one = expected[at].reshape(shape) if expected[at].size == np.prod(shape) else expected[at]
            found.append(TieSearch(self.network, feed).explain({name: one}, tolerance))
            if found[-1].wrong:
                return TieVerdict(wrong=f"in sample {at}, {found[-1].wrong}")
        return TieVerdict(_counted(found, len(expected)))

    def _pair(self, base: Baseline, made: ModelWrapper) -> _NetworkAndLayers | None:
        """Return the network beside a model whose levels are known; None of others."""
        from brainsmith.comparison.float_ties.layer_levels import LayerLevels

        if self._noted is None or base.integers:
            return None
        floats, layers = (self._device.program(one) for one in (self._noted.model, made))
        network, levels = AlignedModel.beside(base, floats), LayerLevels(made, layers)
        beside = align(network.executor.signature, levels.signature)
        return (
            None if network.alignment.reason or beside.reason else _NetworkAndLayers(network, levels, beside)
        )


@dataclass(frozen=True)
class _NetworkAndLayers:
    """A network and the layers that were made of it.

    Attributes:
        network: Beside the baseline.
        levels: Of the layers.
        beside: How the layers are fed and read as the network.
    """

    network: AlignedModel
    levels: LayerLevels
    beside: Alignment

    def gives_the_baseline(self, network: FloatNetwork, run: int, tolerance: float | None) -> bool:
        """Tell whether the network gives what layers are compared with, float ties aside.

        A sample of a batch alone is summed in another order than all of them together.
        """
        from brainsmith.comparison.float_ties.tie_search import TieSearch

        if not self.network.compare(np.asarray([run]), tolerance, False, False).mismatches:
            return True
        base = self.network.base
        if base.batch == 1:
            return False
        feed = self.network.fed(np.asarray([run]))
        samples = len(next(iter(feed.values())))
        shapes = {spec.name: spec.shape for spec in self.network.executor.signature.outputs}
        own = {
            new: base.outputs[old][run].reshape(samples, *shapes[new])
            for old, (new, _) in self.network.alignment.read.items()
        }
        return not any(
            TieSearch(network, {name: stack[at] for name, stack in feed.items()})
            .explain({name: stack[at] for name, stack in own.items()}, tolerance)
            .wrong
            for at in range(samples)
        )

    def differing_inside(self, runs: Array) -> list[int]:
        """Return those of some runs in which a level in the layers is another one than in the network.

        They are computed side by side, as many as have their levels in `_LEVELS_BYTES`, by the size of the first one's.
        """
        found: list[int] = []
        most = 1
        while len(runs):
            part, runs = runs[:most], runs[most:]
            feed = self.network.fed(part)
            _, levels = self.levels.of(self.beside.fed(feed))
            own = self.network.executor.run(feed, keep=frozenset(levels))
            for name, values in levels.items():
                differ = name not in own or _differ(own[name], values, len(part))
                found += part[np.broadcast_to(differ, len(part))].tolist()
            size = sum(values.nbytes for values in levels.values()) // len(part)
            most = max(1, _LEVELS_BYTES // max(size, 1))
        return sorted(set(found))

    def explained(self, network: FloatNetwork, run: int, tolerance: float | None) -> Iterator[Explanation]:
        """Explain a run, sample by sample and value by value."""
        return self.levels.explain(network, self.network.fed(np.asarray([run])), tolerance=tolerance)


def _differ(own: Array, found: Array, runs: int) -> Array | bool:
    """Tell of each run whether levels differ; those that are lost do not."""
    if own.shape != found.shape:
        return True
    same = np.isclose(own, np.where(np.isnan(found), own, found), rtol=1e-4, atol=0.0)
    return np.asarray(~same.reshape(runs, -1).all(axis=1))


def _counted(found: list[Explanation], compared: int) -> FloatTies:
    """Sum up the outcomes of samples that differ, among some that were compared; all have equally many values."""
    ties = [tie for each in found for tie in each.ties]
    return FloatTies(
        len(found),
        len(ties),
        compared * max(each.values for each in found),
        max((tie.distance for tie in ties), default=0.0),
        max((tie.bound for tie in ties), default=0.0),
    )
