"""`brainsmith trust sign DIR`: sign a folder of plugins."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural
from brainsmith.plugin.signed_folder import SIGNATURE, digests_of, sign

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Write the signature into the folder."""
    folder = options.required("DIR")
    key = sign(folder, options.required("--key"))
    terminal.write(f"{folder}/{SIGNATURE} signs {plural(len(digests_of(folder)), 'file')} with {key}")
    return 0
