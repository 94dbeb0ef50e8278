"""One model beside the one that it is compared with: run, compared, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.build.output_comparison import OutputComparison, compare, first_changed_tensor
from brainsmith.execution.align import align
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from brainsmith.build.baseline import Baseline
    from brainsmith.execution.align import Alignment
    from brainsmith.execution.execute import Executor


STEP_SAMPLES = 32
_FAST_SECONDS = 1.0


@dataclass(frozen=True)
class AlignedModel:
    """A model, and how it is fed and read as the one that it is compared with.

    Attributes:
        base: What it is compared with.
        executor: Of the model.
        alignment: How its inputs and outputs are those of `base`.
    """

    base: Baseline
    executor: Executor
    alignment: Alignment

    @classmethod
    def beside(cls, base: Baseline, executor: Executor) -> AlignedModel:
        """Match inputs and outputs; `alignment.reason` says why that cannot be done."""
        return cls(base, executor, align(base.signature, executor.signature, base.name))

    @property
    def gives_classes(self) -> bool:
        """Tell whether its output is a class number."""
        return self.alignment.classes or self.base.classes

    def run(self, chosen: Array) -> dict[str, Array]:
        """Return the outputs of some runs by sample, as those of `base` are called and shaped."""
        read = self.alignment.read_as(self.executor.run(self.fed(chosen)))
        return {name: np.array(self.base.by_sample(stack)) for name, stack in read.items()}

    def fed(self, chosen: Array) -> dict[str, Array]:
        """Return its inputs in some runs."""
        return self.alignment.fed({name: stack[chosen] for name, stack in self.base.feed.items()})

    def affordable(self) -> int:
        """Return how many runs a step is checked with: 32, or all of them if that takes about a second."""
        few, runs = chosen_runs(self.base, STEP_SAMPLES), self.base.runs
        if len(few) == runs:
            return runs
        self.run(few[:2])  # imports and sessions are made here, and must not count
        seconds = self.executor.seconds(self.fed(few))
        return runs if seconds * runs / len(few) < _FAST_SECONDS else len(few)

    def compare(
        self, chosen: Array, tolerance: float | None, by_class: bool, any_class: bool
    ) -> OutputComparison:
        """Compare some runs.

        Args:
            chosen: Their numbers.
            tolerance: The largest absolute difference that counts as equal; None as in `compare.compare`.
            by_class: A sample that changes its class differs, whatever the tolerance.
            any_class: Other class numbers are not looked at again: a step may change them.
        """
        batch = self.base.batch
        outputs = self.run(chosen)
        expected = {name: self.base.by_sample(stack[chosen]) for name, stack in self.base.outputs.items()}
        result = compare(expected, outputs, tolerance, self.gives_classes, by_class)
        if not result.mismatches or (self.gives_classes and any_class):
            return result
        # A batch may round differently from single runs; only what differs one by one is a difference.
        for at in result.wrong_runs(batch):
            for name, stack in self.run(chosen[at : at + 1]).items():
                outputs[name][at * batch : (at + 1) * batch] = stack
        return compare(expected, outputs, tolerance, self.gives_classes, by_class)

    def difference(self, step: str, chosen: Array, found: OutputComparison) -> str:
        """Say how many samples differ, which most, and which tensor is the first."""
        batch = self.base.batch
        run = int(chosen[found.worst_sample // batch])
        difference = found.text(run * batch + found.worst_sample % batch)
        text = f"step '{step}' changed what the model computes: {difference}"
        first = self._first_change(run, found.tolerance)
        return f"{text}. The first tensor of the same name that differs is '{first}'" if first else text

    def _first_change(self, run: int, tolerance: float) -> str:
        fed = {name: stack[run : run + 1] for name, stack in self.base.feed.items()}
        before = self.base.executor.run(fed, keep=None)
        after = self.executor.run(self.alignment.fed(fed), keep=None)
        return first_changed_tensor(self.executor.order(), before, after, tolerance)


def chosen_runs(base: Baseline, count: int) -> Array:
    """Return evenly spread numbers of runs: the same ones after every step."""
    few = min(count, base.runs)
    return np.arange(few) * (base.runs - 1) // max(few - 1, 1)
