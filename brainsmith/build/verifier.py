"""Check after each step that the model still computes the same as the input model.

For example, with 360 images as golden inputs: the input model runs on them once, and its outputs are the baseline.
After `streamline` the new model runs on the same images. Each output must equal the baseline's, or differ by rounding
at most (or by the stated tolerance); else the build ends, and the message names the step, the tensor and the
largest error. A blueprint may state exceptions; the result of such a step is the baseline for the steps after it:

    approximate: {quantise: {error: 0.1, classes: 5}}    outputs may differ by 0.1, and 5 samples may change their class
    changes_outputs: {add_top1: {labels: Y.npy}}         there are other outputs, which are compared with these labels
    unverified: [prune]                                  not checked; the build says so
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.build.aligned import AlignedModel, chosen_runs
from brainsmith.build.baseline import baseline_after, baseline_of
from brainsmith.build.executable import PARTITION, never_ran, other_partitions
from brainsmith.build.float_model import float_distance
from brainsmith.build.known_outputs import check_expected, check_new_outputs
from brainsmith.build.output_comparison import OutputComparison, advice, compare
from brainsmith.build.verification_device import VerificationDevice, is_device_failure
from brainsmith.comparison.tensors import RELATIVE_TOLERANCE
from brainsmith.errors import BuildError, UnverifiedStepError, VerificationError
from brainsmith.execution.align import Signature, align, align_inputs
from brainsmith.execution.execute import Executor
from brainsmith.web.step_result import FloatDistance, Verified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.schema import Approximation
    from brainsmith.build.golden import GoldenData, NewOutputs

Array = np.ndarray[Any, Any]

DEVICE_SAMPLES = 8
NAMED = "the blueprint names it in verify.unverified"


class Verifier:
    """Holds the baseline, and compares the model after each step with it.

    Args:
        model: The input model.
        golden: What to run, and what steps that change the outputs must give.
        tolerances: The largest absolute error allowed after a step, by its name; "*" for all others. Without
            either, what `compare` says: none where outputs are exact.
        approximations: The steps that may change what the model computes, by name, and how much.
        device: What executes the models.
        unverified: The steps that are not verified, by name.

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
        unverified: Collection[str] = (),
    ) -> None:
        self._device = device or VerificationDevice()
        self._golden = golden
        self._tolerances = tolerances
        self._approximations = approximations or {}
        self._unverified = unverified
        original = self._device.executor("the input model", model)
        (name,) = original.inputs
        self._baseline = baseline_of(original, {name: golden.inputs})
        self._exact = original  # before a step can change the model
        if original.target != Executor.target:
            self._exact = Executor(model)
            self._try_device()
        self._measure()
        self._labels, self._floats = golden.labels, golden.floats
        classes = self._baseline.predictions
        self.accuracy = self._accuracy(classes)
        self.distance = self._distance(classes, next(iter(self._baseline.outputs.values())))
        self.samples = self._baseline.samples

    @property
    def reference(self) -> str:
        """The step with whose result later ones are compared; empty for the input model."""
        return self._baseline.step

    def _measure(self) -> None:
        """Set which difference from the baseline's outputs counts as rounding of floats."""
        self.rounding = RELATIVE_TOLERANCE * self._baseline.largest

    def _try_device(self) -> None:
        """Stop using the device if it computes other outputs of the input model than QONNX, on a few samples."""
        base = self._baseline
        few = chosen_runs(base, DEVICE_SAMPLES)
        right = self._exact.run({name: stack[few] for name, stack in base.feed.items()})
        exact = replace(base, executor=self._exact, outputs={name: right[name] for name in base.outputs})
        given = {name: stack[few] for name, stack in base.outputs.items()}
        found = compare(exact.outputs, given, self.tolerance("*"), classes=False, by_class=False)
        if not found.mismatches:
            return
        self._device.distrust(
            f"target '{base.executor.target}' does not compute the input model: {found.mismatches} of {len(few)} samples "
            f"differ from QONNX's, worst at tensor '{found.worst_tensor}' by {found.max_error:g}; all was verified by "
            "array programs instead"
        )
        self._baseline = baseline_of(self._exact, base.feed)

    def tolerance(self, step: str) -> float | None:
        """Return the tolerance of a step, as an absolute error; None if nothing is stated."""
        if step in self._approximations:
            return self._approximations[step].error
        return self._tolerances.get(step, self._tolerances.get("*"))

    def check(
        self, step: str, model: ModelWrapper, parent: Callable[[], ModelWrapper | None], whole: bool = False
    ) -> Verified:
        """Compare a step's result with the baseline: the input model, or the result of the last step with an exception.

        Args:
            step: Its name, for the tolerance and the message.
            model: Its result.
            parent: Gives the model that holds this one as a dataflow partition, if there is one.
            whole: Run all samples.

        Returns:
            How many samples differ, and by how much. With random inputs, a model that cannot be compared is no error:
            `reason` says why.

        Raises:
            VerificationError: It computes something else; the message names the step, the tensor, the worst
                error. Or it cannot be executed any more, or holds values that their datatype does not.
            UnverifiedStepError: There are golden inputs, and the model cannot be compared: its inputs or outputs fit
                none of those before, it is a partition among others, an operator of a node is defined nowhere in
                Python, or a partition has no file.
            BuildError: The device that was chosen failed.
        """
        holder = None if self._baseline.alone else parent()
        if step in self._unverified:
            return self._go_on_from(step, model, holder, NAMED)
        if not self._baseline.alone and (parts := other_partitions(model, holder)) > 1:
            return self._uncompared(
                step, model, holder, f"it is one of {parts} dataflow partitions of a larger model", alone=True
            )
        try:
            if step in self._golden.new_outputs:
                return self._check_new_outputs(step, model, holder, self._golden.new_outputs[step])
            made = AlignedModel.beside(self._baseline, self._executor(step, model, holder))
            if made.alignment.reason:
                raise _IncomparableError(made.alignment.reason)
            every = whole or step in self._approximations
            chosen = chosen_runs(self._baseline, self._baseline.runs if every else made.affordable())
            comparison = self._compare(step, made, chosen)
        except _IncomparableError as error:
            return self._uncompared(step, model, holder, str(error))
        except VerificationError:
            raise
        except BuildError as error:
            if is_device_failure(error):
                raise _device_failed(step, error) from error
            if never_ran(error, model):
                return self._uncompared(step, model, holder, str(error))
            raise VerificationError(
                f"what step '{step}' made of the model cannot be executed: {error}", step
            ) from error
        return self._judged(step, model, holder, made, chosen, comparison)

    def _compare(self, step: str, made: AlignedModel, chosen: Array) -> OutputComparison:
        may_change = step in self._approximations
        by_class = self._labels is not None and self._baseline.golden and not may_change
        return made.compare(chosen, self.tolerance(step), by_class, may_change)

    def _judged(
        self,
        step: str,
        model: ModelWrapper,
        holder: ModelWrapper | None,
        made: AlignedModel,
        chosen: Array,
        comparison: OutputComparison,
    ) -> Verified:
        """Return what a comparison found, or raise; later steps are compared with one that approximates."""
        base = self._baseline
        changed = self._changed(step, comparison)
        if comparison.mismatches and not (made.alignment.classes and changed is not None):
            self._refuse_device(step, model, holder, chosen, made.executor)
            text = made.difference(step, chosen, comparison)
            raise VerificationError(text, step, advice(step, comparison, base.outputs.values()))
        result = Verified(
            len(chosen) * base.batch,
            0,
            comparison.max_error,
            "",
            (*made.alignment.notes, *self._about_inputs()),
            changed=changed,
            reference=base.step,
            target=made.executor.target,
        )
        if changed is not None:
            after = baseline_after(base, made.executor, model, step)
            self._baseline = replace(after, classes=made.gives_classes)
        if len(chosen) < base.runs or not base.golden:
            return result
        values = self._floats is not None and not made.gives_classes
        first = next(iter(made.run(chosen).values())) if values else None
        accuracy = self._accuracy(comparison.classes)
        return replace(result, accuracy=accuracy, distance=self._distance(comparison.classes, first))

    def _about_inputs(self) -> tuple[str, ...]:
        base = self._baseline
        if base.golden:
            return ()
        return (f"run with {base.samples} random inputs, because step '{base.step}' changed the model's",)

    def _uncompared(
        self, step: str, model: ModelWrapper, holder: ModelWrapper | None, reason: str, alone: bool = False
    ) -> Verified:
        """Raise for a model that cannot be compared; if the inputs are random, make it the baseline instead."""
        if self._golden.random:
            return self._go_on_from(step, model, holder, reason, alone)
        raise UnverifiedStepError(
            f"step '{step}' cannot be verified: {reason}\n"
            "  if it is meant to change the outputs, state the new ones, with which it is then checked: "
            f"`verify: {{changes_outputs: {{{step}: {{labels: Y.npy, expected: Z.npy}}}}}}`, one of them or both\n"
            f"  if it cannot be checked at all, say so: `verify: {{unverified: [{step}]}}`; the build then warns of it, "
            "and fails with --strict",
            step,
        )

    def _go_on_from(
        self, step: str, model: ModelWrapper, holder: ModelWrapper | None, reason: str, alone: bool = False
    ) -> Verified:
        """Make this step's result the baseline; where it cannot be executed, the baseline stays."""
        before = self._baseline
        alone = alone or before.alone or other_partitions(model, holder) > 1
        try:
            executor = self._executor(step, model, None if alone else holder)
            self._baseline = baseline_after(before, executor, model, step, alone)
        except BuildError as error:
            if is_device_failure(error):
                raise _device_failed(step, error) from error
            more = "" if str(error) in reason else f"; it could not be executed either: {error}"
            return Verified(0, reason=f"{reason}{more}", reference=before.step)
        if align(before.signature, self._baseline.signature).reason:
            self._labels = self._floats = None  # they are of the outputs before
        self._measure()
        return Verified(0, reason=reason, reference=before.step)

    def _check_new_outputs(
        self, step: str, model: ModelWrapper, holder: ModelWrapper | None, stated: NewOutputs
    ) -> Verified:
        """Compare the new outputs of a step with the labels or values that the blueprint states for them."""
        before = self._baseline
        executor = self._executor(step, model, holder)
        if not before.golden or align_inputs(before.signature, Signature.of(executor), before.name)[2]:
            raise VerificationError(
                f"step '{step}' changes the model's inputs, and verify.changes_outputs.{step} states outputs for the "
                "golden ones",
                step,
            )
        self._baseline = baseline_after(before, executor, model, step)
        self._labels, self._floats = stated.labels, None
        self._measure()
        error = check_new_outputs(self._baseline, stated, self.tolerance(step))
        return Verified(
            self._baseline.samples,
            0,
            error,
            changes_outputs="labels" if stated.expected is None else "expected",
            reference=before.step,
            accuracy=self._accuracy(self._baseline.predictions),
            target=executor.target,
        )

    def _refuse_device(
        self, step: str, model: ModelWrapper, holder: ModelWrapper | None, chosen: Array, executor: Executor
    ) -> None:
        """Raise if only the device differs: array programs compute the same before and after the step."""
        ran_on = {self._baseline.executor.target, executor.target} - {Executor.target}
        if not ran_on or self._baseline.step:
            return
        exact = self._executor(step, model, holder, plain=True)
        self._baseline = baseline_of(self._exact, self._baseline.feed)
        made = AlignedModel.beside(self._baseline, exact)
        if not self._compare(step, made, chosen).mismatches:
            raise BuildError(
                f"target '{', '.join(ran_on)}' and array programs do not agree on what step '{step}' made of the model: by "
                "array programs the step is right; with BRAINSMITH_DEVICE=auto they verify"
            )

    def _changed(self, step: str, comparison: OutputComparison) -> int | None:
        """Count the samples that an approximating step puts into another class; None for other steps.

        Raises:
            VerificationError: They are more than the step may change.
        """
        if step not in self._approximations:
            return None
        changed = int((comparison.classes != self._baseline.predictions).sum())
        allowed = self._approximations[step].classes
        if changed > allowed:
            raise VerificationError(
                f"step '{step}' changed what the model computes: it puts {changed} of {self._baseline.samples} samples "
                f"into another class, and verify.approximate allows {allowed}",
                step,
            )
        return changed

    def _executor(
        self, step: str, model: ModelWrapper, parent: ModelWrapper | None, plain: bool = False
    ) -> Executor:
        whole = parent is None or bool(model.get_nodes_by_op_type(PARTITION))
        models = (model,) if whole or parent is None else (parent, model)
        return Executor(*models) if plain else self._device.executor(f"step '{step}'", *models)

    def check_expected(self) -> None:
        """Compare the input model with the expected outputs, if there are any.

        Raises:
            VerificationError: It computes something else.
        """
        if self._golden.expected is not None:
            check_expected(self._baseline, self._golden.expected, self.tolerance("*"))

    def _accuracy(self, classes: Array) -> float | None:
        return None if self._labels is None else float(np.mean(classes == self._labels))

    def _distance(self, classes: Array, outputs: Array | None) -> FloatDistance | None:
        return None if self._floats is None else float_distance(self._floats, classes, outputs)


def _device_failed(step: str, error: BuildError) -> BuildError:
    return BuildError(
        f"what step '{step}' made of the model could not be verified: {error}\n  the device that was chosen "
        "failed, not the step; with BRAINSMITH_DEVICE=auto array programs verify"
    )


class _IncomparableError(Exception):
    """A model has other inputs or outputs than the one to compare with."""
