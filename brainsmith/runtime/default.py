"""The default manager: what `init`, `execute` and `list_plugins` use, and the one registry of targets."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from brainsmith.errors import TargetError
from brainsmith.forks import lock_of
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.runtime.target_log import set_verbose, warn
from brainsmith.runtime.target_registry import TargetRegistry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.plugin.records import RecordList
    from brainsmith.runtime.resource_manager import ResourceManager
    from brainsmith.runtime.target_calls import Outputs


class Runtime:
    """The registry of targets and the default manager of this process."""

    def __init__(self) -> None:
        self._lock = lock_of()
        self._manager: ResourceManager | None = None
        self.registry = TargetRegistry()

    @property
    def manager(self) -> ResourceManager:
        """The default manager."""
        from brainsmith.runtime.resource_manager import ResourceManager

        with self._lock:
            if self._manager is None:
                self._manager = ResourceManager()
            return self._manager

    def reset(self) -> None:
        """Close the default manager and forget it, all instances, and whether events are written to stderr."""
        with self._lock:
            manager, self._manager = self._manager, None
            registry, self.registry = self.registry, TargetRegistry()
        del registry
        try:
            if manager is not None:
                manager.close()
        finally:
            set_verbose(False)

    def end(self) -> None:
        """Close the default manager at the end of the process; a failure is only logged."""
        try:
            self.reset()
        except TargetError as error:
            warn("%s", error)


RUNTIME = Runtime()
"""The one of this process; `reset_plugin_system` resets it."""

get_plugin_manager().before_reset(RUNTIME.reset)
atexit.register(RUNTIME.end)


def init(device: str | None = None, **config: Any) -> ResourceManager:
    """Choose the device that `targets.execute`, builds and `brainsmith run` use from now on.

    All or nothing: if it fails, the device that was chosen before stays.

    Args:
        device: `auto`, a device type such as `cpu`, or a target such as `numpy`; each with `:id` or without. By default
            the setting `device` (`BRAINSMITH_DEVICE`), which is `auto`.
        **config: `verbose`, and `targets`: constructor arguments by the target's name.

    Returns:
        The default manager.

    Raises:
        DeviceError: There is no such device (a ValueError); all are listed.
        TargetUnavailableError: It cannot be used here; the message says why.
        TargetError: Its `initialize` raised.
    """
    return RUNTIME.manager.configure({**config, "device": device} if device is not None else config)


def get_resource_manager() -> ResourceManager:
    """Return the default manager, with a target active: the one of `init`, or that which the settings name."""
    return RUNTIME.manager.initialize()


def chosen_manager() -> ResourceManager | None:
    """Return the default manager if a device was chosen, by `init`, a switch or a setting; None where any will do."""
    manager = RUNTIME.manager
    return None if manager.is_automatic else manager.initialize()


def get_registry() -> TargetRegistry:
    """Return the view of the one registry: its targets."""
    return RUNTIME.registry


def list_plugins(available_only: bool = True) -> RecordList:
    """Return the records of the targets, the preferred one first; each says `available`, and `reason` if it is not.

    Args:
        available_only: Leave out those that cannot be used here.
    """
    return RUNTIME.registry.list_plugins(available_only)


def execute(model: Any, inputs: Any, *, config: Mapping[str, Any] | None = None, **kwargs: Any) -> Outputs:
    """Execute a model on the device of `init`; it is prepared once for each content.

    Args:
        model: The path of an .onnx file, its bytes, a QONNX ModelWrapper; for some targets a build's folder.
        inputs: Arrays by name, or one array for a model with one input.
        config: The target's own choices in preparing it.
        **kwargs: The target's own; `keep` names further tensors to return.

    Returns:
        The outputs by name.

    Raises:
        InputError, TargetError: As `ResourceManager.prepare_resource` and `.execute`.
    """
    manager = get_resource_manager()
    return manager.execute(manager.prepare_resource(model, config), inputs, **kwargs)
