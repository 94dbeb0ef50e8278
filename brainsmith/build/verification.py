"""The verification of one build: its golden data, the check after each step, and what the report says of it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from brainsmith.build.float_model import float_accuracy
from brainsmith.build.golden import GoldenData
from brainsmith.build.verification_device import VerificationDevice
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BuildError, TargetError, VerificationError
from brainsmith.execution.kept_inputs import kept_for_all
from brainsmith.figures import plural, share
from brainsmith.steps.host_ends import parent_model
from brainsmith.web.step_result import FloatTies, Verified

if TYPE_CHECKING:
    from pathlib import Path

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.artifact import Artifact
    from brainsmith.build.messages import BuildLog
    from brainsmith.build.task import BuildTask
    from brainsmith.execution.execute import Executor
    from brainsmith.web.step_result import StepResult

Fields = dict[str, Any]


class BuildVerification:
    """Runs the input model, and compares what each step makes of it.

    Args:
        task: What the build was asked to do.
        source: The input model.
        golden: What to run.
        log: Receives the messages.
        folder: Where the build works.
        keep: Whether inputs that are made up may be those of earlier builds, and are kept.

    Attributes:
        running: Whether steps are verified: not where the input model cannot be executed.
        exact: The model that later ones equal but for rounding, and the step that made it: the input model and "", or
            what the last step made that may change what the model computes.
        told: The message before the first step; empty where nothing can be verified.
        device: What executes the models.

    Raises:
        BuildError: The input model cannot be executed, and somebody gave golden inputs or chose a device for that.
        VerificationError: It does not compute the expected outputs.
    """

    def __init__(
        self, task: BuildTask, source: Artifact, golden: GoldenData, log: BuildLog, folder: Path, keep: bool
    ) -> None:
        self._golden = golden
        self._log = log
        self._folder = folder
        self.device = VerificationDevice(keep, folder)
        self._generated: Verifier | None = None
        self._generated_told: Fields = {"generated": 0, "generated_coverage": "", "generated_problem": ""}
        self._golden_ties: FloatTies | None = None
        self._last_whole: Verified | None = None
        self._problem = ""
        self.exact = (source, "")
        self.told = ""
        with self.device.once.unchanged():
            self._verifier = self._started(source.peek(), task)
            if self._verifier is None:
                return
            self._golden_ties = self._verifier.check_expected()
            self._generate(source, task, self._verifier.network if keep else None)
        accuracy, coverage = self._verifier.accuracy, self._generated_told["generated_coverage"]
        right = "" if accuracy is None else f", accuracy {share(accuracy)}"
        made_up = "" if self._generated is None else f"; {plural(self._generated.samples, 'generated input')}"
        made_up += f" ({coverage})" if made_up and coverage else ""
        ties = "" if self._golden_ties is None else f"; of the expected outputs {self._golden_ties}"
        self.told = f"input model: {plural(self._verifier.samples, 'sample')}{right}{ties}{made_up}"

    def _started(self, model: ModelWrapper, task: BuildTask) -> Verifier | None:
        """Run the golden data through the input model; None where random ones are not possible."""
        exceptions = (task.verify.approximate, self.device, task.verify.unverified)
        try:
            with self._log.taken("input model"):
                return Verifier(model, self._golden, task.verify.tolerance, *exceptions)
        except BuildError as error:
            if isinstance(error.__cause__, TargetError):  # whoever chose a device wants to know that it fails
                raise
            self._problem = f"the input model cannot be executed: {error}"
            if self._golden.random:
                return None
            raise BuildError(
                f"{self._problem}\n  so no step can be verified with the golden inputs: correct the model, or build it "
                "without verification: --no-verify (verify=False)"
            ) from error

    def _generate(self, source: Artifact, task: BuildTask, network: Executor | None) -> None:
        """Run inputs that the build makes up through the input model, beside the golden ones.

        They count in no accuracy. A stated exception (a step that approximates, gives other outputs or is not verified)
        is not compared on them, because what it states is meant for golden data; later steps are compared with its result.
        """
        verify, model = task.verify, source.peek()
        stated = {*verify.approximate, *verify.unverified, *verify.changes_outputs}
        with self._log.taken("generated inputs"):
            if network is None:
                from brainsmith.execution.generated_inputs import generated_for_all

                made, others = generated_for_all(model)
            else:
                made, others = kept_for_all(model, source.digest, network)
            self._generated_told["generated_coverage"] = made.coverage
            golden = GoldenData(made.stack, random=True, others=others)
            try:
                self._generated = Verifier(
                    model, golden, verify.tolerance, device=self.device, unverified=stated
                )
                self._generated_told["generated"] = self._generated.samples
            # With the golden ones it can be executed, so this is a finding of its own.
            except BuildError as error:
                self._generated_told["generated_problem"] = str(error)

    @property
    def running(self) -> bool:
        """Tell whether steps are verified."""
        return self._verifier is not None

    @property
    def inputs(self) -> dict[str, Any]:
        """Return the inputs that the input model was run with, by name."""
        assert self._verifier is not None
        return dict(self._verifier.feed)

    def check(self, step: str, model: Artifact, whole: bool) -> Verified:
        """Compare what a step made.

        Args:
            step: Its name.
            model: Its result.
            whole: Run all samples: it is the last step.

        Raises:
            BuildError: As `Verifier.check` says.
        """
        assert self._verifier is not None
        with self._log.taken(f"verification of {step}"), self.device.once.unchanged():
            outcome = self._verifier.check(step, model.peek(), self._parent, whole)
            if self._generated is not None:
                generated = self._check_generated(self._generated, step, model)
                ties = [each.float_ties for each in (outcome, generated) if each.float_ties is not None]
                outcome = replace(
                    outcome,
                    generated=generated.samples or 0,
                    float_ties=sum(ties[1:], ties[0]) if ties else None,
                )
        if whole:
            self._last_whole = outcome
        if self._verifier.baseline.step == step or (outcome.max_error or 0.0) > self._verifier.rounding:
            self.exact = (model, step)
        return outcome

    def _check_generated(self, verifier: Verifier, step: str, model: Artifact) -> Verified:
        """Return the outcome of the generated samples; of none where they could not be compared."""
        try:
            return verifier.check(step, model.peek(), self._parent)
        except VerificationError as error:
            raise VerificationError(
                f"{error}\n  shown by inputs that the build generated (extremes, patterns, values around thresholds), not "
                "by the golden ones",
                error.step,
                error.advice,
            ) from error

    def _parent(self) -> ModelWrapper | None:
        """Return the model that FINN's partitioning left behind, which holds the current one as a node."""
        return parent_model(self._folder)

    def reported(self) -> dict[str, Fields | None]:
        """Return what the report says: `golden`, what there was to verify with; `accuracy`, and `float_model`.

        The latter two are None where labels or a float model's outputs are not known.
        """
        verifier = self._verifier
        golden = {
            "samples": len(self._golden.inputs) if verifier is None else verifier.samples,
            "random": self._golden.random,
            **self._generated_told,
            "problem": self._problem,
            **({"float_ties": asdict(self._golden_ties)} if self._golden_ties else {}),
        }
        if verifier is None:
            return {"golden": golden, "accuracy": None, "float_model": None}
        after = self._last_whole or Verified(0)
        accuracy, floats = None, None
        if verifier.accuracy is not None:
            accuracy = {"samples": verifier.samples, "before": verifier.accuracy, "after": after.accuracy}
        if verifier.distance is not None and self._golden.floats is not None:
            floats = {
                "samples": verifier.samples,
                "accuracy": float_accuracy(self._golden.floats, self._golden.labels),
                "before": asdict(verifier.distance),
                "after": None if after.distance is None else asdict(after.distance),
            }
        return {"golden": golden, "accuracy": accuracy, "float_model": floats}


def compared_with(verification: BuildVerification | None, steps: list[StepResult]) -> str:
    """Say what the last model equals, with which a circuit was compared.

    Args:
        verification: None where it is off.
        steps: Those that ran.
    """
    last = steps[-1].verified if steps else None
    if verification is None or last is None or last.reason:
        return "the last model, which was not verified"
    own = last.changes_outputs or last.changed is not None
    reference = steps[-1].name if own else last.reference
    return f"the result of step '{reference}'" if reference else "the input model"
