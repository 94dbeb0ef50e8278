"""Check after each step that the model still computes what the input model computes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.build.compare import Comparison, compare, first_changed_tensor, largest, predictions
from brainsmith.errors import BuildError, VerificationError
from brainsmith.execution.align import Alignment, Signature, align
from brainsmith.execution.execute import Executor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.golden import GoldenData

Array = np.ndarray[Any, Any]

DEFAULT_TOLERANCE = 1e-5
STEP_SAMPLES = 32
_FAST_SECONDS = 1.0


@dataclass(frozen=True)
class Verified:
    """The outcome of one check.

    Attributes:
        samples: How many were run; 0 if the model could not be checked.
        mismatches: How many differ by more than the tolerance, or are put into another class.
        max_error: The largest absolute difference of any output.
        reason: Why the model could not be checked.
        notes: What had to be done to compare it.
        accuracy: Share of right classes, where labels are known and all samples were run.
    """

    samples: int
    mismatches: int = 0
    max_error: float = 0.0
    reason: str = ""
    notes: tuple[str, ...] = ()
    accuracy: float | None = None


class Verifier:
    """The input model's results on the golden data, and the comparison of later models with them.

    Args:
        model: The input model.
        golden: What to run.
        tolerances: The largest absolute error allowed after a step, by its name; "*" for all others. Without
            either: 1e-5, times the largest output of the input model where that is above 1.

    Attributes:
        accuracy: Share of right classes before the build; None without labels.
        samples: How many there are.

    Raises:
        BuildError: The input model cannot be executed.
    """

    def __init__(self, model: ModelWrapper, golden: GoldenData, tolerances: Mapping[str, float]) -> None:
        self._golden = golden
        self._tolerances = tolerances
        self._original = Executor(model)
        self._signature = Signature.of(self._original)
        (self._input,) = self._original.inputs
        self._reference = self._original.run({self._input: golden.inputs})
        self._scale = max(1.0, *(largest(stack) for stack in self._outputs().values()))
        self._classes = predictions(next(iter(self._outputs().values())))
        self.accuracy = self._accuracy(self._classes)
        self.samples = len(golden.inputs)

    def tolerance(self, step: str) -> float:
        """Return the tolerance of a step, as an absolute error."""
        return float(self._tolerances.get(step, self._tolerances.get("*", DEFAULT_TOLERANCE * self._scale)))

    def check(
        self, step: str, model: ModelWrapper, parent: Callable[[], ModelWrapper | None], whole: bool = False
    ) -> Verified:
        """Compare a step's result with the input model.

        Args:
            step: Its name, for the tolerance and the message.
            model: Its result.
            parent: Gives the model that holds this one as a dataflow partition, if there is one.
            whole: Run all samples.

        Raises:
            VerificationError: It computes something else; the message names the step, the tensor, the worst
                error.
        """
        try:
            executor, alignment = self._prepare(model, parent())
            if alignment.reason:
                return Verified(0, reason=alignment.reason)
            chosen = self._chosen(self.samples if whole else self._affordable(executor, alignment))
            comparison = self._compare(executor, alignment, chosen, self.tolerance(step))
        except BuildError as error:
            return Verified(0, reason=str(error))
        if comparison.mismatches:
            raise VerificationError(self._difference(step, executor, alignment, chosen, comparison))
        accuracy = self._accuracy(comparison.classes) if len(chosen) == self.samples else None
        return Verified(len(chosen), 0, comparison.max_error, "", alignment.notes, accuracy)

    def _affordable(self, executor: Executor, alignment: Alignment) -> int:
        """Return how many samples a step is checked with: 32, or all of them if that takes about a second."""
        few = self._chosen(STEP_SAMPLES)
        if len(few) == self.samples:
            return self.samples
        self._run(executor, alignment, few[:2])  # imports and sessions are made here, and must not count
        started = time.perf_counter()
        self._run(executor, alignment, few)
        seconds = time.perf_counter() - started
        return self.samples if seconds * self.samples / len(few) < _FAST_SECONDS else len(few)

    def _prepare(self, model: ModelWrapper, parent: ModelWrapper | None) -> tuple[Executor, Alignment]:
        partitions = [] if parent is None else parent.get_nodes_by_op_type("StreamingDataflowPartition")
        whole = bool(model.get_nodes_by_op_type("StreamingDataflowPartition"))
        if parent is None or whole:
            executor = Executor(model)
        elif len(partitions) == 1:
            executor = Executor(parent, inner=model)
        else:
            raise BuildError(f"it is one of {len(partitions)} dataflow partitions of a larger model")
        return executor, align(self._signature, Signature.of(executor))

    def _compare(
        self, executor: Executor, alignment: Alignment, chosen: Array, tolerance: float
    ) -> Comparison:
        outputs = self._run(executor, alignment, chosen)
        expected = {name: stack[chosen] for name, stack in self._outputs().items()}
        by_class = self._golden.labels is not None
        result = compare(expected, outputs, tolerance, alignment.classes, by_class)
        if not result.mismatches:
            return result
        # A batch may round differently from single samples; only what differs one by one is a difference.
        for at in np.flatnonzero(result.wrong):
            single = self._run(executor, alignment, chosen[at : at + 1])
            for name, stack in single.items():
                outputs[name][at] = stack[0]
        return compare(expected, outputs, tolerance, alignment.classes, by_class)

    def _run(self, executor: Executor, alignment: Alignment, chosen: Array) -> dict[str, Array]:
        inputs = self._golden.inputs[chosen]
        results = executor.run({new: change(inputs) for new, (_, change) in alignment.feed.items()})
        return {name: np.array(change(results[new])) for name, (new, change) in alignment.read.items()}

    def _difference(
        self, step: str, executor: Executor, alignment: Alignment, chosen: Array, found: Comparison
    ) -> str:
        sample = int(chosen[found.worst_sample])
        text = (
            f"step '{step}' changed what the model computes: {found.mismatches} of {len(chosen)} samples "
            f"differ; worst at tensor '{found.worst_tensor}', sample {sample}: error {found.max_error:g}, "
            f"tolerance {self.tolerance(step):g}"
        )
        first = self._first_change(step, executor, alignment, sample)
        return f"{text}. The first tensor of the same name that differs is '{first}'" if first else text

    def _first_change(self, step: str, executor: Executor, alignment: Alignment, sample: int) -> str:
        inputs = self._golden.inputs[sample : sample + 1]
        before = self._original.run({self._input: inputs}, keep=None)
        after = executor.run({new: change(inputs) for new, (_, change) in alignment.feed.items()}, keep=None)
        return first_changed_tensor(executor.order(), before, after, self.tolerance(step))

    def check_expected(self) -> None:
        """Compare the input model with the expected outputs, if there are any.

        Raises:
            VerificationError: It computes something else.
            BuildError: They do not fit its first output.
        """
        expected = self._golden.expected
        if expected is None:
            return
        name, stack = next(iter(self._outputs().items()))
        same_size = expected.size == stack.size
        known = {name: expected.reshape(stack.shape) if same_size else expected.reshape(len(stack), -1)}
        if not same_size and expected.size != len(stack):
            raise BuildError(
                f"the expected outputs have shape {expected.shape}, and output '{name}' of {len(stack)} "
                f"samples has {stack.shape}"
            )
        tolerance = self.tolerance("*")
        found = compare({name: stack}, known, tolerance, classes=not same_size, by_class=False)
        if found.mismatches:
            raise VerificationError(
                f"the input model does not compute the expected outputs, before any step: "
                f"{found.mismatches} of {len(stack)} samples differ; worst at tensor "
                f"'{name}', sample {found.worst_sample}: error "
                f"{found.max_error:g}, tolerance {tolerance:g}"
            )

    def _outputs(self) -> dict[str, Array]:
        return {name: self._reference[name] for name in self._original.outputs}

    def _accuracy(self, classes: Array) -> float | None:
        if self._golden.labels is None:
            return None
        return float(np.mean(classes == self._golden.labels))

    def _chosen(self, count: int) -> Array:
        """Return evenly spread sample numbers: the same ones after every step."""
        total = len(self._golden.inputs)
        return np.unique(np.linspace(0, total - 1, min(count, total)).astype(int))
