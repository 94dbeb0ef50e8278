"""`brainsmith install-finn`: FINN without the 5 GB that no build here imports."""

from __future__ import annotations

import sys

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ToolError
from brainsmith.plugin.finn_install import REQUIREMENTS

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_SECONDS = 3600.0


def run(options: Options, terminal: Terminal) -> int:
    """Install the list with this interpreter's pip, or print the command that does it."""
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "-r", REQUIREMENTS]
    if options.flag("--dry-run"):
        terminal.write(" ".join(command))
        return 0
    _require_pip()
    from brainsmith.plugin.processes import run as run_command

    terminal.write(" ".join(command))
    terminal.flush()
    printed = run_command(command, timeout=_SECONDS, what="pip").strip()
    terminal.write(printed.splitlines()[-1] if printed else "")
    terminal.write("what works now: brainsmith health")
    return 0


def _require_pip() -> None:
    from importlib.util import find_spec

    if find_spec("pip") is None:
        raise ToolError(
            f"{sys.executable} has no pip\n"
            f"  with uv: uv pip install --python {sys.executable} --no-deps -r {REQUIREMENTS}\n"
            f"  or first: {sys.executable} -m ensurepip"
        )
