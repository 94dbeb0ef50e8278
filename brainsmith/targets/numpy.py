"""numpy: a model compiled once into array code, with the reference's bits wherever arithmetic is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import UsageError
from brainsmith.execution.kept_tensors import chosen_tensors, joined_tensors
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.model_target import ModelTarget
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.resource_content import about_resource
from brainsmith.runtime.target_settings import FLAG, checked_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.execution.program.array_program import Program
    from brainsmith.graph.array_types import Array

SETTINGS = {"faithful": FLAG}


@target(
    name="numpy",
    priority=Priority.HIGH,
    device_types=("cpu",),
    requires=("numpy",),
    display_name="NumPy",
    vendor="BrainSmith",
    description="The whole model as array code over many samples at once; exact for whole numbers",
)
class NumpyExecution(ModelTarget):
    """Runs any model that QONNX runs, hundreds of times faster.

    The program of a model is kept on disk by content: a second process reads it, and imports neither ONNX nor QONNX
    unless the model has nodes that no lowering knows.
    """

    def get_capabilities(self) -> Capabilities:
        """Return what it promises."""
        return Capabilities(bit_exact=True, batch=True, intermediates=True, concurrent=True)

    def make(self, resource: Any, content: str, faithful: bool = False) -> Program:  # type: ignore[override]
        """Return the program of a model: that which is kept, or made now."""
        from brainsmith.execution.kept import kept, plain_program, whole_program

        def make() -> tuple[Program, Any, Iterable[str]]:
            from brainsmith.execution.program.lower import lower
            from brainsmith.execution.read_model import read_model
            from brainsmith.execution.runnable import runnable_copy

            program = lower(runnable_copy(read_model(resource)), faithful)
            return program, plain_program(program), program.modules

        place = kept("programs", f"{content}|{faithful}")
        return place.obtain(whole_program, make, lambda: about_resource(resource))

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Compile a model, or take the program that is kept.

        Args:
            resource: The path of an .onnx file, its bytes, or a QONNX ModelWrapper.
            config: `faithful`: whether sums of floats and functions such as exp are left to ONNX Runtime, so that
                they have the reference's bits too (by default not; it is slower).

        Raises:
            UsageError: The configuration has other words.
            ModelError: It is no ONNX model.
            BuildError: A node cannot be executed; the message names it.
        """
        program: Program = self.made(resource, **checked_settings("numpy", config, SETTINGS, UsageError))
        return Prepared(target=self, signature=program.signature, payload=program)

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self, prepared: Prepared, inputs: Any, *, keep: Iterable[str] | None = ()
    ) -> dict[str, Array]:
        """Run samples.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors to return; None for all.

        Returns:
            The outputs, then what is kept, with all runs in the first axis.

        Raises:
            InputError: Inputs do not fit, or there is no such tensor.
            BuildError: A node cannot be executed, or a tensor holds what its datatype does not.
        """
        program: Program = prepared.payload
        arrays, runs = program.signature.checked(inputs)
        wanted = chosen_tensors(keep, program.signature.inside(program.tensors), program.signature.names)
        stacks = program.run(program.signature.stacked(arrays, runs), frozenset(wanted))
        return _own(joined_tensors(program.signature, stacks, wanted), arrays)


def _own(results: dict[str, Array], inputs: dict[str, Array]) -> dict[str, Array]:
    """Return results that the caller may write to: what only moves values gives views of inputs, or of each other."""
    taken = list(inputs.values())
    for name, array in results.items():
        if not array.flags.writeable or any(np.may_share_memory(array, other) for other in taken):
            results[name] = array.copy()
        taken.append(results[name])
    return results
