"""`brainsmith metrics`: the figures of the hub and of what is kept on disk, as Prometheus reads them."""

from __future__ import annotations

import os

from brainsmith import TYPE_CHECKING
from brainsmith.errors import OutputError, UsageError
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print the figures, or write them to a file; or print the dashboard that shows them."""
    if options.flag("--dashboard"):
        if options.text("--output") is not None:
            raise UsageError("--dashboard is printed; --output FILE takes the figures")
        from brainsmith.monitoring.grafana_dashboard import dashboard_text

        terminal.write(dashboard_text().rstrip())
        return 0
    from brainsmith.monitoring.needed import require_prometheus

    require_prometheus()
    from brainsmith.monitoring.families import exposition
    from brainsmith.monitoring.hub_metrics import HubMetrics

    manager = get_plugin_manager()
    # Without this process itself: whoever collects such files shows processes anyway, under the same names.
    text, _ = exposition([HubMetrics(manager)], process=False)
    file = options.text("--output")
    if file is None:
        terminal.write(text.decode().rstrip())
    else:
        _write(file, text)
    return 0


def _write(file: str, text: bytes) -> None:
    from brainsmith.store.files import write_atomically

    file = os.path.realpath(file)
    if os.path.exists(file) and not os.path.isfile(file):
        raise OutputError(f"--output must be a file, or a new one; {file} is none")
    try:
        write_atomically(file, text)
    except OSError as error:
        raise OutputError(f"--output: {file} cannot be written: {error.strerror}") from error
