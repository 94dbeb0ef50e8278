"""Which target `auto` means: the best that is available and supports the resource."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import (
    BrainsmithError,
    TargetError,
    TargetUnavailableError,
    UnsupportedResourceError,
)
from brainsmith.runtime.devices import unknown_device
from brainsmith.runtime.resource_content import describe_resource
from brainsmith.runtime.target_log import note, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.live_target import LiveTarget
    from brainsmith.runtime.target_registry import TargetRegistry


class TargetChoice:
    """The targets among which the best is chosen.

    Args:
        registry: Of the targets.
        device_type: Only those that serve it.
        device_id: Which of several equal devices.
        options: Constructor arguments by the target's name.

    Raises:
        DeviceError: No target serves the device type.

    Attributes:
        device_type: As given.
    """

    def __init__(
        self,
        registry: TargetRegistry,
        device_type: str | None = None,
        device_id: int = 0,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.device_type = device_type
        self._registry = registry
        self._device_id = device_id
        self._options = options or {}
        self._what = f"device {device_type!r}" if device_type else "any device"
        if device_type is not None and not self._records():
            raise unknown_device(device_type, registry.records())

    def best(self, resource: Any = None) -> LiveTarget:
        """Return the best target, not initialised by this; with a resource, the best that supports it.

        Raises:
            TargetUnavailableError: None can be used here; each is named with its reason.
            UnsupportedResourceError: None of those supports the resource.
        """
        return self._first(resource, self._registry.live)

    def acquire(self, resource: Any = None) -> LiveTarget:
        """Return the best target, initialised and held; one whose `initialize` fails is skipped, with a warning.

        Raises:
            TargetUnavailableError, UnsupportedResourceError: As `best`.
        """
        live = self._first(resource, self._registry.acquire)
        note("%s is chosen for %s", live, "any resource" if resource is None else describe_resource(resource))
        return live

    def arguments(self, info: PluginInfo) -> dict[str, Any]:
        """Return the constructor arguments of a target."""
        return {**self._options.get(info.name, {}), "device_id": self._device_id}

    def _first(self, resource: Any, take: Callable[[PluginInfo, dict[str, Any]], LiveTarget]) -> LiveTarget:
        reasons: dict[str, str] = {}
        for info in self._usable(resource, reasons):
            try:
                return take(info, self.arguments(info))
            except BrainsmithError as error:
                warn("skipped: %s", error)
                reasons[info.name] = str(error)
        raise self._none(resource, reasons)

    def _records(self) -> list[PluginInfo]:
        """Return the records of the targets that serve the device type now: one may be registered any time."""
        kind = self.device_type
        return [i for i in self._registry.records() if kind is None or kind in (*i.device_types, i.name)]

    def _usable(self, resource: Any, reasons: dict[str, str]) -> Iterator[PluginInfo]:
        """Yield the targets that can be used, the best first; note why others cannot."""
        self._unsupported = False
        for info in self._records():
            try:
                reason = self._registry.why_unavailable(info, self.arguments(info))
                if not reason and resource is not None:
                    reason = self._registry.why_unsupported(info, resource, self.arguments(info))
                    self._unsupported |= bool(reason)
            except BrainsmithError as error:
                reason = str(error)
            if reason:
                reasons[info.name] = reason
            else:
                yield info

    def _none(self, resource: Any, reasons: dict[str, str]) -> TargetError:
        targets: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            targets.setdefault(reason, []).append(name)
        lines = [f"\n  {', '.join(names)}: {reason}" for reason, names in targets.items()]
        listed = "".join(lines) or "\n  none is registered"
        if self._unsupported:
            return UnsupportedResourceError(
                f"no target for {self._what} can execute {describe_resource(resource)}:{listed}"
            )
        return TargetUnavailableError(f"no target for {self._what} can be used here:{listed}")
