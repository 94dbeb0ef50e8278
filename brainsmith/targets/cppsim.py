"""cppsim: the HLS layers of a model as C++ that is compiled here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError, ToolError, UnsupportedResourceError
from brainsmith.execution.kept_tensors import chosen_tensors, joined_tensors
from brainsmith.plugin.core import get_registry, target
from brainsmith.plugin.info import Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.prepared import Prepared
from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.target import ProcessorTarget
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
class CppSimulation(ProcessorTarget):
    """Runs models of hardware layers: those in HLS as the C++ that a synthesis would get, all others in Python.

    A layer in RTL has no C++: its Python model is run, as are nodes of the host; `how_executed` says which is which.
    A model with an HLS layer whose C++ cannot be compiled with the open headers is not supported, rather than run in
    Python in its place: it would compare Python with Python.
    """

    def __init__(self, device_id: int = 0) -> None:
        super().__init__(device_id)
        self._reasons: dict[tuple[str, int], str] = {}

    def unavailable_reason(self) -> str:
        """Return which tool is missing, and how to get it."""
        from brainsmith.hls.headers import find_hls_compiler

        try:
            find_hls_compiler()
        except ToolError as error:
            return str(error)
        return ""

    def supports(self, resource: Any) -> str:
        """Return which HLS layers cannot be compiled here, and why; or that there are none."""
        if not (isinstance(resource, bytes) or hasattr(resource, "graph") or _is_model_file(resource)):
            return "cppsim runs an .onnx file of hardware layers, its bytes or a ModelWrapper"
        # An operator that is registered later may have C++.
        key = (content_of(resource), get_registry().generation)
        if key not in self._reasons:
            try:
                reason = _reason(resource)
            except BrainsmithError as error:
                return str(error)
            self._reasons = {old: why for old, why in self._reasons.items() if old[1] == key[1]}
            self._reasons[key] = reason
        return self._reasons[key]

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
        from brainsmith.execution.read_model import read_model
        from brainsmith.hls.mixed_model import mix

        checked_settings("cppsim", config, {})
        if problem := self.supports(resource):
            raise UnsupportedResourceError(problem)
        mixed = mix(read_model(resource))
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


def _is_model_file(resource: Any) -> bool:
    return isinstance(resource, str | os.PathLike) and Path(resource).suffix == ".onnx"


def _reason(resource: Any) -> str:
    from brainsmith.execution.read_model import read_model
    from brainsmith.hls.mixed_model import describe_problems, find_layers, is_hls

    model = read_model(resource)
    if not any(is_hls(node) for node in model.graph.node):
        return "it has no layer in HLS, so there is no C++ to run"
    return describe_problems(find_layers(model)[1])
