"""Why a target cannot be used here, asked from the cheapest question to the dearest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.plugin_loading import describe_error
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
        above: The targets that depend on it, by qualified name, from the first.
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
    for need in info.get("depends_on", ()):
        kind, name = plugin_of(need)
        try:
            needed = get_registry().resolve(kind, name)
        except BrainsmithError as error:
            return f"depends on the {kind} {name!r}: {error}"
        if kind != "target":
            continue
        if needed.qualified in path:
            return (
                f"depends on itself: {' -> '.join((*path[path.index(needed.qualified) :], needed.qualified))}"
            )
        reason = why_unavailable(needed, live, path)
        if reason:
            return f"depends on the target {name!r}, which cannot be used here: {reason}"
    return ""


def plugin_of(need: str) -> tuple[str, str]:
    """Return plugin type and name of what `depends_on` names: `numpy` is a target, `kernel:MatMul` is not."""
    from brainsmith.plugin.info import PLUGIN_TYPES

    kind, colon, name = need.partition(":")
    return (kind, name) if colon and kind in PLUGIN_TYPES else ("target", need)


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
