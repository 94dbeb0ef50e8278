"""The settings that a target takes when it prepares a resource, and what each may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from brainsmith.errors import BrainsmithError, TargetError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Setting(NamedTuple):
    """What a setting may be.

    Attributes:
        must_be: The end of a sentence.
        allows: Whether a value is that.
    """

    must_be: str
    allows: Callable[[Any], bool]


FLAG = Setting("true or false", lambda value: isinstance(value, bool))
COUNT = Setting("a whole number, 1 or more", lambda value: type(value) is int and value >= 1)
OPTIONAL_COUNT = Setting(COUNT.must_be, lambda value: value is None or COUNT.allows(value))
SECONDS = Setting("a number of seconds above 0", lambda value: type(value) in (int, float) and value > 0)
ANYTHING = Setting("anything", lambda value: True)


def checked_settings(
    target: str,
    config: Mapping[str, Any] | None,
    known: Mapping[str, Setting],
    error: type[BrainsmithError] = TargetError,
) -> Mapping[str, Any]:
    """Return a configuration, whose settings are known and have values that are allowed.

    Args:
        target: The target's name.
        config: As `Target.prepare_resource` takes it.
        known: Its settings, by name.
        error: What is raised.

    Raises:
        BrainsmithError: Of that class: there is another setting, or a value that is not allowed.
    """
    given = config or {}
    if unknown := [name for name in given if name not in known]:
        taken = f"the settings {', '.join(known)}" if known else "no settings"
        raise error(f"{target} takes {taken}, not {unknown[0]!r}")
    for name, value in given.items():
        if not known[name].allows(value):
            raise error(f"{name} of {target} must be {known[name].must_be}, not {value!r}")
    return given
