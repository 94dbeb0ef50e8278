"""onnxruntime: the whole graph as one session of ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError, UnsupportedResourceError, UsageError
from brainsmith.graph.ends import input_values, tensors_behind
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.plugin.processes import processors
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.model_resources import why_no_model
from brainsmith.runtime.model_target import ModelTarget
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.resource_content import about_resource
from brainsmith.runtime.target_settings import OPTIONAL_COUNT, checked_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx import GraphProto

    from brainsmith.execution.onnx.sessions import StandardSession
    from brainsmith.execution.onnx.standard_model import StandardModel
    from brainsmith.graph.array_types import Array

SETTINGS = {"intra_op_threads": OPTIONAL_COUNT}


@target(
    name="onnxruntime",
    priority=Priority.NORMAL,
    device_types=("cpu",),
    requires=("onnxruntime",),
    display_name="ONNX Runtime",
    vendor="Microsoft",
    description="The quantised graph rewritten to standard ONNX operators, in one session of ONNX Runtime",
)
class OnnxRuntime(ModelTarget):
    """Runs a model whose quantised and hardware operators are rewritten to standard ones.

    Whole numbers are equal to those of the reference as far as float32 holds them (2^24), and beyond, where a
    layer's sums need it and float64 holds them; a layer that needs more is refused. Other floats are those of
    ONNX Runtime's own operators, which the reference uses too, with other sums where it takes several samples at once.
    """

    def get_capabilities(self) -> Capabilities:
        """Return what it promises."""
        return Capabilities(bit_exact=True, batch=True, intermediates=True, concurrent=True)

    def make(self, resource: Any, content: str) -> StandardModel:  # type: ignore[override]  # it has no choices
        """Return the rewritten model, which ONNX Runtime took when it was made.

        It is kept on disk unless it holds constants that operators of plugins computed, which may be others next time.
        """
        from brainsmith.execution.kept import kept
        from brainsmith.execution.onnx.standard_model import StandardModel

        def make() -> tuple[StandardModel, tuple[Any, ...] | None, set[str]]:
            from brainsmith.execution.foreign_code import is_lasting
            from brainsmith.execution.onnx.rewrite import rewrite
            from brainsmith.execution.onnx.sessions import open_session
            from brainsmith.execution.operator_modules import operator_modules
            from brainsmith.execution.read_model import read_model

            original = read_model(resource)
            lasts = all(map(is_lasting, _folded_domains(original.graph)))
            model = rewrite(original)
            modules = operator_modules(original.graph)
            open_session(model.content, 1)
            return model, model.to_plain() if lasts else None, modules

        try:
            place = kept("onnxruntime", content)
            return place.obtain(StandardModel.of_plain, make, lambda: about_resource(resource))
        except ModelError as error:
            raise UnsupportedResourceError(str(error)) from error

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Rewrite a model, or take what is kept of it, and open its session.

        Args:
            resource: The path of an .onnx file, its bytes, or a ModelWrapper.
            config: `intra_op_threads`: how many threads share the work of one operator; as many as there are
                processors by default.

        Raises:
            UnsupportedResourceError: It is no model, or has a node that cannot be rewritten.
            UsageError: The configuration has other words or values.
        """
        from brainsmith.execution.onnx.sessions import StandardSession

        if problem := why_no_model(resource):
            raise UnsupportedResourceError(problem)
        settings = checked_settings("onnxruntime", config, SETTINGS, UsageError)
        threads = settings.get("intra_op_threads") or processors()
        session = StandardSession(self.made(resource), threads)
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


def _folded_domains(graph: GraphProto) -> set[str]:
    """Return the domains of the nodes that no input changes, and which so become constants."""
    varying = tensors_behind(graph, (value.name for value in input_values(graph))).keys()
    return {node.domain for node in graph.node if varying.isdisjoint(node.input)}
