"""`brainsmith trust add WHAT`: trust a distribution, a folder or a key."""

from __future__ import annotations

import os
import re

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import TrustError, UsageError
from brainsmith.plugin.distributions import distribution_key, installed
from brainsmith.plugin.plugin_versions import is_within, versions_problem
from brainsmith.plugin.signed_folder import content_digest, digests_of, read_public_key
from brainsmith.plugin.trust import distribution_digest
from brainsmith.plugin.trust_store import changing_trust

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.trust_store import TrustList

_NAMED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*([<>=!~].*)?")


def run(options: Options, terminal: Terminal) -> int:
    """Add to the list; say what was added."""
    what, by_content = options.required("WHAT"), options.flag("--content")
    with changing_trust() as trusted:
        if os.path.isdir(what):
            said = _add_folder(os.path.realpath(what), by_content, trusted)
        elif os.path.isfile(what):
            said = _add_key(what, by_content, trusted)
        else:
            said = _add_distribution(what, by_content, trusted)
    terminal.write(said)
    return 0


def _add_folder(folder: str, by_content: bool, trusted: TrustList) -> str:
    try:
        trusted.folders[folder] = content_digest(digests_of(folder)) if by_content else ""
    except OSError as error:
        raise TrustError(f"{error.filename} cannot be read: {error.strerror}") from error
    return f"folder {folder} is trusted{_as_it_is(by_content)}"


def _add_key(file: str, by_content: bool, trusted: TrustList) -> str:
    key, name = read_public_key(file)
    if by_content:
        raise UsageError(
            "--content is for folders and distributions; what a key signs is known by its content"
        )
    trusted.keys[key] = name
    named = " ".join(filter(None, (key, name)))
    return f"key {named} is trusted: plugins of the folders that it signs may be imported"


def _add_distribution(what: str, by_content: bool, trusted: TrustList) -> str:
    named = _NAMED.fullmatch(what.strip())
    if named is None:
        raise TrustError(f"{what} is no folder, no file of a key and no name of a distribution")
    name, versions = distribution_key(named[1]), (named[2] or "").strip()
    if problem := versions and versions_problem(versions):
        raise TrustError(f"{name}: its {problem}")
    known = installed()
    if name not in known:
        hint = did_you_mean(name, known)
        raise TrustError(
            f"no folder, no file of a key and no installed distribution is called {named[1]!r}{hint}"
        )
    if by_content and versions:
        raise UsageError("--content trusts what is installed now: leave the versions out")
    version = known[name].version
    if versions and not is_within(version, versions):
        raise TrustError(
            f"{name} {version} is installed, so to trust {name} {versions} would have no effect: "
            f"install such a version first, or trust this one: brainsmith trust add {name}"
        )
    trusted.distributions[name] = distribution_digest(name) if by_content else versions or f"=={version}"
    how = _as_it_is(True) if by_content else f" {trusted.distributions[name]}"
    return f"distribution {name}{how} is trusted"


def _as_it_is(by_content: bool) -> str:
    return ", as it is now" if by_content else ""
