"""What the models of a build are compared with: one model's results on known inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brainsmith.build.golden import RANDOM_SAMPLES, RANDOM_SEED, samples_in_a_run
from brainsmith.build.output_comparison import predictions
from brainsmith.comparison.tensors import largest_magnitude
from brainsmith.execution.align import align_inputs
from brainsmith.execution.inputs import random_inputs
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.execute import Executor
    from brainsmith.execution.signature import ModelSignature


@dataclass(frozen=True)
class Baseline:
    """The model that later ones are compared with, and what it gives.

    A *run* is one execution of a model; it takes several samples where the model's batch is more than 1.

    Attributes:
        executor: Of the model.
        signature: Its inputs and outputs.
        feed: (runs, *shape) by input.
        outputs: (runs, *shape) by output.
        step: The step that made the model; empty for the input model.
        classes: Its output is a class number.
        golden: Its inputs are the golden ones, so that labels belong to them; else they were made up, because the step
            changed what goes into the model.
        alone: It is one of several dataflow partitions, and was run outside of the model that holds them.
        integers: It computes in integers what a network computes in floats that round; later models must give its bits.
        row_functions: How many functions of rows it computes in floats, such as Softmax; a kernel in place of one may round
            in another way.
    """

    executor: Executor
    signature: ModelSignature
    feed: Mapping[str, Array]
    outputs: Mapping[str, Array]
    step: str = ""
    classes: bool = False
    golden: bool = True
    alone: bool = False
    integers: bool = False
    row_functions: int = 0

    @property
    def name(self) -> str:
        """Return what it is, for people."""
        return f"the result of step '{self.step}'" if self.step else "the input model"

    @property
    def runs(self) -> int:
        """Count the executions that `feed` holds."""
        return len(next(iter(self.feed.values())))

    @property
    def batch(self) -> int:
        """Count the samples in a run."""
        outputs = [spec.shape for spec in self.signature.outputs]
        return samples_in_a_run(self.signature.inputs[0].shape, outputs)

    @property
    def samples(self) -> int:
        """Count the samples in all runs."""
        return self.runs * self.batch

    @property
    def largest(self) -> float:
        """Return the largest magnitude of any output."""
        return max(largest_magnitude(stack) for stack in self.outputs.values())

    @property
    def predictions(self) -> Array:
        """Return each sample's class, by the first output."""
        return predictions(self.by_sample(next(iter(self.outputs.values()))))

    def by_sample(self, stack: Array) -> Array:
        """Return outputs (runs, *shape) as (samples, ...)."""
        return stack if self.batch == 1 else stack.reshape(len(stack) * self.batch, -1)


def baseline_of(executor: Executor, feed: Mapping[str, Array]) -> Baseline:
    """Run a model.

    Raises:
        BuildError: It cannot be executed.
    """
    results = executor.run(feed)
    outputs = {name: results[name] for name in executor.outputs}
    return Baseline(executor, executor.signature, feed, outputs)


def baseline_after(
    before: Baseline, executor: Executor, model: ModelWrapper, step: str, alone: bool = False
) -> Baseline:
    """Run what a step made, so that later models can be compared with it.

    Args:
        before: Gives the inputs; where the step changed what goes into the model, eight random ones are made.
        executor: Of the step's result.
        model: The step's result.
        step: Its name.
        alone: It is one of several dataflow partitions, so that the inputs are others.

    Raises:
        BuildError: It cannot be executed.
    """
    feeding, _, reason = align_inputs(before.signature, executor.signature)
    same = not reason and alone == before.alone
    feed = (
        {new: change(before.feed[old]) for new, (old, change) in feeding.items()}
        if same
        else {name: random_inputs(model, name, RANDOM_SAMPLES, RANDOM_SEED) for name in executor.inputs}
    )
    made = baseline_of(executor, feed)
    golden = same and before.golden
    return replace(made, step=step, golden=golden, alone=alone, integers=before.integers)
