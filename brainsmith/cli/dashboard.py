"""`brainsmith dashboard`: a local page of the builds of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.cli.serve_target import MOST, until_stopped
from brainsmith.errors import DashboardError

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


HINT = "the address has a token, and works on this machine alone; Ctrl-C ends it"


def run(options: Options, terminal: Terminal) -> int:
    """Serve until SIGINT or SIGTERM."""
    from brainsmith.runtime.serving.protocol import why_not_installed

    if reason := why_not_installed():
        raise DashboardError(f"the dashboard cannot be served: {reason}")
    from brainsmith.dashboard.dashboard_server import PORT, DashboardServer

    root = options.required("DIR")
    port = options.whole("--port", PORT, most=MOST)
    with until_stopped() as wait, DashboardServer(Path(root), port) as server:
        terminal.write(f"builds of {root}: {server.url}")
        terminal.write(f"  {HINT}")
        terminal.flush()
        wait()
    terminal.write("stopped")
    return 0
