"""`brainsmith trust key FILE`: make a key to sign folders of plugins with."""

from __future__ import annotations

from shlex import quote

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.signed_folder import make_key

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Write the private key, and the public one beside it."""
    file = options.required("FILE")
    make_key(file, options.text("--name") or "")
    terminal.write(f"{file} is the private key: keep it to yourself")
    terminal.write(
        f"{file}.pub is the public one: brainsmith trust add {quote(f'{file}.pub')}, on each machine that is to trust it"
    )
    return 0
