"""cppsim: the HLS layers of a model as C++ that is compiled here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import ToolError, UnsupportedResourceError
from brainsmith.execution.kept_tensors import chosen_tensors, joined_tensors
from brainsmith.plugin.core import target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.model_target import ModelTarget
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.target_settings import checked_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brainsmith.graph.array_types import Array
    from brainsmith.hls.mixed_model import Executed, MixedModel


@target(
    name="cppsim",
    priority=Priority.LOW,
    device_types=("cpu",),
    requires=("finn-plus", "hls4ml"),
    display_name="HLS in C++",
    vendor="BrainSmith",
    description="The function that Vitis HLS would make each HLS layer of, compiled with g++ and run",
)
class CppSimulation(ModelTarget):
    """Runs models of hardware layers: those in HLS as the C++ that a synthesis would get, all others in Python.

    A layer in RTL has no C++: its Python model is run, as are nodes of the host; `how_executed` says which is which.
    A model with an HLS layer whose C++ cannot be compiled with the open headers is not supported, rather than run in
    Python in its place: it would compare Python with Python.
    """

    def unavailable_reason(self) -> str:
        """Return which tool is missing, and how to get it."""
        from brainsmith.hls.headers import find_hls_compiler

        try:
            find_hls_compiler()
        except ToolError as error:
            return str(error)
        return ""

    def try_out(self, resource: Any, content: str) -> None:
        """Refuse a model with HLS layers that cannot be compiled here, or with none; nothing is compiled for that."""
        from brainsmith.execution.read_model import read_model
        from brainsmith.hls.mixed_model import describe_problems, find_layers, is_hls

        model = read_model(resource)
        if not any(is_hls(node) for node in model.graph.node):
            raise UnsupportedResourceError("it has no layer in HLS, so there is no C++ to run")
        if reason := describe_problems(find_layers(model)[1]):
            raise UnsupportedResourceError(reason)

    def make(self, resource: Any, content: str) -> MixedModel:  # type: ignore[override]  # it has no choices
        """Compile a model's HLS layers."""
        from brainsmith.execution.read_model import read_model
        from brainsmith.hls.mixed_model import mix

        return mix(read_model(resource))

    def get_capabilities(self) -> Capabilities:
        """Return what it promises. Compiled functions may keep state, so one thread at a time executes."""
        return Capabilities(bit_exact=True, batch=True, intermediates=True)

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Compile a model's HLS layers, or take the libraries that are kept of the same C++.

        Args:
            resource: A specialised model: the path of an .onnx file, its bytes, or a ModelWrapper.
            config: Nothing; it has no settings.

        Raises:
            UnsupportedResourceError: It is no model with HLS layers that can be compiled.
            ModelError: It is no ONNX model.
            SimulationError: The compiler rejects a layer's C++.
            TargetError: The configuration says something.
        """
        checked_settings("cppsim", config, {})
        if problem := self.supports(resource):
            raise UnsupportedResourceError(problem)
        mixed: MixedModel = self.made(resource)
        return Prepared(target=self, signature=mixed.signature, payload=mixed)

    def execute(  # type: ignore[override]  # an unknown keyword is a TypeError
        self, prepared: Prepared, inputs: Any, *, keep: Iterable[str] | None = ()
    ) -> dict[str, Array]:
        """Run samples.

        Args:
            prepared: Of this target.
            inputs: By name, or one array.
            keep: Further tensors to return; None for all.

        Raises:
            InputError: Inputs do not fit, or there is no such tensor.
            BuildError: A node cannot be executed: a value does not fit its datatype, or C++ has no result for it.
        """
        mixed: MixedModel = prepared.payload
        arrays, runs = mixed.signature.checked(inputs)
        wanted = chosen_tensors(keep, mixed.signature.inside(mixed.tensors()), mixed.signature.names)
        found = mixed.run(mixed.signature.stacked(arrays, runs), frozenset(wanted))
        return joined_tensors(mixed.signature, found, wanted)

    def how_executed(self, prepared: Prepared) -> tuple[Executed, ...]:
        """Return of each node of a model whether its C++ runs, or Python."""
        mixed: MixedModel = prepared.payload
        return mixed.nodes
