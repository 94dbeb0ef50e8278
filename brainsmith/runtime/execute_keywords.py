"""Which keywords the `execute` of a target takes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from brainsmith.close_names import did_you_mean
from brainsmith.errors import TargetError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.runtime.target import Target


def refuse_unknown(name: str, target: Target, given: Iterable[str]) -> None:
    """Refuse keywords that a target's `execute` does not take.

    Args:
        name: The target's.
        target: The target.
        given: The keywords.

    Raises:
        TargetError: It does not take one; those that it takes are listed.
    """
    others = [keyword for keyword in given if keyword != "keep"]  # that one its capabilities tell
    if not others or (taken := _taken(target)) is None:
        return
    for keyword in others:
        if keyword not in taken:
            raise TargetError(
                f"execute of target '{name}' takes no keyword {keyword!r}{did_you_mean(keyword, taken)}\n"
                f"  it takes {', '.join(taken) or 'none'}"
            )


def _taken(target: Target) -> tuple[str, ...] | None:
    """Return the keywords that `execute` takes beside the prepared resource and the inputs; None for any."""
    try:
        parameters = list(inspect.signature(target.execute).parameters.values())[2:]
    except (TypeError, ValueError):  # of an extension module
        return None
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(one.name for one in parameters if one.kind is not one.VAR_POSITIONAL)
