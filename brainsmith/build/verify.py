"""Check after each step that the model still computes what the input model, or a stated approximation, computes."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.build.compare import Comparison, compare, first_changed_tensor, largest, predictions
from brainsmith.build.executable import PARTITION, never_ran, other_partitions
from brainsmith.build.float_model import FloatDistance, float_distance
from brainsmith.build.result import Verified
from brainsmith.build.verification_device import VerificationDevice, is_device_failure
from brainsmith.comparison.tensors import RELATIVE_TOLERANCE
from brainsmith.errors import BuildError, VerificationError
from brainsmith.execution.align import Alignment, Signature, align
from brainsmith.execution.execute import Executor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.schema import Approximation
    from brainsmith.build.golden import GoldenData

Array = np.ndarray[Any, Any]

DEFAULT_TOLERANCE = 1e-5
STEP_SAMPLES = 32
DEVICE_SAMPLES = 8
_FAST_SECONDS = 1.0


class Verifier:
    """The input model's results on the golden data, and the comparison of later models with them.

    Args:
        model: The input model.
        golden: What to run.
        tolerances: The largest absolute error allowed after a step, by its name; "*" for all others. Without
            either: 1e-5, times the largest output of the input model where that is above 1.
        approximations: The steps that may change what the model computes, by name, and how much. The steps after
            one are compared with its results: only what was stated may change, and only there.
        device: What executes the models.

    Attributes:
        accuracy: Share of right classes before the build; None without labels.
        distance: Of the input model from the float one; None where that is not known.
        samples: How many there are.
        rounding: The largest absolute error that is one of floats' rounding alone, as in comparisons of targets.

    Raises:
        BuildError: The input model cannot be executed.
    """

    def __init__(
        self,
        model: ModelWrapper,
        golden: GoldenData,
        tolerances: Mapping[str, float],
        approximations: Mapping[str, Approximation] | None = None,
        device: VerificationDevice | None = None,
    ) -> None:
        self._device = device or VerificationDevice()
        self._golden = golden
        self._tolerances = tolerances
        self._approximations = approximations or {}
        self._reference_step = ""
        self._original = self._device.executor("the input model", model)
        self._signature = Signature.of(self._original)
        (self._input,) = self._original.inputs
        self._reference = self._original.run({self._input: golden.inputs})
        self._exact = self._original  # before a step can change the model
        if self._original.target != Executor.target:
            self._exact = Executor(model)
            self._try_device()
        size = max(largest(stack) for stack in self._outputs().values())
        self.rounding = RELATIVE_TOLERANCE * size
        self._scale = max(1.0, size)
        self._classes = predictions(next(iter(self._outputs().values())))
        self.accuracy = self._accuracy(self._classes)
        self.distance = self._distance(self._classes, next(iter(self._outputs().values())))
        self.samples = len(golden.inputs)

    def _try_device(self) -> None:
        """Use the device no more if it does not compute the input model as QONNX does, on a few samples."""
        few = self._chosen(DEVICE_SAMPLES)
        right = self._exact.run({self._input: self._golden.inputs[few]})
        self._scale = max(1.0, *(largest(right[name]) for name in self._exact.outputs))
        found = compare(
            {name: right[name] for name in self._exact.outputs},
            {name: stack[few] for name, stack in self._outputs().items()},
            self.tolerance("*"),
            classes=False,
            by_class=False,
        )
        if not found.mismatches:
            return
        self._device.distrust(
            f"target '{self._original.target}' does not compute the input model: {found.mismatches} of {len(few)} samples "
            f"differ from QONNX's, worst at tensor '{found.worst_tensor}' by {found.max_error:g}; all was verified by "
            "array programs instead"
        )
        self._original = self._exact
        self._reference = self._exact.run({self._input: self._golden.inputs})

    def tolerance(self, step: str) -> float:
        """Return the tolerance of a step, as an absolute error."""
        if step in self._approximations:
            return self._approximations[step].error
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

        Returns:
            What was found. Nothing is where inputs or outputs fit none of the input model's, in a partition among
            others, and where a node's operator is defined nowhere in Python, or a partition has no file.

        Raises:
            VerificationError: It computes something else; the message names the step, the tensor, the worst
                error. Or it cannot be executed any more, or holds values that their datatype does not.
        """
        holder = parent()
        if (parts := other_partitions(model, holder)) > 1:
            return Verified(0, reason=f"it is one of {parts} dataflow partitions of a larger model")
        try:
            executor, alignment = self._prepare(step, model, holder)
            if alignment.reason:
                return Verified(0, reason=alignment.reason)
            every = whole or step in self._approximations
            chosen = self._chosen(self.samples if every else self._affordable(executor, alignment))
            comparison, outputs = self._compare(step, executor, alignment, chosen)
        except BuildError as error:
            if is_device_failure(error):
                raise BuildError(
                    f"what step '{step}' made of the model could not be verified: {error}\n  the device that was chosen "
                    "failed, not the step; with BRAINSMITH_DEVICE=auto array programs verify"
                ) from error
            if never_ran(error, model):
                return Verified(0, reason=str(error))
            raise VerificationError(
                f"what step '{step}' made of the model cannot be executed: {error}", step
            ) from error
        changed = self._changed(step, comparison)
        if comparison.mismatches and not (alignment.classes and changed is not None):
            self._refuse_device(step, model, holder, chosen, executor)
            raise VerificationError(self._difference(step, executor, alignment, chosen, comparison), step)
        reference = self._reference_step
        if changed is not None:
            self._refer_to(step, comparison, outputs, alignment.classes)
        result = Verified(
            len(chosen),
            0,
            comparison.max_error,
            "",
            alignment.notes,
            changed=changed,
            reference=reference,
            target=executor.target,
        )
        if len(chosen) < self.samples:
            return result
        first = None if alignment.classes else outputs[self._original.outputs[0]]
        return replace(
            result,
            accuracy=self._accuracy(comparison.classes),
            distance=self._distance(comparison.classes, first),
        )

    def _refuse_device(
        self, step: str, model: ModelWrapper, holder: ModelWrapper | None, chosen: Array, executor: Executor
    ) -> None:
        """Raise if the difference that was found is one of the device: array programs do not see it."""
        ran_on = {self._original.target, executor.target} - {Executor.target}
        if not ran_on or self._reference_step:
            return
        exact, alignment = self._prepare(step, model, holder, plain=True)
        self._reference = self._exact.run({self._input: self._golden.inputs})
        comparison, _ = self._compare(step, exact, alignment, chosen)
        if not comparison.mismatches:
            raise BuildError(
                f"target '{', '.join(ran_on)}' and array programs do not agree on what step '{step}' made of the model: by "
                "array programs the step is right; with BRAINSMITH_DEVICE=auto they verify"
            )

    def _changed(self, step: str, comparison: Comparison) -> int | None:
        """Count the samples that an approximating step puts into another class; None for other steps.

        Raises:
            VerificationError: They are more than the step may change.
        """
        if step not in self._approximations:
            return None
        changed = int((comparison.classes != self._classes).sum())
        allowed = self._approximations[step].classes
        if changed > allowed:
            raise VerificationError(
                f"step '{step}' changed what the model computes: it puts {changed} of {self.samples} samples into "
                f"another class, and verify.approximate allows {allowed}",
                step,
            )
        return changed

    def _refer_to(self, step: str, comparison: Comparison, outputs: dict[str, Array], classes: bool) -> None:
        """Compare later steps with the results of this one."""
        self._reference_step = step
        self._classes = comparison.classes
        if classes:  # all that is known, and all that later steps give: the class has the largest output
            name = self._original.outputs[0]
            largest_one = np.zeros_like(self._reference[name]).reshape(self.samples, -1)
            largest_one[np.arange(self.samples), comparison.classes] = 1.0
            outputs = {name: largest_one.reshape(self._reference[name].shape)}
        self._reference = {**self._reference, **outputs}

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

    def _prepare(
        self, step: str, model: ModelWrapper, parent: ModelWrapper | None, plain: bool = False
    ) -> tuple[Executor, Alignment]:
        whole = parent is None or bool(model.get_nodes_by_op_type(PARTITION))
        models = (model,) if whole or parent is None else (parent, model)
        executor = Executor(*models) if plain else self._device.executor(f"step '{step}'", *models)
        return executor, align(self._signature, Signature.of(executor))

    def _compare(
        self, step: str, executor: Executor, alignment: Alignment, chosen: Array
    ) -> tuple[Comparison, dict[str, Array]]:
        outputs = self._run(executor, alignment, chosen)
        expected = {name: stack[chosen] for name, stack in self._outputs().items()}
        by_class = self._golden.labels is not None and step not in self._approximations
        tolerance = self.tolerance(step)
        result = compare(expected, outputs, tolerance, alignment.classes, by_class)
        if not result.mismatches or (alignment.classes and step in self._approximations):
            return result, outputs
        # A batch may round differently from single samples; only what differs one by one is a difference.
        for at in np.flatnonzero(result.wrong):
            single = self._run(executor, alignment, chosen[at : at + 1])
            for name, stack in single.items():
                outputs[name][at] = stack[0]
        return compare(expected, outputs, tolerance, alignment.classes, by_class), outputs

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

    def _distance(self, classes: Array, outputs: Array | None) -> FloatDistance | None:
        floats = self._golden.floats
        return None if floats is None else float_distance(floats, classes, outputs)

    def _chosen(self, count: int) -> Array:
        """Return evenly spread sample numbers: the same ones after every step."""
        total = len(self._golden.inputs)
        return np.unique(np.linspace(0, total - 1, min(count, total)).astype(int))
