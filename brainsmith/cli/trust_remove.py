"""`brainsmith trust remove WHAT`: trust it no longer."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.close_names import did_you_mean
from brainsmith.errors import TrustError
from brainsmith.plugin.distributions import distribution_key
from brainsmith.plugin.signed_folder import read_public_key
from brainsmith.plugin.trust_store import KINDS, changing_trust

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.trust_store import TrustList


def run(options: Options, terminal: Terminal) -> int:
    """Remove an entry of the list, by its name, the name of a key's owner, or the file that the key was added from."""
    what = options.required("WHAT")
    with changing_trust() as trusted:
        found = _remove(what, trusted)
    for kind, name in found:
        terminal.write(f"{kind.removesuffix('s')} {name} is no longer trusted")
    return 0


def _remove(what: str, trusted: TrustList) -> list[tuple[str, str]]:
    """Remove what is called so; return it by its kind and name."""
    named = {what, distribution_key(what), os.path.realpath(what)}
    found = [(kind, name) for kind in KINDS for name in getattr(trusted, kind) if name in named]
    found += [("keys", key) for key, owner in trusted.keys.items() if owner == what]
    if not found and os.path.isfile(what):
        key = read_public_key(what)[0]
        found = [("keys", key)] if key in trusted.keys else []
    if not found:
        known = [name for kind in KINDS for name in getattr(trusted, kind)] + list(trusted.keys.values())
        hint = did_you_mean(what, known) or "; brainsmith trust list shows it"
        raise TrustError(f"{what!r} is not in the list of what is trusted{hint}")
    for kind, name in found:
        del getattr(trusted, kind)[name]
    return found
