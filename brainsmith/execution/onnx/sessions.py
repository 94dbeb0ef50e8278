"""A standard model in ONNX Runtime: the whole graph is one session, which runs are fed to in chunks."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import ModelError
from brainsmith.execution.foreign_failures import first_line_of, foreign_call
from brainsmith.execution.kept_tensors import chosen_tensors
from brainsmith.execution.program.functions.datatype_checks import annotated
from brainsmith.forks import in_children, lock_of, never_freed
from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.execution.onnx.standard_model import StandardModel
    from brainsmith.execution.signature import TensorSpec


CHUNK_BYTES = 16 << 20
"""Tensors of the original graph that are in memory together; those in between come on top."""

_OTHER_SUMS = ["ConvBNFusion", "ConvMulFusion", "ConvAddFusion", "MatMulBnFusion", "MatMulScaleFusion"]
"""Optimisations that multiply constants into weights: the sums are then other floats than the reference's."""

_KEPT_SESSIONS = 4


class StandardSession:
    """A standard model, ready to run; any number of threads may do so at once.

    Args:
        model: The model.
        threads: That share the work of one operator.

    Raises:
        ModelError: ONNX Runtime does not take it.
    """

    def __init__(self, model: StandardModel, threads: int) -> None:
        self.model = model
        self.threads = threads
        self._inputs = {spec.name: spec for spec in model.signature.inputs}
        self._tensors = {spec.name: spec for spec in (*model.tensors, *model.signature.outputs)}
        self._inside = tuple(guard for guard in model.guards if guard.names())
        self._more: OrderedDict[frozenset[str], Any] = OrderedDict()
        self._lock = lock_of(waits=False)
        self._first: Any = open_session(model.content, threads)
        in_children(self, StandardSession._in_child)

    def _in_child(self) -> None:
        """Open other sessions when they are asked for: a fork leaves the threads of these behind."""
        for session in (self._first, *self._more.values()):
            never_freed(session)
        self._first = None
        self._more.clear()

    def tensors(self) -> tuple[str, ...]:
        """Return the tensors inside that can be kept."""
        return self.model.signature.inside(spec.name for spec in self.model.tensors)

    def run(
        self, arrays: Mapping[str, Array], runs: int, keep: Iterable[str] | None = ()
    ) -> dict[str, Array]:
        """Compute the outputs of some runs.

        Args:
            arrays: As `ModelSignature.checked` returns them.
            runs: How many they hold.
            keep: Further tensors to return; None for all.

        Returns:
            The outputs, then what is kept, with the runs in their first axes.

        Raises:
            InputError: There is no such tensor.
            BuildError: A tensor is not what it is annotated as.
        """
        kept = self.tensors() if keep is None else chosen_tensors(keep, self._tensors, ())
        fed = {name: self._settled(name, array) for name, array in arrays.items()}
        wanted = [spec.name for spec in self.model.signature.outputs]
        inner = [name for name in kept if name not in wanted and name not in fed]
        session = self._session_with(frozenset(inner))
        parts = [
            self._part(session, [*wanted, *inner], fed, at, min(at + self._chunk(), runs))
            for at in range(0, runs, self._chunk())
        ]
        found = (
            {name: _together([part[name] for part in parts]) for name in [*wanted, *inner]} if parts else {}
        )
        return {**found, **{name: fed[name] for name in kept if name in fed}}

    def _chunk(self) -> int:
        return 1 if self.model.mixed else max(1, CHUNK_BYTES // self.model.run_bytes)

    def _part(
        self, session: Any, names: list[str], fed: Mapping[str, Array], first: int, end: int
    ) -> dict[str, Array]:
        watched = [name for guard in self._inside for name in guard.names()]
        feed = {name: _runs(self._inputs[name], array, first, end) for name, array in fed.items()}
        found = dict(zip([*names, *watched], session.run([*names, *watched], feed), strict=True))
        for guard in self._inside:
            guard.check(found)
        return {name: found[name].reshape(-1, *self._tensors[name].shape[1:]) for name in names}

    def _settled(self, name: str, array: Array) -> Array:
        """Return an input as whole numbers if it is annotated so.

        Raises:
            BuildError: It is not what it is annotated as.
        """
        guard = next((guard for guard in self.model.guards if guard.tensor == name), None)
        if guard is None:
            return array
        limits = {"low": guard.low, "high": guard.high, "threshold": guard.threshold}
        return annotated(array, tensor=name, datatype=guard.datatype, **limits, holes="", settled=True)

    def _session_with(self, more: frozenset[str]) -> Any:
        """Return a session that gives further tensors too, made when it is first asked for."""
        with self._lock:
            if not more:
                if self._first is None:
                    self._first = open_session(self.model.content, self.threads)
                return self._first
            if more not in self._more:
                self._more[more] = open_session(_with_outputs(self.model.content, more), self.threads)
            self._more.move_to_end(more)
            while len(self._more) > _KEPT_SESSIONS:
                self._more.popitem(last=False)
            return self._more[more]


def open_session(content: bytes, threads: int) -> Any:
    """Open an ONNX file in ONNX Runtime, on the processor.

    Raises:
        ModelError: ONNX Runtime does not take it.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what fails is raised
    # Higher levels change the layout of images, and with it the order of sums.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    text = "ONNX Runtime refuses the model, rewritten in standard operators: "
    with foreign_call(lambda error: ModelError(text + first_line_of(error))):
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], disabled_optimizers=_OTHER_SUMS
        )


def _with_outputs(content: bytes, more: Iterable[str]) -> bytes:
    import onnx

    proto = onnx.load_model_from_string(content)
    there = {value.name for value in proto.graph.output}
    proto.graph.output.extend(
        onnx.helper.make_empty_tensor_value_info(name) for name in sorted(more) if name not in there
    )
    return bytes(proto.SerializeToString())


def _runs(spec: TensorSpec, array: Array, first: int, end: int) -> Array:
    if not spec.shape:
        return np.asarray(array.reshape(-1)[first])
    return array[first * spec.shape[0] : end * spec.shape[0]]


def _together(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
