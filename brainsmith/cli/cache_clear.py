"""`brainsmith cache clear`: remove all that is not in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.cli.cache_prune import show
from brainsmith.settings import cache_dir
from brainsmith.store.kinds import KINDS, kind_of
from brainsmith.store.removal import clear

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Remove the entries of one kind, or of all."""
    name = options.text("KIND")
    removal = clear(cache_dir(), KINDS if name is None else [kind_of(name)], options.flag("--dry-run"))
    return show(removal, options.flag("--dry-run"), terminal)
