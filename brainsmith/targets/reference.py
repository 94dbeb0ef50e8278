"""reference: QONNX's own execution, one run after the other; what every other target is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BrainsmithError, BuildError
from brainsmith.execution.kept_tensors import chosen_tensors
from brainsmith.execution.model_signature import signature_of
from brainsmith.graph.ends import tensors_behind
from brainsmith.plugin.core import target
from brainsmith.runtime.annotated_inputs import refuse_outside
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.model_target import ModelTarget
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target_settings import checked_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.graph.array_types import Array


@target(
    name="reference",
    priority=0,
    device_types=("cpu",),
    requires=("qonnx", "onnxruntime"),
    display_name="Reference",
    vendor="QONNX",
    description="QONNX's execute_onnx, node by node and one run after the other: slow, and right by definition",
)
class Reference(ModelTarget):
    """Runs a model with QONNX's `execute_onnx`. Hardware nodes run the Python model of their kernel."""

    def get_capabilities(self) -> Capabilities:
        """Return what it promises; QONNX keeps nothing between calls, but its nodes are not known to be safe in threads."""
        return Capabilities(bit_exact=True, intermediates=True)

    def make(self, resource: Any, content: str) -> ModelWrapper:  # type: ignore[override]  # it has no choices
        """Return a model as it is executed, each of its operators known."""
        from brainsmith.execution.initialisers import initialisers
        from brainsmith.execution.known_operators import require_operator
        from brainsmith.execution.program.partitions import described
        from brainsmith.execution.read_model import read_model
        from brainsmith.execution.runnable import runnable_copy
        from brainsmith.graph.model_facts import ModelFacts

        model = runnable_copy(read_model(resource))
        facts = ModelFacts(model, initialisers(model))
        for node in model.graph.node:
            try:
                require_operator(node, facts.opset(node.domain), facts.known_dtype)
            except BrainsmithError as error:
                raise BuildError(f"{described(node)} cannot be executed: {error}") from error
        return model

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Read a model and infer its shapes.

        Args:
            resource: The path of an .onnx file, its bytes, or a ModelWrapper, which is copied.
            config: There is nothing to choose.

        Raises:
            ModelError: It is no model.
            BuildError: Its shapes cannot be inferred, or nothing here knows a node's operator.
            TargetError: There is a configuration.
        """
        checked_settings("reference", config, {})
        model: ModelWrapper = self.made(resource)
        return Prepared(target=self, signature=signature_of(model), payload=model)

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self, prepared: Prepared, inputs: Any, *, keep: Iterable[str] | None = ()
    ) -> dict[str, Array]:
        """Run one run after the other.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors to return; None for all that the inputs change.

        Raises:
            InputError: Inputs do not fit, or `keep` names no tensor.
        """
        from qonnx.core.onnx_exec import execute_onnx

        signature, model = prepared.signature, prepared.payload
        assert signature is not None
        arrays, runs = signature.checked(inputs)
        refuse_outside(signature, arrays)  # QONNX computes with whole numbers that a datatype does not hold
        stacks = signature.stacked(arrays, runs)
        outputs = [spec.name for spec in signature.outputs]
        kept = chosen_tensors(keep, tensors_behind(model.graph, stacks), ())
        names = list(dict.fromkeys((*outputs, *kept)))
        results = []
        for at in range(runs):
            one = execute_onnx(
                model,
                {name: np.asarray(stack[at]) for name, stack in stacks.items()},  # of scalars, arrays too
                return_full_exec_context=bool(kept),
            )
            results.append({name: one[name] for name in names})  # a whole context holds the weights, too
        return {name: _joined([result[name] for result in results]) for name in names}


def _joined(results: list[Array]) -> Array:
    """Return the runs of one tensor in its first axis; of a scalar, (runs,)."""
    first = np.asarray(results[0])
    return np.concatenate(results) if first.ndim else np.asarray(results)
