"""onnxruntime: the whole graph as one session of ONNX Runtime."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError, ModelError, TargetError, UnsupportedResourceError
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.content import content_of, describe_resource
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.execution.standard_onnx.sessions import StandardSession

    Array = np.ndarray[Any, Any]

SETTINGS = ("intra_op_threads",)


@target(
    name="onnxruntime",
    priority=Priority.NORMAL,
    device_types=("cpu",),
    requires=("onnxruntime",),
    display_name="ONNX Runtime",
    vendor="Microsoft",
    description="The quantised graph rewritten to standard ONNX operators, in one session of ONNX Runtime",
    version="0.1.0",
)
class OnnxRuntime(Target):
    """Runs a model whose quantised and hardware operators are rewritten to standard ones.

    Whole numbers are bit for bit those of the reference as far as float32 holds them (2^24), and beyond, where a
    layer's sums need it and float64 holds them; a layer that needs more is refused. Other floats are those of
    ONNX Runtime's own operators, which the reference uses too, with other sums where it takes several samples at once.
    """

    def __init__(self, device_id: int = 0) -> None:
        super().__init__(device_id)
        self._refused: dict[str, str] = {}

    @classmethod
    def device_ids(cls) -> tuple[int, ...]:
        """Return the one device that there is, the processor."""
        return (0,)

    def supports(self, resource: Any) -> str:
        """Return which node of a model cannot be rewritten, and why; the first answer costs as much as preparing."""
        if problem := _not_a_model(resource):
            return problem
        content = content_of(resource)
        if content not in self._refused:
            try:
                self._session(resource, content, 1)
            except UnsupportedResourceError as error:
                self._refused[content] = str(error)
                return str(error)
            except (BuildError, TargetError) as error:
                return str(error)
            return ""
        return self._refused[content]

    def get_capabilities(self) -> Capabilities:
        """Return what it promises."""
        return Capabilities(bit_exact=True, batch=True, intermediates=True, concurrent=True)

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Rewrite a model, or take what is kept of it, and open its session.

        Args:
            resource: The path of an .onnx file, its bytes, or a ModelWrapper.
            config: `intra_op_threads`: how many threads share the work of one operator; as many as there are
                processors by default.

        Raises:
            UnsupportedResourceError: It is no model, or has a node that cannot be rewritten.
            TargetError: The configuration has other words or values.
        """
        if problem := _not_a_model(resource):
            raise UnsupportedResourceError(problem)
        session = self._session(resource, content_of(resource), _threads(config or {}))
        return Prepared(target=self, signature=session.model.signature, payload=session)

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self, prepared: Prepared, inputs: Any, *, keep: Iterable[str] | None = ()
    ) -> dict[str, Array]:
        """Run samples, some megabytes of tensors at a time.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors of the original graph; None for all. The first call that asks for some opens a session
                that gives them.

        Raises:
            InputError: Inputs do not fit, or there is no such tensor.
            BuildError: A tensor is not what it is annotated as.
        """
        session: StandardSession = prepared.payload
        arrays, runs = session.model.signature.checked(inputs)
        return session.run(arrays, runs, keep)

    def _session(self, resource: Any, content: str, threads: int) -> StandardSession:
        from brainsmith.execution.standard_onnx.kept_models import obtain
        from brainsmith.execution.standard_onnx.sessions import StandardSession

        def make() -> Any:
            from brainsmith.execution.standard_onnx.rewrite import rewrite

            return rewrite(_open_model(resource))

        try:
            return StandardSession(obtain(content, make), threads)
        except ModelError as error:
            raise UnsupportedResourceError(str(error)) from error


def _not_a_model(resource: Any) -> str:
    if isinstance(resource, str | os.PathLike):
        path = Path(resource)
        if path.is_dir() or (path.exists() and path.suffix != ".onnx"):
            return f"onnxruntime runs an .onnx file, and {path} is {'a folder' if path.is_dir() else 'none'}"
        return "" if path.is_file() else f"onnxruntime runs an .onnx file, and {path} is not there"
    proto = getattr(resource, "model", resource)
    if isinstance(resource, bytes) or hasattr(proto, "SerializeToString"):
        return ""
    return f"onnxruntime runs the path of an .onnx file, its bytes or a ModelWrapper, not {describe_resource(resource)}"


def _open_model(resource: Any) -> ModelWrapper:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from qonnx.core.modelwrapper import ModelWrapper

    if hasattr(resource, "model"):
        return resource
    given = os.fspath(resource) if isinstance(resource, str | os.PathLike) else resource
    try:
        return ModelWrapper(given, make_deepcopy=True)
    except DecodeError as error:
        raise ModelError(f"{describe_resource(resource)}: this is not ONNX") from error


def _threads(config: Mapping[str, Any]) -> int:
    unknown = [name for name in config if name not in SETTINGS]
    if unknown:
        raise TargetError(f"onnxruntime takes the settings {', '.join(SETTINGS)}, not {unknown[0]!r}")
    threads = config.get("intra_op_threads")
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise TargetError(
            f"intra_op_threads of onnxruntime must be a whole number, 1 or more, not {threads!r}"
        )
    return threads
