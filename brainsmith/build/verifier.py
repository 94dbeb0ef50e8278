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

from dataclasses import InitVar, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from brainsmith.build.aligned import AlignedModel, chosen_runs
from brainsmith.build.baseline import baseline_after, baseline_of
from brainsmith.build.executable import never_ran
from brainsmith.build.float_model import float_distance
from brainsmith.build.float_tie_check import FloatTieCheck
from brainsmith.build.known_outputs import check_expected, check_new_outputs
from brainsmith.build.output_comparison import OutputComparison, advice, compare
from brainsmith.build.step_outcome import StepOutcome
from brainsmith.build.verification_device import VerificationDevice, is_device_failure
from brainsmith.comparison.tensors import RELATIVE_TOLERANCE
from brainsmith.errors import BuildError, UnverifiedStepError, VerificationError
from brainsmith.execution.align import align, align_inputs
from brainsmith.execution.execute import Executor
from brainsmith.graph.array_types import Array
from brainsmith.transforms.integer.level_record import read_levels
from brainsmith.web.step_result import FloatDistance, FloatTies, Verified

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.schema import Approximation
    from brainsmith.build.baseline import Baseline
    from brainsmith.build.golden import GoldenData, NewOutputs


DEVICE_SAMPLES = 8
NAMED = "the blueprint names it in verify.unverified"


@dataclass(eq=False, repr=False)
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
        feed: The golden inputs of the input model, by name.
        network: The input model as an array program.
        baseline: What later models are compared with.

    Raises:
        BuildError: The input model cannot be executed.
    """

    model: InitVar[ModelWrapper]
    golden: GoldenData
    tolerances: Mapping[str, float]
    approximations: Mapping[str, Approximation] = field(default_factory=dict)
    device: VerificationDevice = field(default_factory=VerificationDevice)
    unverified: Collection[str] = ()

    def __post_init__(self, model: ModelWrapper) -> None:
        self._floats_before = FloatTieCheck(model, self.device)
        original = self.device.executor("the input model", model)
        self._inputs = original.inputs
        self.baseline = baseline_of(original, self.feed)
        self._exact: Executor | None = original  # before a step can change the model
        if original.target != Executor.target:
            self._exact = Executor(model)
            self._try_device(chosen_runs(self.baseline, DEVICE_SAMPLES))
        self._labels, self._floats = self.golden.labels, self.golden.floats
        classes = self.baseline.predictions
        self.accuracy = self._accuracy(classes)
        self.distance = self._distance(classes, next(iter(self.baseline.outputs.values())))
        self.samples = self.baseline.samples

    @property
    def feed(self) -> dict[str, Array]:
        """The golden inputs of the input model, by name."""
        return self.golden.feed(self._inputs)

    @property
    def network(self) -> Executor:
        """The input model as an array program, before a step's result takes its place."""
        assert self._exact is not None
        return self._exact

    @property
    def rounding(self) -> float:
        """The largest difference from the baseline's outputs that is one of floats' rounding, as between targets."""
        return RELATIVE_TOLERANCE * self.baseline.largest

    def _device_is_right(self, result: StepOutcome, made: AlignedModel, runs: Array) -> bool:
        """Tell whether the device gives for some runs of a step's result what array programs do; else stop using it."""
        if made.executor.target == Executor.target or self.baseline.step:
            return True
        exact = replace(made, executor=Executor(*result.run))
        what, target = f"the result of step '{result.step}'", made.executor.target
        return self._try_device(runs) and self._trusts(target, what, exact.run(runs), made.run(runs))

    def _try_device(self, runs: Array) -> bool:
        """Tell whether the device gave for some runs of the input model what QONNX does; else stop using it."""
        base = self.baseline
        right = self.network.run({name: stack[runs] for name, stack in base.feed.items()})
        given = {name: stack[runs] for name, stack in base.outputs.items()}
        right = {name: right[name] for name in given}
        return self._trusts(base.executor.target, "the input model", right, given)

    def _trusts(self, target: str, what: str, right: Mapping[str, Array], given: Mapping[str, Array]) -> bool:
        found = compare(right, given, self.tolerance("*"), classes=False, by_class=False)
        if found.mismatches:
            self.device.distrust(
                f"target '{target}' does not compute {what}: {found.mismatches} of {len(found.wrong)} samples differ from "
                f"QONNX's, worst at tensor '{found.worst_tensor}' by {found.max_error:g}; all was verified by array "
                "programs instead"
            )
            self.baseline = baseline_of(self.network, self.baseline.feed)
        return not found.mismatches

    def tolerance(self, step: str) -> float | None:
        """Return the tolerance of a step, as an absolute error; None if nothing is stated."""
        if step in self.approximations:
            return self.approximations[step].error
        return self.tolerances.get(step, self.tolerances.get("*"))

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
        result = StepOutcome(step, model, None if self.baseline.alone else parent())
        if step in self.unverified:
            return self._go_on_from(result, NAMED)
        if result.partitions > 1:
            return self._uncompared(
                result, f"it is one of {result.partitions} dataflow partitions of a larger model"
            )
        try:
            if step in self.golden.new_outputs:
                return self._check_new_outputs(result, self.golden.new_outputs[step])
            made = AlignedModel.beside(self.baseline, self._executor(result))
            if not made.alignment.reason:
                every = whole or step in self.approximations or self._gives_reference(model)
                chosen = chosen_runs(self.baseline, self.baseline.runs if every else made.affordable())
                comparison = self._compare(result, made, chosen)
                tried = chosen if comparison.mismatches else chosen_runs(self.baseline, DEVICE_SAMPLES)
                if (whole or comparison.mismatches) and not self._device_is_right(result, made, tried):
                    return self.check(step, model, parent, whole)
        except VerificationError:
            raise
        except BuildError as error:
            if is_device_failure(error):
                raise _device_failed(step, error) from error
            if never_ran(error, model):
                return self._uncompared(result, str(error))
            text = f"what step '{step}' made of the model cannot be executed: {error}"
            raise VerificationError(text, step) from error
        if made.alignment.reason:
            return self._uncompared(result, made.alignment.reason)
        return self._judged(result, made, chosen, comparison)

    def _compare(self, result: StepOutcome, made: AlignedModel, chosen: Array) -> OutputComparison:
        base, may_change = self.baseline, result.step in self.approximations
        by_class = self._labels is not None and base.golden and not may_change
        tolerance = self.tolerance(result.step)
        if tolerance is None and base.integers and base.row_functions == result.row_functions:
            tolerance = 0.0
        return made.compare(chosen, tolerance, by_class, may_change)

    def _judged(
        self, result: StepOutcome, made: AlignedModel, chosen: Array, comparison: OutputComparison
    ) -> Verified:
        """Return what a comparison found, or raise; later steps are compared with one that approximates."""
        base, step = self.baseline, result.step
        changed = self._changed(step, comparison)
        ties = None
        if not (made.alignment.classes and changed is not None):
            ties = self._ties(result, made, chosen, comparison)
        verified = Verified(
            len(chosen) * base.batch,
            0,
            comparison.max_error,
            "",
            (*made.alignment.notes, *self._about_inputs()),
            changed=changed,
            reference=base.step,
            target=made.executor.target,
            float_ties=ties,
        )
        if changed is not None or ties is not None or self._gives_reference(result.model):
            integers = base.integers or ties is not None or bool(read_levels(result.model))
            after = self._after(result, made.executor)
            self._compare_later_with(replace(after, classes=made.gives_classes, integers=integers))
        self._note(result.model)
        if len(chosen) < base.runs or not base.golden:
            return verified
        values = self._floats is not None and not made.gives_classes
        first = next(iter(made.run(chosen).values())) if values else None
        accuracy = self._accuracy(comparison.classes)
        return replace(verified, accuracy=accuracy, distance=self._distance(comparison.classes, first))

    def _ties(
        self, result: StepOutcome, made: AlignedModel, chosen: Array, comparison: OutputComparison
    ) -> FloatTies | None:
        """Return the float ties that explain what differs; None if nothing does.

        Raises:
            VerificationError: They do not explain all of it.
        """
        base, step = self.baseline, result.step
        runs = chosen[comparison.wrong_runs(base.batch)]
        found = None
        # A partition's levels are those of its own inputs, which are not the network's.
        if step not in self.approximations and not result.partitions:
            found = self._floats_before.judge(base, result.model, chosen, runs, self.tolerance(step))
        if comparison.mismatches and (found is None or found.ties is None):
            text = made.difference(step, chosen, comparison)
            if found is not None and found.wrong:
                text += f". Float ties do not explain it: {found.wrong}"
            raise VerificationError(text, step, advice(step, comparison, base.outputs.values()))
        if found is not None and found.wrong:
            text = f"step '{step}' changed what the model computes, though not its outputs: {found.wrong}"
            raise VerificationError(text, step)
        return None if found is None else found.ties

    def _gives_reference(self, model: ModelWrapper) -> bool:
        """Tell whether later steps must give the bits of a model of integers, because the network's floats round."""
        return self._floats_before.has_new_levels(model) and not self._floats_before.has_exact_outputs

    def _after(self, result: StepOutcome, executor: Executor, alone: bool = False) -> Baseline:
        """Run what a step made, so that later models can be compared with it."""
        after = baseline_after(self.baseline, executor, result.model, result.step, alone)
        return replace(after, row_functions=result.row_functions)

    def _compare_later_with(self, after: Baseline) -> None:
        """Make a step's result the baseline; the input model is executed no more."""
        self.baseline, self._exact = after, None

    def _note(self, model: ModelWrapper) -> None:
        """Note what a step made, for float ties; of layers that are the baseline no network needs to be known."""
        self._floats_before.note(model)
        if self.baseline.integers:
            self._floats_before.forget()

    def _about_inputs(self) -> tuple[str, ...]:
        base = self.baseline
        if base.golden:
            return ()
        return (f"run with {base.samples} random inputs, because step '{base.step}' changed the model's",)

    def _uncompared(self, result: StepOutcome, reason: str) -> Verified:
        """Raise for a model that cannot be compared; if the inputs are random, make it the baseline instead."""
        if self.golden.random:
            return self._go_on_from(result, reason)
        step = result.step
        raise UnverifiedStepError(
            f"step '{step}' cannot be verified: {reason}\n"
            "  if it is meant to change the outputs, state the new ones, with which it is then checked: "
            f"`verify: {{changes_outputs: {{{step}: {{labels: Y.npy, expected: Z.npy}}}}}}`, one of them or both\n"
            f"  if it cannot be checked at all, say so: `verify: {{unverified: [{step}]}}`; the build then warns of it, "
            "and fails with --strict",
            step,
        )

    def _go_on_from(self, result: StepOutcome, reason: str) -> Verified:
        """Make this step's result the baseline; where it cannot be executed, the baseline stays."""
        before = self.baseline
        alone = before.alone or result.partitions > 1
        try:
            shown = replace(result, holder=None) if alone else result
            self._compare_later_with(self._after(shown, self._executor(shown), alone))
            self._note(result.model)
        except BuildError as error:
            if is_device_failure(error):
                raise _device_failed(result.step, error) from error
            more = "" if str(error) in reason else f"; it could not be executed either: {error}"
            return Verified(0, reason=f"{reason}{more}", reference=before.step)
        if align(before.signature, self.baseline.signature).reason:
            self._labels = self._floats = None  # they are of the outputs before
        return Verified(0, reason=reason, reference=before.step)

    def _check_new_outputs(self, result: StepOutcome, stated: NewOutputs) -> Verified:
        """Compare the new outputs of a step with the labels or values that the blueprint states for them."""
        before, step = self.baseline, result.step
        executor = self._executor(result)
        if not before.golden or align_inputs(before.signature, executor.signature, before.name)[2]:
            raise VerificationError(
                f"step '{step}' changes the model's inputs, and verify.changes_outputs.{step} states outputs for the "
                "golden ones",
                step,
            )
        self._compare_later_with(self._after(result, executor))
        self._note(result.model)
        self._labels, self._floats = stated.labels, None
        error = check_new_outputs(self.baseline, stated, self.tolerance(step))
        return Verified(
            self.baseline.samples,
            0,
            error,
            changes_outputs="labels" if stated.expected is None else "expected",
            reference=before.step,
            accuracy=self._accuracy(self.baseline.predictions),
            target=executor.target,
        )

    def _changed(self, step: str, comparison: OutputComparison) -> int | None:
        """Count the samples that an approximating step puts into another class; None for other steps.

        Raises:
            VerificationError: They are more than the step may change.
        """
        if step not in self.approximations:
            return None
        changed = int((comparison.classes != self.baseline.predictions).sum())
        allowed = self.approximations[step].classes
        if changed > allowed:
            raise VerificationError(
                f"step '{step}' changed what the model computes: it puts {changed} of {self.baseline.samples} samples "
                f"into another class, and verify.approximate allows {allowed}",
                step,
            )
        return changed

    def _executor(self, result: StepOutcome) -> Executor:
        return self.device.executor(f"step '{result.step}'", *result.run)

    def check_expected(self) -> FloatTies | None:
        """Compare the input model with the expected outputs, if there are any.

        Returns:
            The float ties that explain what differs; None if nothing does.

        Raises:
            VerificationError: It computes something else.
        """
        if self.golden.expected is None:
            return None
        return check_expected(self.baseline, self.golden.expected, self.tolerance("*"), self._floats_before)

    def _accuracy(self, classes: Array) -> float | None:
        return None if self._labels is None else float(np.mean(classes == self._labels))

    def _distance(self, classes: Array, outputs: Array | None) -> FloatDistance | None:
        return None if self._floats is None else float_distance(self._floats, classes, outputs)


def _device_failed(step: str, error: BuildError) -> BuildError:
    return BuildError(
        f"what step '{step}' made of the model could not be verified: {error}\n  the device that was chosen "
        "failed, not the step; with BRAINSMITH_DEVICE=auto array programs verify"
    )
