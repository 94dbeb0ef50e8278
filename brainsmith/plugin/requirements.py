"""Whether what a record states of its surroundings holds here: this host's version, and the installed distributions.

The one place that decides it, for plugins when a name is resolved, for targets when they are asked for, and for bundles
before they are loaded. Nothing of the plugin is imported.
"""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.errors import BrainsmithError, PluginUnavailableError
from brainsmith.plugin.version import Version

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

LATER = ("target", "bundle")
"""The types whose records can be resolved all the same: their registries say why they cannot be used."""


def refuse_unusable(info: PluginInfo) -> None:
    """Check that a plugin can be used here, as far as its record says.

    Raises:
        PluginUnavailableError: It cannot; the message says why, and what would change that.
    """
    if info.type in LATER or not (info.requires or info.min_brainsmith or info.max_brainsmith):
        return
    reason = why_unusable(info)
    if reason:
        plugin = f"{info.type} {info.qualified!r} ({info.origin})"
        error = PluginUnavailableError(f"{plugin} cannot be used here: it {reason}")
        error.plugin = info
        raise error


def lacks_finn_alone(info: PluginInfo) -> bool:
    """Tell whether a plugin could be used here if FINN were installed, and cannot without it."""
    others = tuple(text for text in info.requires if not text.startswith("finn-plus"))
    return bool(why_unusable(info)) and not why_unusable(info.replace(requires=others))


def why_unusable(info: PluginInfo) -> str:
    """Return why a plugin cannot be used here, as far as its record says, and what would change that; else nothing."""
    from brainsmith.plugin.packages import unmet_requirements  # most plugins require nothing

    try:
        stated = (info.min_brainsmith, info.max_brainsmith)
        oldest, newest = (Version.parse(text) if text else None for text in stated)
        host = wrong_host(oldest, newest, f"the {info.type}")
    except BrainsmithError as error:
        return f"states an invalid version at {info.origin}: {error}"
    folders = info.extra.get("folders")  # of another environment
    return host or "; ".join(unmet_requirements(info.requires, folders and list(folders)))


def wrong_host(oldest: Version | None, newest: Version | None, what: str) -> str:
    """Return why this host is too old or too new, with both versions; empty if its version fits.

    Args:
        oldest: The oldest host that fits; its major number must be this one's. None for any.
        newest: The newest one; None for any.
        what: What to take another version of, for the advice.
    """
    host = Version.current()
    here = f"and this is brainsmith {host}"
    if oldest is not None and host < oldest:
        return f"needs brainsmith {oldest} or newer, {here}: update brainsmith, or take an older version of {what}"
    if oldest is not None and not host.is_compatible_with(oldest):
        made = f"is made for brainsmith {oldest.major}.x ({oldest} or newer), {here}"
        return f"{made}: take a newer version of {what}"
    if newest is not None and host > newest:
        return f"works up to brainsmith {newest}, {here}: take a newer version of {what}"
    return ""
