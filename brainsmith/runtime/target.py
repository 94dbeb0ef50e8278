"""What a target is: the base class of everything that executes models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from brainsmith.errors import PluginDefinitionError
from brainsmith.runtime.capabilities import Capabilities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.graph.array_types import Array
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.prepared import Prepared


class Target(ABC):
    """Executes models: a simulator, a library, a device.

    Its life: made, `is_available` (any number of times), `initialize`, then `prepare_resource` and `execute` any number
    of times, `cleanup`. The runtime calls `initialize` and `cleanup` once for each instance, in this order; after an
    `initialize` that raised there is no `cleanup`, so it undoes what it had begun. Making an instance must be cheap and
    use no device: that is also done to ask whether it is available.

    Args:
        device_id: Which of several equal devices.

    Attributes:
        device_id: As given.
        dependencies: The targets that `requires_plugins` names, initialised, by name; there before `initialize`.
    """

    dependencies: Mapping[str, Target] = MappingProxyType({})

    def __init__(self, device_id: int = 0) -> None:
        self.device_id = device_id

    @classmethod
    def metadata(cls) -> PluginInfo:
        """Return the record: what `@target` says, unless the class says it here itself.

        Raises:
            PluginDefinitionError: Neither says anything.
        """
        from brainsmith.plugin.core import get_registry

        reference = f"{cls.__module__}:{cls.__qualname__}"
        for info in get_registry().records("target"):
            if info.reference == reference:
                return info
        raise PluginDefinitionError(
            f"{cls.__module__}.{cls.__qualname__} has no metadata: decorate it with @target(name=...), or let its "
            "metadata() return a PluginInfo"
        )

    @classmethod
    def device_ids(cls) -> tuple[int, ...] | None:
        """Return the devices that there are; None if only `initialize` can tell."""
        return None

    def describe(self) -> str:
        """Return what it is, for people: its description, unless it knows better what executes for it."""
        return self.metadata().description

    def is_available(self) -> bool:
        """Return whether it can be used here. Must be quick; what `requires` says is checked before."""
        return not self.unavailable_reason()

    def unavailable_reason(self) -> str:
        """Return why it cannot be used here, and what would change that; nothing if it can."""
        return ""

    def supports(self, resource: Any) -> str:
        """Return why it cannot execute a resource, or nothing if it can. Must be quick."""
        return ""

    def get_capabilities(self) -> Capabilities:
        """Return what it promises."""
        return Capabilities()

    def initialize(self) -> None:  # noqa: B027  (most need nothing here)
        """Take the device, start what must run. Called once, before anything is prepared."""

    @abstractmethod
    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Prepared:
        """Make a resource ready to be executed.

        Args:
            resource: The path of an .onnx file, its bytes, a QONNX ModelWrapper; for some targets a build's folder.
            config: The target's own choices, plain values. Another configuration is another prepared resource.

        Returns:
            `Prepared(target=self, signature=..., payload=...)`.
        """

    @abstractmethod
    def execute(self, prepared: Prepared, inputs: Any, **kwargs: Any) -> dict[str, Array]:
        """Compute the outputs.

        Args:
            prepared: What `prepare_resource` of this instance returned.
            inputs: Arrays by name, or one array for a model with one input; `prepared.signature.checked` says what is
                wrong with them. Their first axis is any multiple of the model's own.
            **kwargs: `keep`, if `intermediates` is among the capabilities: names of further tensors to return, or None
                for all that there are. Others are the target's own.

        Returns:
            The outputs by name, then what `keep` names.
        """

    def cleanup(self) -> None:  # noqa: B027  (most need nothing here)
        """Release everything. Called once, after everything else."""


class ProcessorTarget(Target):
    """Executes models in this process, on the processor."""

    @classmethod
    def device_ids(cls) -> tuple[int, ...]:
        """Return the one device that there is, the processor."""
        return (0,)
