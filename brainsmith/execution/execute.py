"""Run a model over many samples at once, with the results of QONNX's own execution.

`execute_onnx` of QONNX makes an ONNX Runtime session for every node of every sample. Here each node is
prepared once, and gets all samples as one batch where that gives, bit for bit, what single samples give; the
other nodes run sample by sample. Hardware nodes run the Python model of their kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import BuildError
from brainsmith.execution.annotations import levels_without_offset
from brainsmith.execution.node_runners import make_runner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qonnx.core.modelwrapper import ModelWrapper

Stack = np.ndarray[Any, Any]

CHUNK = 512
"""Samples that are run together."""

_BACKEND_DOMAINS = ("finn.custom_op.fpgadataflow.hls", "finn.custom_op.fpgadataflow.rtl")
_WINDOW_RTL = "ConvolutionInputGenerator_rtl"
_PARTITIONS = ("StreamingDataflowPartition", "GenericPartition")


class Executor:
    """A model prepared for running stacks of samples.

    A stack holds N samples of one tensor: shape (N, *tensor shape), the tensor's own batch dimension
    included.

    Args:
        model: Not changed.
        inner: The model to run in place of the file that a dataflow partition of `model` names.

    Raises:
        BuildError: Its shapes cannot be inferred.

    Attributes:
        inputs: The tensors to feed: the graph's inputs that are not constants.
        outputs: The graph's outputs.
    """

    def __init__(self, model: ModelWrapper, inner: ModelWrapper | None = None) -> None:
        try:
            model = _runnable_copy(model)
        except Exception as error:
            raise BuildError(f"its shapes cannot be inferred: {_text(error)}") from error
        graph = model.graph
        self._model = model
        self._inner = inner
        self.constants: dict[str, Stack] = _constants(model)
        self.inputs = tuple(value.name for value in graph.input if value.name not in self.constants)
        self.outputs = tuple(value.name for value in graph.output)
        self._whole = _inputs_of_integers(graph)
        self._unsettled = levels_without_offset(graph)
        self._nodes = list(graph.node)
        self._runners: list[Any] = [None] * len(self._nodes)
        self._datatypes: dict[str, Any] = {}
        self._last_use = {name: at for at, node in enumerate(self._nodes) for name in node.input}

    def shape(self, tensor: str) -> tuple[int, ...]:
        """Return a tensor's shape as the graph states it."""
        return tuple(self._model.get_tensor_shape(tensor) or ())

    def order(self) -> list[str]:
        """Return the tensors that nodes compute, in the order of execution."""
        return [name for node in self._nodes for name in node.output if name]

    def run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None = frozenset()) -> dict[str, Stack]:
        """Compute the outputs of all samples, a few hundred at a time, so that memory stays bounded.

        Args:
            feed: A stack for each of `inputs`.
            keep: Further tensors to return; None returns all that the samples change.

        Raises:
            BuildError: A node cannot be executed; the message names it.
        """
        total = len(next(iter(feed.values())))
        parts = [
            self._run({name: stack[at : at + CHUNK] for name, stack in feed.items()}, keep)
            for at in range(0, total, CHUNK)
        ]
        if len(parts) == 1:
            return parts[0]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _run(self, feed: Mapping[str, Stack], keep: frozenset[str] | None) -> dict[str, Stack]:
        wanted = None if keep is None else keep | frozenset(self.outputs)
        values: dict[str, Stack] = {
            name: self._rounded(name, feed[name]).astype(self._whole.get(name, feed[name].dtype), copy=False)
            for name in self.inputs
        }
        for at, node in enumerate(self._nodes):
            for name, stack in self._run_node(at, values).items():
                values[name] = self._rounded(name, stack)
            if wanted is not None:
                for name in node.input:
                    if self._last_use[name] == at and name not in wanted:
                        values.pop(name, None)
        samples = len(next(iter(feed.values())))
        for name in self.outputs:
            if name not in values and name in self.constants:
                values[name] = np.stack([self.constants[name]] * samples)
        return {name: stack for name, stack in values.items() if wanted is None or name in wanted}

    def _run_node(self, at: int, values: dict[str, Stack]) -> dict[str, Stack]:
        node = self._nodes[at]
        try:
            if self._runners[at] is None:
                self._runners[at] = self._prepare(node)
            varying = {name: values[name] for name in node.input if name in values}
            if varying:
                results: dict[str, Stack] = self._runners[at].run(varying)
                return results
            self.constants.update(self._runners[at].once({}))
            return {}
        except Exception as error:
            raise BuildError(
                f"node '{node.name}' ({node.op_type}) cannot be executed: {_text(error)}"
            ) from error

    def _prepare(self, node: Any) -> Any:
        if node.op_type in _PARTITIONS:
            return _PartitionRunner(node, self._inner)
        return make_runner(self._model, node, self.constants)

    def _rounded(self, name: str, stack: Stack) -> Stack:
        """Round a tensor to its datatype annotation, as QONNX does between nodes, and refuse what is outside of it.

        Source: `sanitize_quant_values` of QONNX: float errors of integer tensors are removed, larger ones
            raise. It lets whole numbers pass that the datatype does not hold, which a circuit would not.
        """
        from qonnx.util.basic import get_execution_error_thresh, get_sanitize_quant_tensors

        if name not in self._datatypes:
            self._datatypes[name] = self._model.get_tensor_datatype(name)
        datatype = self._datatypes[name]
        if not datatype.is_integer() or not get_sanitize_quant_tensors() or np.all(datatype.allowed(stack)):
            return stack
        rounded = np.round(stack)
        with np.errstate(invalid="ignore"):  # infinity is refused below
            error = float(np.abs(stack - rounded).max())
        if error > get_execution_error_thresh():
            raise BuildError(
                f"tensor '{name}' is annotated as {datatype.name}, but holds values {error:g} away"
            )
        outside = rounded[~np.asarray(datatype.allowed(rounded))]
        if outside.size and name not in self._unsettled:
            worst = float(outside.flat[np.abs(outside).argmax()])
            raise BuildError(f"tensor '{name}' is annotated as {datatype.name}, but holds {worst:.10g}")
        return rounded


class _PartitionRunner:
    """Runs the model that a dataflow partition holds in a file of its own."""

    def __init__(self, node: Any, inner: ModelWrapper | None) -> None:
        from qonnx.core.modelwrapper import ModelWrapper
        from qonnx.custom_op.registry import getCustomOp

        self._node = node
        if inner is None:
            inner = ModelWrapper(getCustomOp(node).get_nodeattr("model"))
        self._executor = Executor(inner)

    def run(self, varying: dict[str, Stack]) -> dict[str, Stack]:
        stacks = [varying[name] for name in self._node.input if name in varying]
        results = self._executor.run(dict(zip(self._executor.inputs, stacks, strict=True)))
        return dict(zip(self._node.output, (results[name] for name in self._executor.outputs), strict=True))

    def once(self, varying: dict[str, Stack]) -> dict[str, Stack]:
        raise BuildError("a dataflow partition without inputs")


def _inputs_of_integers(graph: Any) -> dict[str, Any]:
    """Return the numpy type of each input that ONNX declares as one of integers: indices of a Gather, for one.

    Samples are kept as floats, which are whole there.
    """
    from onnx import helper

    kinds = {value.name: value.type.tensor_type.elem_type for value in graph.input}
    types = {name: helper.tensor_dtype_to_np_dtype(kind) for name, kind in kinds.items() if kind}
    return {name: kind for name, kind in types.items() if kind.kind in "iu"}


def _runnable_copy(model: ModelWrapper) -> ModelWrapper:
    """Copy a model, with every hardware backend's node replaced by its kernel's, and all shapes known."""
    from qonnx.core.modelwrapper import ModelWrapper

    copy = ModelWrapper(model.model, make_deepcopy=True)
    if any(node.domain.startswith("finn.") for node in copy.graph.node):
        from brainsmith.plugin.adapters.finn_runtime import prepare_finn

        prepare_finn()
    kept = [_gives_stream_order(copy, node) for node in copy.graph.node]
    for node, stays in zip(copy.graph.node, kept, strict=True):
        if node.domain in _BACKEND_DOMAINS:
            _use_python_model(node, stays)
    if not copy.check_all_tensor_shapes_specified():
        from qonnx.transformation.infer_shapes import InferShapes

        copy = copy.transform(InferShapes())
    return copy


def _gives_stream_order(model: ModelWrapper, node: Any) -> bool:
    """Tell whether a node is one end of windows that go from RTL to RTL channel by channel.

    FINN's depthwise sliding window says in Python in which order its RTL gives windows; RTL that pools takes them so,
    while what the kernels compute is position by position.
    """
    if node.op_type == _WINDOW_RTL:
        depthwise = any(attribute.name == "depthwise" and attribute.i for attribute in node.attribute)
        return depthwise and all(
            taker.op_type != "Pool_hls" for taker in model.find_consumers(node.output[0])
        )
    if node.op_type == "Pool_rtl":
        giver = model.find_producer(node.input[0])
        return (
            giver is None
            or not giver.op_type.startswith("ConvolutionInputGenerator")
            or giver.op_type == _WINDOW_RTL
        )
    return False


def _use_python_model(node: Any, stays: bool) -> None:
    """Make a backend's node its kernel's, or if it stays, let it execute in Python."""
    from onnx import helper
    from qonnx.custom_op.registry import is_custom_op

    base = node.op_type.rpartition("_")[0]
    domain = "finn.custom_op.fpgadataflow"
    if not stays and is_custom_op(domain, base):
        node.op_type, node.domain = base, domain
        return
    for attribute in [a for a in node.attribute if a.name == "exec_mode"]:
        node.attribute.remove(attribute)
    node.attribute.append(helper.make_attribute("exec_mode", "cppsim"))


def _constants(model: ModelWrapper) -> dict[str, Stack]:
    """Read the initialisers, rounded to their datatype annotations once instead of at every use."""
    from onnx import numpy_helper
    from qonnx.util.basic import sanitize_quant_values

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    used = {name for node in model.graph.node for name in node.input}
    return dict(sanitize_quant_values(model, [name for name in constants if name in used], constants))


def _text(error: Exception) -> str:
    return str(error).strip() or type(error).__name__
