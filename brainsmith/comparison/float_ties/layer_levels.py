"""LayerLevels: the levels that integer layers gave, as the values that the network has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.align import align
from brainsmith.execution.execute import Executor
from brainsmith.graph.array_types import Array
from brainsmith.transforms.integer.level_record import read_levels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.comparison.float_ties.explanation import Explanation
    from brainsmith.comparison.float_ties.float_network import FloatNetwork
    from brainsmith.execution.signature import ModelSignature


class LayerLevels:
    """Reads levels off a model of integer layers.

    Args:
        model: It, with the note that the transform IntegerLayers made of its levels.
        executor: Of the model; None makes one.

    Attributes:
        names: The quantisers' outputs of which the layers' integers are known.
        near: Those of sums whose factors are scales up to float32's rounding alone.
    """

    def __init__(self, model: ModelWrapper, executor: Executor | None = None) -> None:
        self._executor = executor or Executor(model)
        made = set(self._executor.order())
        self._records = {name: one for name, one in read_levels(model).items() if one.layer in made}
        self.names = frozenset(self._records)
        self.near = frozenset(name for name, one in self._records.items() if one.is_near)

    @property
    def signature(self) -> ModelSignature:
        """What goes into the model and comes out of it."""
        return self._executor.signature

    def of(self, feed: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return the outputs of some runs, and the levels' values by the quantisers' outputs, float64: (runs, *shape).

        Args:
            feed: The inputs: (runs, *shape).
        """
        layers = frozenset(one.layer for one in self._records.values())
        found = self._executor.run(feed, keep=layers)
        values = {name: one.values(found[one.layer]) for name, one in self._records.items()}
        return found, values

    def explain(
        self,
        network: FloatNetwork,
        feed: Mapping[str, Array],
        outputs: Mapping[str, Array] | None = None,
        tolerance: float | None = None,
    ) -> Iterator[Explanation]:
        """Compare the layers with the network that they were made of, sample by sample.

        Args:
            network: With a batch of 1, if the layers have it.
            feed: Samples, (samples, *shape), by the network's inputs.
            outputs: What is compared with the network's outputs; by themselves, those of the layers.
            tolerance: As in `explain_frame`.

        Yields:
            The result of each sample; where no levels are known, of its outputs alone.
        """
        from brainsmith.comparison.float_ties.explanation import explain_frame
        from brainsmith.comparison.float_ties.tie_search import TieSearch

        beside = align(network.signature, self.signature)
        results, levels = self.of(beside.fed(feed))
        given = beside.read_as(results) if outputs is None else outputs
        for at in range(len(next(iter(feed.values())))):
            one, found, made = (
                {name: stack[at] for name, stack in each.items()} for each in (feed, levels, given)
            )
            if found:
                yield explain_frame(network, one, found, made, tolerance, self.near)
            else:
                yield TieSearch(network, one).explain(made, tolerance)
