"""Why a target cannot be used here, asked from the cheapest question to the dearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.plugin_loading import describe_error
from brainsmith.plugin.plugin_needs import needs_of
from brainsmith.plugin.plugin_versions import version_of
from brainsmith.plugin.requirements import why_unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.plugin.info import PluginInfo
    from brainsmith.runtime.live_target import LiveTarget


def why_unavailable(
    info: PluginInfo, live: Callable[[PluginInfo], LiveTarget], above: tuple[str, ...] = ()
) -> str:
    """Return why a target cannot be used here, and what would change that; nothing if it can.

    Nothing of it is imported unless this host's version and the installed distributions are those that it states.

    Args:
        info: The target's record.
        live: Makes its instance.
        above: The targets that require it, by qualified name, from the first.
    """
    return why_unusable(info) or _of_dependencies(info, live, above) or _of_instance(info, live)


def why_unsupported(live: LiveTarget, resource: Any) -> str:
    """Return why a target cannot execute a resource; nothing if it can."""
    try:
        return live.target.supports(resource)
    except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is the reason)
        return f"its supports raised {describe_error(error)}"


def _of_dependencies(
    info: PluginInfo, live: Callable[[PluginInfo], LiveTarget], above: tuple[str, ...]
) -> str:
    path = (*above, info.qualified)
    for need in needs_of(info):
        try:
            needed = get_registry().resolve(need.type, need.name)
        except BrainsmithError as error:
            return f"requires the {need.type} {need.name!r}: {error}"
        if not need.is_met(needed):
            there = version_of(needed) or "no version that it states"
            return (
                f"requires the {need.type} {need.name!r} {need.versions}, and {needed.qualified} has {there}"
            )
        if need.type != "target":
            continue
        if needed.qualified in path:
            return f"requires itself: {' > '.join((*path[path.index(needed.qualified) :], needed.qualified))}"
        reason = why_unavailable(needed, live, path)
        if reason:
            return f"requires the target {need.name!r}, which cannot be used here: {reason}"
    return ""


def _of_instance(info: PluginInfo, live: Callable[[PluginInfo], LiveTarget]) -> str:
    try:
        made = live(info)
    except BrainsmithError as error:
        return str(error)
    if made.is_ready:
        return ""
    try:
        if made.target.is_available():
            return ""
        return made.target.unavailable_reason() or "it says that it is not available here"
    except Exception as error:  # noqa: BLE001  (a plugin may raise anything; it is the reason)
        return f"its is_available raised {describe_error(error)}"
