"""Make a target of a class that prepares and executes models in its own way."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from brainsmith.errors import PluginDefinitionError, TargetError
from brainsmith.forks import lock_of
from brainsmith.plugin.info import PluginInfo, Priority
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.runtime.target import Target
from brainsmith.runtime.target_arguments import keywords_of

_NEEDED = ("prepare_model", "execute")


def create_backend_plugin(
    backend_class: type,
    name: str,
    display_name: str = "",
    version: str = "",
    priority: int = Priority.NORMAL,
    requires: Sequence[str] = (),
    *,
    vendor: str = "",
    device_types: Sequence[str] = (),
    description: str = "",
) -> type[Target]:
    """Make a target of a class with `prepare_model(model)` and `execute(prepared, inputs)`.

    The class is left as it is. An instance of it is made when the target is initialised, with the target's arguments
    (`device_id` only if it takes that). Of its methods `is_available`, `initialize`, `cleanup`, `supports` and
    `get_capabilities` those are used that it has; a `prepare_model` with a second parameter is given the configuration
    there. What it returns is handed on unchanged.

    Args:
        backend_class: The class.
        name: The target's name, a Python identifier.
        display_name: For people; the name by default.
        version: The target's own.
        priority: With `auto`, the highest wins.
        requires: PEP 508 requirements.
        vendor: Who makes it.
        device_types: The devices that it serves.
        description: One line.

    Returns:
        A subclass of `Target`; `targets.get_registry().register` enters it.

    Raises:
        PluginDefinitionError: The class lacks one of the two methods.
    """
    lacking = [method for method in _NEEDED if not callable(getattr(backend_class, method, None))]
    if lacking:
        raise PluginDefinitionError(
            f"backend_class of target {name!r} must be a class with prepare_model and execute; "
            f"{getattr(backend_class, '__name__', backend_class)!s} has no {' and no '.join(lacking)}"
        )
    record = PluginInfo(
        name=name,
        display_name=display_name or name,
        version=version,
        priority=priority,
        requires=tuple(requires),
        vendor=vendor,
        device_types=tuple(device_types),
        description=description,
    )
    members = {
        "__module__": backend_class.__module__,
        "__qualname__": f"{backend_class.__qualname__}_as_{name}",
        "__doc__": f"The target {name!r}, made of {backend_class.__qualname__}.",
        "backend_class": backend_class,
        "record": record,
        "__signature__": _signature_of(backend_class),
    }
    return type(f"{backend_class.__name__}_as_{name}", (WrappedTarget,), members)


class WrappedTarget(Target):
    """A target made of a class that knows nothing of targets.

    Attributes:
        backend_class: That class.
        record: The target's record.
    """

    backend_class: type
    record: PluginInfo

    def __init__(self, device_id: int = 0, **arguments: Any) -> None:
        super().__init__(device_id)
        self._arguments = arguments
        self._making = lock_of(waits=False)
        self._made: Any = None

    @classmethod
    def metadata(cls) -> PluginInfo:
        """Return what was stated when the target was made."""
        return cls.record

    @property
    def backend(self) -> Any:
        """The instance of the class, made when it is first needed: by one thread while others wait."""
        if self._made is None:
            with self._making:
                if self._made is None:
                    self._made = self._make()
        return self._made

    def _make(self) -> Any:
        own = dict(self._arguments)
        if "device_id" in keywords_of(self.backend_class)[0]:
            own["device_id"] = self.device_id
        return self.backend_class(**own)

    def is_available(self) -> bool:
        """Tell what the class says; one that says nothing is available."""
        return bool(self.backend.is_available()) if hasattr(self.backend_class, "is_available") else True

    def supports(self, resource: Any) -> str:
        """Return what the class says; one that says nothing supports everything."""
        return str(self.backend.supports(resource)) if hasattr(self.backend_class, "supports") else ""

    def get_capabilities(self) -> Capabilities:
        """Return what the class says; one that says nothing promises nothing."""
        if not hasattr(self.backend_class, "get_capabilities"):
            return Capabilities()
        stated = self.backend.get_capabilities()
        return Capabilities(**stated) if isinstance(stated, Mapping) else stated

    def initialize(self) -> None:
        """Make the instance, and initialise it if it can be."""
        getattr(self.backend, "initialize", lambda: None)()

    def prepare_resource(self, resource: Any, config: Mapping[str, Any] | None = None) -> Any:
        """Have the class prepare a model.

        Raises:
            TargetError: There is a configuration, and its `prepare_model` takes none.
        """
        prepare = self.backend.prepare_model
        if _second_parameter(prepare):
            return prepare(resource, config)
        if config:
            raise TargetError(
                f"target '{self.record.name}' takes no configuration: {self.backend_class.__qualname__}.prepare_model "
                "has no second parameter for it"
            )
        return prepare(resource)

    def execute(self, prepared: Any, inputs: Any, **kwargs: Any) -> Any:
        """Have the class execute what it prepared."""
        return self.backend.execute(prepared, inputs, **kwargs)

    def cleanup(self) -> None:
        """Let the class clean up if it can."""
        getattr(self.backend, "cleanup", lambda: None)()


def _signature_of(backend_class: type) -> inspect.Signature:
    """Return with which arguments a target of a class is made: the class's own by name, and always `device_id`.

    So its defaults are known, and an instance for a default that is written out is the one for none.
    """
    kind = inspect.Parameter
    taken, any_keyword = keywords_of(backend_class)
    own = [kind(name, kind.KEYWORD_ONLY, default=taken[name]) for name in taken if name != "device_id"]
    others = [kind("arguments", kind.VAR_KEYWORD)] if any_keyword else []
    device = kind("device_id", kind.POSITIONAL_OR_KEYWORD, default=0, annotation=int)
    return inspect.Signature([device, *own, *others])


def _second_parameter(function: Any) -> bool:
    """Return whether a bound method takes a second argument by position."""
    try:
        inspect.signature(function).bind(None, None)
    except (TypeError, ValueError):
        return False
    return True
