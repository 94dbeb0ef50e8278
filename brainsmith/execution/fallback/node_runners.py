"""One node, prepared once and run on stacks of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.fallback.node_session import open_node
from brainsmith.execution.fallback.runs_apart import keeps_runs_apart
from brainsmith.execution.foreign_failures import foreign_call
from brainsmith.execution.known_operators import has_python_model
from brainsmith.graph.array_types import Array
from brainsmith.graph.well_formed import graphs_of

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


_DOUBLE = 11
"""The number of float64 among ONNX's types."""


def make_runner(model: ModelWrapper, node: Any, constants: dict[str, Array]) -> NodeRunner:
    """Choose how to run a node: a custom operation's own code, else ONNX Runtime."""
    from qonnx.util.basic import get_preferred_qonnx_opset

    opset = model.get_opset_imports().get(node.domain, get_preferred_qonnx_opset())
    if has_python_model(node):
        runner = CustomRunner(model, node, constants, opset)
        return ForeignRunner(model, node, constants, opset) if runner.is_elsewhere() else runner
    if graphs_of(node):
        return SubgraphRunner(model, node, constants, opset)
    return StandardRunner(model, node, constants, opset)


class NodeRunner(ABC):
    """Runs one node; decides once whether the node may take all samples as one batch.

    A batch is used only if its operator is known to compute each sample by itself, and if the node gave, for every
    sample of the first stack whose samples differ, exactly what it gives for each of them alone: sums of floats may
    be rounded differently.
    """

    def __init__(self, model: ModelWrapper, node: Any, constants: dict[str, Array], opset: int) -> None:
        self.node = node
        self.model = model
        self.opset = opset
        self.outputs = [name for name in node.output if name]
        self._constants = constants
        self._given = {name: constants[name] for name in node.input if name in constants}
        self._batched: bool | None = None

    def run(self, varying: dict[str, Array]) -> dict[str, Array]:
        """Run all samples.

        Args:
            varying: A stack for each input that is not a constant.

        Returns:
            A stack for each output.
        """
        samples = len(next(iter(varying.values())))
        if self._batched is None and not keeps_runs_apart(
            self.model, self.node, self._constants, self._project()
        ):
            self._batched = False
        if self._batched and samples > 1:
            return self._as_batch(varying)
        singles = [
            self.once({name: np.asarray(stack[at]) for name, stack in varying.items()})
            for at in range(samples)
        ]
        alone = {name: np.stack([single[name] for single in singles]) for name in self.outputs}
        if self._batched is None and any(_differ(stack) for stack in varying.values()):
            self._batched = self._gives(alone, varying)
        return alone

    def once(self, values: dict[str, Array]) -> dict[str, Array]:
        """Run one sample: tensors in the node's own shapes."""
        return self._call({**self._given, **values}, batch=None)

    def _as_batch(self, varying: dict[str, Array]) -> dict[str, Array]:
        samples = len(next(iter(varying.values())))
        merged = {name: stack.reshape(stack.shape[0], *stack.shape[2:]) for name, stack in varying.items()}
        results = self._call({**self._given, **merged}, batch=samples)
        if any(len(array) != samples for array in results.values()):
            raise BuildError("not one result for each sample")
        return {name: array.reshape(samples, 1, *array.shape[1:]) for name, array in results.items()}

    def _gives(self, alone: dict[str, Array], varying: dict[str, Array]) -> bool:
        """Tell whether the samples as one batch give what each gave alone."""
        if any(stack.ndim < 2 or stack.shape[1] != 1 for stack in varying.values()):
            return False
        try:
            with foreign_call(lambda _: BuildError(f"'{self.node.name}' takes no batch")):
                together = self._as_batch(varying)
        except BuildError:
            return False
        return all(_same_bits(together[name], array) for name, array in alone.items())

    def _project(self) -> str:
        """Return the package of the class whose Python model runs; "" of a standard node."""
        return ""

    @abstractmethod
    def _call(self, inputs: dict[str, Array], batch: int | None) -> dict[str, Array]:
        """Run the node on one sample, or on a batch of that size; what it raises is reported by the caller."""


class CustomRunner(NodeRunner):
    """A custom operation (of QONNX, FINN or a plugin): its `execute_node`, on an instance that is kept."""

    def __init__(self, model: ModelWrapper, node: Any, constants: dict[str, Array], opset: int) -> None:
        super().__init__(model, node, constants, opset)
        self._shapes = {name: tuple(model.get_tensor_shape(name) or ()) for name in self.outputs}
        stated = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
        doubles = (value for value in stated.values() if value.type.tensor_type.elem_type == _DOUBLE)
        self._doubles = {value.name for value in doubles}
        self._operations: dict[int, Any] = {}

    def is_elsewhere(self) -> bool:
        """Tell whether the operation is one of another environment."""
        from brainsmith.plugin.environments.foreign_ops import ForeignOp

        return isinstance(self._operation(1), ForeignOp)

    def _project(self) -> str:
        return type(self._operation(1)).__module__.partition(".")[0]

    def _call(self, inputs: dict[str, Array], batch: int | None) -> dict[str, Array]:
        context: dict[str, Any] = {"": None, **inputs, **self._places(batch)}
        self._operation(batch or 1).execute_node(context, self.model.graph)
        return {name: np.asarray(context[name]) for name in self.outputs}

    def _places(self, batch: int | None) -> dict[str, Array]:
        """Return what stands in the places of the outputs before."""
        found = {}
        for name, shape in self._shapes.items():
            sizes = shape if batch is None else (batch, *shape[1:])
            found[name] = np.zeros(sizes, np.float64 if name in self._doubles else np.float32)
        return found

    def _operation(self, batch: int) -> Any:
        """Return an instance for batches of a size; some kernels of FINN state theirs in an attribute."""
        from qonnx.custom_op.registry import getCustomOp

        if batch not in self._operations:
            node = self.node
            if batch > 1:
                node = type(self.node)()
                node.CopyFrom(self.node)
                for attribute in node.attribute:
                    if attribute.name == "numInputVectors" and attribute.ints:
                        attribute.ints[0] *= batch
            self._operations[batch] = getCustomOp(node, onnx_opset_version=self.opset)
        return self._operations[batch]


class ForeignRunner(CustomRunner):
    """An operation of another environment: one call of its worker for all samples, which are executed one by one there."""

    def run(self, varying: dict[str, Array]) -> dict[str, Array]:
        """Run all samples."""
        operation, places = self._operation(1), self._places(None)
        results: dict[str, Array] = operation.execute_runs(varying, self._given, places, self.model.graph)
        return results


def _differ(stack: Array) -> bool:
    """Tell whether a stack has samples that are not alike."""
    return not np.array_equal(stack[1:], stack[:-1])


def _same_bits(left: Array, right: Array) -> bool:
    """Tell whether two tensors are equal, signs of zeros included; NaN is NaN."""
    if right.dtype.kind != "f":
        return np.array_equal(left, right)
    equal = np.array_equal(left, right, equal_nan=True)
    return equal and np.array_equal(np.signbit(left[left == 0]), np.signbit(right[right == 0]))


class StandardRunner(NodeRunner):
    """A standard ONNX node: a session of ONNX Runtime, made once."""

    def __init__(self, model: ModelWrapper, node: Any, constants: dict[str, Array], opset: int) -> None:
        super().__init__(model, node, constants, opset)
        self._session: Any = None

    def _call(self, inputs: dict[str, Array], batch: int | None) -> dict[str, Array]:
        if self._session is None:
            dtypes = {name: array.dtype for name, array in inputs.items()}
            self._session = open_node(self.node, self.opset, dtypes, self.outputs)
        results = self._session.run(self.outputs, inputs)
        return dict(zip(self.outputs, results, strict=True))


class SubgraphRunner(NodeRunner):
    """A node with graphs inside (If, Loop, Scan): QONNX's own execution, sample by sample."""

    def _call(self, inputs: dict[str, Array], batch: int | None) -> dict[str, Array]:
        from qonnx.core.onnx_exec import execute_node

        context: dict[str, Any] = self.model.make_empty_exec_context()
        context.update(inputs)
        execute_node(self.node, context, self.model.graph, self.opset)
        return {name: np.asarray(context[name]) for name in self.outputs}
