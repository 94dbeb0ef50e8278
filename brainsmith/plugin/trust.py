"""Whether a plugin may be imported: by where it comes from, who owns that, and what the user trusts.

The one place that decides it. Nothing of a plugin is imported, and no code of it runs, before it is trusted.
"""

from __future__ import annotations

import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import TrustError, UntrustedPluginError
from brainsmith.plugin.read_rules import is_of_framework
from brainsmith.settings import cache_dir, load_settings, user_before_sudo

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.trust_store import TrustList
    from brainsmith.settings import Settings

INSTALLED, LISTED, OFF = "installed", "listed", "off"


def refuse_untrusted(info: PluginInfo, settings: Settings | None = None) -> None:
    """Check that a plugin may be imported.

    Raises:
        UntrustedPluginError: It may not; the message says why, and has the command that trusts it.
    """
    reason = why_not_trusted(info, settings)
    if reason:
        error = UntrustedPluginError(
            f"{info.type} {info.qualified!r} ({info.origin}) is not trusted: {reason}"
        )
        error.plugin = info
        raise error


def why_not_trusted(info: PluginInfo, settings: Settings | None = None) -> str:
    """Return why a plugin may not be imported, and what would change that; nothing if it may.

    What BrainSmith itself is built on, QONNX and FINN, is trusted as it is; a distribution or folder that calls itself so
    is not.
    """
    if is_of_framework(info):
        return ""
    settings = load_settings() if settings is None else settings
    folder = info.extra.get("folder") or os.path.dirname(info.extra.get("path", ""))
    if folder:
        return why_folder_not_trusted(folder, settings, info.file)
    if info.extra.get("entry_point"):
        return why_distribution_not_trusted(info.framework, settings)
    if settings.trust == LISTED and info.module not in sys.modules:
        return "its record does not say where it comes from"
    return ""  # it was registered by code that runs


def why_distribution_not_trusted(name: str, settings: Settings) -> str:
    """Return why the plugins of an installed distribution may not be imported; nothing if they may.

    Args:
        name: As indexes compare it.
        settings: Those that hold.
    """
    if settings.trust != LISTED:
        return ""
    from brainsmith.plugin.distributions import installed  # only where what is trusted is listed

    known = _listed().distributions.get(name)
    version = installed()[name].version if name in installed() else ""
    add = f"brainsmith trust add {name}"
    if known is None:
        return f"{name} {version} is not in the list of what is trusted: {add}"
    if known.startswith("sha256:"):
        if distribution_digest(name) != known:
            return f"the files of {name} {version} are not those that were trusted: look at them, then {add} --content"
        _keep_bytecode_apart()
        return ""
    from brainsmith.plugin.plugin_versions import is_within  # so too

    if known and not is_within(version, known):
        return f"{name} {known} is trusted, and {version} is installed: {add}"
    return ""


def distribution_digest(name: str) -> str:
    """Return the digest of all files that an installed distribution brings, by its list of them (RECORD).

    Raises:
        TrustError: It has no such list, as one that is installed as a link to its sources; or a file cannot be read.
    """
    from brainsmith.plugin.distributions import installed  # only where what is trusted is listed
    from brainsmith.plugin.signed_folder import digest_of_files, recorded_files

    try:
        return digest_of_files(recorded_files(installed()[name].path))
    except (OSError, KeyError) as error:
        raise TrustError(
            f"the files of {name} cannot be read: {error}; trust it by versions, or its folder"
        ) from error


def why_folder_not_trusted(folder: str, settings: Settings, file: str = "") -> str:
    """Return why plugins of a folder may not be imported; nothing if they may.

    Args:
        folder: Absolute.
        settings: Those that hold.
        file: The plugin's own file.
    """
    if settings.trust == OFF:
        return ""
    owner = _other_owner(folder) or (_other_owner(file) if file else "")
    if settings.trust == INSTALLED and not owner:
        return ""
    from shlex import quote  # only where trust is in doubt

    known = _listed()
    add = f"brainsmith trust add {quote(folder)}"
    for place in _upwards(folder):
        if place in known.folders:
            return _why_changed(place, known.folders[place])
    signed = _why_not_signed(folder, known)
    if signed is None:
        why = f"{folder} {owner}" if owner else f"{folder} is not in the list of what is trusted"
        return f"{why}: {add}"
    return f"{folder}: {signed}; to trust it all the same: {add}" if signed else ""


def _why_changed(folder: str, digest: str) -> str:
    """Return why a folder that is listed is not trusted after all; nothing if it is."""
    if not digest:
        return ""
    from brainsmith.plugin.signed_folder import (  # hardly any folder has a digest
        content_digest,
        digests_of,
        hold_to,
    )

    try:
        files = digests_of(folder)
    except OSError as error:
        return f"{error.filename} cannot be read: {error.strerror}"
    if content_digest(files) != digest:
        from shlex import quote  # only where it has changed

        again = f"brainsmith trust add {quote(folder)} --content"
        return f"what is in {folder} is not what was trusted: look at it, then {again}"
    _keep_bytecode_apart()
    hold_to(folder, files)
    return ""


def _why_not_signed(folder: str, known: TrustList) -> str | None:
    """Return why the signature of a folder, or of one above, does not count; None if there is no signature."""
    from brainsmith.plugin.signed_folder import SIGNATURE, why_not_signed  # hardly any folder is signed

    for place in _upwards(folder):
        if os.path.isfile(os.path.join(place, SIGNATURE)):
            reason = why_not_signed(place, known.keys)
            if not reason:
                _keep_bytecode_apart()
            return reason
    return None


def _keep_bytecode_apart() -> None:
    """Let Python read no compiled modules that lie beside sources: only the content of the sources was checked."""
    if sys.pycache_prefix is None:
        sys.pycache_prefix = os.path.join(cache_dir(), "bytecode")


def _upwards(folder: str) -> list[str]:
    found = [os.path.realpath(folder)]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found


def _other_owner(path: str) -> str:
    """Return whose a file or folder is, if not this user's, root's or the caller's of `sudo`; or that all may write it."""
    from brainsmith.store.safety import is_open_to_all, owner_name, owner_of  # a listing imports no plugin

    try:
        owner = owner_of(path)
    except OSError:
        return ""  # importing it says so
    mine = (0, os.geteuid(), *((user_before_sudo(),) if os.geteuid() == 0 else ()))
    if owner not in mine:
        return f"belongs to another user ({owner_name(owner)})"
    return "may be written by all users" if is_open_to_all(path) else ""


def _listed() -> TrustList:
    from brainsmith.plugin.trust_store import read_trust  # most users list nothing

    return read_trust()
