"""Refuse the name of a framework that no plugin has and that nothing offers."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import SettingsError
from brainsmith.plugin.precedence import ADAPTED, OURS, framework_identifier

if TYPE_CHECKING:
    from brainsmith.plugin.request import Request
    from brainsmith.plugin.snapshot import Snapshot


def refuse_unknown_framework(request: Request, snapshot: Snapshot) -> None:
    """Check that each framework that is asked for is one, though it may have no plugin of the types asked for.

    Args:
        request: What is asked for.
        snapshot: What a full discovery finds.

    Raises:
        SettingsError: No plugin has the framework, and no distribution of this name offers any.
    """
    name = request.unknown_framework(snapshot.records)
    if name is None or framework_identifier(name) in _offering(snapshot):
        return
    known = sorted({*OURS, *ADAPTED, *(info.framework for info in snapshot.records)})
    reasons = "".join(f"\n  {problem}" for problem in snapshot.problems)
    asked = f"frameworks={list(request.frameworks or ())!r}"
    raise SettingsError(
        f"{asked}: no plugin has the framework {name!r}{did_you_mean(name, known)}"
        f"\n  the frameworks are {', '.join(known)}{reasons}"
    )


def _offering(snapshot: Snapshot) -> list[str]:
    """Return the distributions that offer plugins, as Python names them, also those of which no plugin can be used."""
    found = [one["detail"] for one in snapshot.adapters if one["name"] == "entry_points"]
    names = (name for detail in found for name in detail.removeprefix("distributions: ").split(", "))
    return [framework_identifier(name) for name in names]
