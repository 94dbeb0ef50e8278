"""Check each step with generated inputs, beside the golden ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.build.golden import GoldenData
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BuildError, VerificationError
from brainsmith.execution.generated_inputs import generated_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.build.verification_device import VerificationDevice


class GeneratedCheck:
    """The comparison of each step's result with the input model, on inputs that the build makes up.

    They count in no accuracy. A stated exception (a step that approximates, gives other outputs or is not verified)
    is not compared, because what it states is meant for golden data; later steps are compared with its result.

    Args:
        model: The input model.
        name: Its only input.
        tolerances: As for the golden inputs.
        exceptions: The steps that are not compared.
        device: What executes the models.

    Attributes:
        samples: How many samples there are; 0 where the input model cannot be executed with them.
        problem: Why it cannot; empty if it can.
        coverage: Which thresholds inside the network the samples do not reach; empty if nothing is missing.
    """

    def __init__(
        self,
        model: ModelWrapper,
        name: str,
        tolerances: Mapping[str, float],
        exceptions: Collection[str],
        device: VerificationDevice,
    ) -> None:
        self._verifier: Verifier | None = None
        self.samples = 0
        self.problem = ""
        made = generated_inputs(model, name)
        self.coverage = made.coverage
        try:
            golden = GoldenData(made.stack, random=True)
            self._verifier = Verifier(model, golden, tolerances, device=device, unverified=exceptions)
        except (
            BuildError
        ) as error:  # with the golden ones it can be executed, so this is a finding of its own
            self.problem = str(error)
            return
        self.samples = self._verifier.samples

    def check(self, step: str, model: ModelWrapper, parent: Callable[[], ModelWrapper | None]) -> int:
        """Compare a step's result.

        Returns:
            How many samples were run; 0 where it could not be compared.

        Raises:
            VerificationError: It computes something else; the message says that generated inputs show it.
        """
        if self._verifier is None:
            return 0
        try:
            return self._verifier.check(step, model, parent).samples or 0
        except VerificationError as error:
            raise VerificationError(
                f"{error}\n  shown by inputs that the build generated (extremes, patterns, values around thresholds), not "
                "by the golden ones",
                error.step,
                error.advice,
            ) from error
