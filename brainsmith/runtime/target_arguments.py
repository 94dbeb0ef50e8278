"""The arguments with which a target's class is called: one form for each instance, checked before it is made."""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

from brainsmith.close_names import did_you_mean
from brainsmith.errors import DeviceError, TargetError
from brainsmith.runtime.resource_content import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.runtime.target import Target


def complete_arguments(cls: type[Target], name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords for a target's class, the device among them if it takes one, without those that are defaults.

    Args:
        cls: The class.
        name: The target's name, for messages.
        given: Keywords, of which `device_id` may be one.

    Raises:
        TargetError: There is a keyword that the class does not take.
        DeviceError: The device is no whole number, or there is no such device.
    """
    device_id = _device_id(name, given.get("device_id", 0))
    taken, any_keyword = _keywords_of(cls)
    arguments = {**given, "device_id": device_id}
    if "device_id" not in taken and not any_keyword:
        if device_id:
            raise DeviceError(
                f"target '{name}' has no device {device_id}: it takes no device_id, so it has 0 only"
            )
        del arguments["device_id"]
    for keyword in arguments:
        if keyword not in taken and not any_keyword:
            known = ", ".join(taken) or "none"
            raise TargetError(
                f"target '{name}' takes no argument {keyword!r}{did_you_mean(keyword, tuple(taken))}\n  it takes {known}"
            )
    ids = cls.device_ids()
    if ids is not None and device_id not in ids:
        there = f"it has {', '.join(map(str, ids))}" if ids else "it has none here"
        raise DeviceError(f"target '{name}' has no device {device_id}; {there}")
    return {
        key: value
        for key, value in arguments.items()
        if key == "device_id" or not _is_default(taken, key, value)
    }


def _device_id(name: str, given: Any) -> int:
    """Return a device as a plain whole number, of whichever type of whole numbers it is."""
    try:
        device_id = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        device_id = -1
    if device_id < 0:
        raise DeviceError(f"device_id of target '{name}' must be a whole number, 0 or more, not {given!r}")
    return device_id


def _is_default(taken: Mapping[str, Any], key: str, value: Any) -> bool:
    """Tell whether a value is the default of a keyword: 1.0 is not 1, and a value that is not plain never is."""
    try:
        return key in taken and digest_of(taken[key], key) == digest_of(value, key)
    except TargetError:
        return False


def _keywords_of(cls: type[Target]) -> tuple[dict[str, Any], bool]:
    """Return the keywords that a class takes by name with their defaults, and whether it takes any others."""
    parameters = inspect.signature(cls).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = {parameter.name: parameter.default for parameter in parameters if parameter.kind in named}
    return taken, any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
