"""The keywords with which a target is made and executed: checked before it is, and in one form for each instance."""

from __future__ import annotations

import inspect
import operator
from typing import TYPE_CHECKING, Any

from brainsmith.close_names import did_you_mean
from brainsmith.errors import DeviceError, TargetError
from brainsmith.runtime.resource_content import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    taken, any_keyword = keywords_of(cls)
    arguments = {**given, "device_id": device_id}
    if "device_id" not in taken and not any_keyword:
        if device_id:
            raise DeviceError(
                f"target '{name}' has no device {device_id}: it takes no device_id, so it has 0 only"
            )
        del arguments["device_id"]
    _refuse_unknown(f"target '{name}' takes no argument", () if any_keyword else arguments, taken)
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
    """Return whether a value is the default of a keyword: 1.0 is not 1, and a value that is not plain never is."""
    try:
        return key in taken and digest_of(taken[key], key) == digest_of(value, key)
    except TargetError:
        return False


def refuse_unknown_keywords(name: str, target: Target, given: Iterable[str]) -> None:
    """Refuse keywords that the `execute` of a target does not take.

    Args:
        name: The target's.
        target: The target.
        given: The keywords; whether `keep` is taken, its capabilities say.

    Raises:
        TargetError: It does not take one; those that it takes are listed.
    """
    others = [keyword for keyword in given if keyword != "keep"]
    if others:
        taken, any_keyword = keywords_of(target.execute, after=2)
        _refuse_unknown(f"execute of target '{name}' takes no keyword", () if any_keyword else others, taken)


def keywords_of(function: Any, after: int = 0) -> tuple[dict[str, Any], bool]:
    """Return the keywords that a function or class takes with their defaults, and whether it takes any others.

    Args:
        function: It; one of an extension module, which does not say what it takes, takes any.
        after: How many parameters in front are no keywords.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())[after:]
    except (TypeError, ValueError):
        return {}, True
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = {parameter.name: parameter.default for parameter in parameters if parameter.kind in named}
    return taken, any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _refuse_unknown(refusal: str, given: Iterable[str], taken: Mapping[str, Any]) -> None:
    for keyword in given:
        if keyword not in taken:
            raise TargetError(
                f"{refusal} {keyword!r}{did_you_mean(keyword, taken)}\n  it takes {', '.join(taken) or 'none'}"
            )
