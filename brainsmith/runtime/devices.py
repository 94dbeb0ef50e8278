"""What a device's name means: `auto`, `cpu`, `numpy`, `rtlsim:1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from brainsmith.close_names import did_you_mean
from brainsmith.errors import DeviceError, PluginNotFoundError
from brainsmith.plugin.core import get_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brainsmith.plugin.info import PluginInfo

AUTO = "auto"
"""The device that is whichever target is best."""


@dataclass(frozen=True)
class Device:
    """What was asked for.

    Attributes:
        target: The one target that is meant; None where the best of several is.
        device_type: The devices among which the best is meant; None for all.
        device_id: Which of several equal devices.
    """

    target: PluginInfo | None
    device_type: str | None
    device_id: int = 0


def find_device(text: str, records: Callable[[], Iterable[PluginInfo]]) -> Device:
    """Return what a device's name means: `auto`, a target or a device type, each with `:id` or without.

    A target wins over a device type of the same name.

    Args:
        text: As the user wrote it.
        records: Returns those of all targets; called only if no target has the name.

    Raises:
        DeviceError: There is no such device; all are listed.
    """
    if not isinstance(text, str) or not text.strip():
        raise DeviceError(f"device must be a string such as 'auto' or 'rtlsim:0', not {text!r}")
    name, colon, number = text.strip().rpartition(":")
    if not colon or not number.isdecimal():
        name, number = text.strip(), "0"
        if colon and _number_like(text):
            raise DeviceError(f"the id of device {text!r} must be a whole number, 0 or more")
    if name == AUTO:
        return Device(None, None, int(number))
    registry = get_registry()
    known = [] if registry.knows("target", name) else list(records())
    if colon and name == text.strip() and _is_known(name.rpartition(":")[0], known):
        raise DeviceError(f"the id of device {text!r} must be a whole number, 0 or more")
    if not registry.knows("target", name) and any(name in info.device_types for info in known):
        return Device(None, name, int(number))
    try:
        return Device(registry.resolve("target", name), None, int(number))
    except PluginNotFoundError as error:
        raise unknown_device(text, known) from error


def _is_known(name: str, records: Iterable[PluginInfo]) -> bool:
    """Return whether a name, without what is meant as an id, is one of a device."""
    return name == AUTO or any(name in (info.name, *info.device_types) for info in records)


def unknown_device(text: str, records: Iterable[PluginInfo]) -> DeviceError:
    """Return the error that says that there is no such device, and which there are."""
    serving: dict[str, list[str]] = {}
    for info in records:
        serving.setdefault(info.name, [])
        for device_type in info.device_types:
            serving.setdefault(device_type, []).append(info.name)
    listed = [
        f"{name} (any of {', '.join(dict.fromkeys(names))})" if names and names != [name] else name
        for name, names in serving.items()
    ]
    names = (AUTO, *serving)
    return DeviceError(
        f"there is no device {text!r}{did_you_mean(text, names)}\n"
        f"  devices are auto, {', '.join(listed) or 'and no other'}; each may be followed by an id, as in 'cpu:0'"
    )


def _number_like(text: str) -> bool:
    """Return whether what follows the last colon is meant as an id, but cannot be one."""
    tail = text.rpartition(":")[2].strip()
    return not tail.replace("_", "").isalnum() or tail[0].isdigit()
