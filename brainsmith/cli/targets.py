"""`brainsmith targets`: what can execute a model here, and why others cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal
    from brainsmith.plugin.info import PluginInfo

COLUMNS = ("target", "priority", "devices", "available", "description")
"""The columns, in order."""

_FIELDS = (
    "name", "framework", "display_name", "vendor", "version", "priority", "device_types", "description", "available",
    "reason",
)  # fmt: skip
"""What is given to programs."""


def run(options: Options, terminal: Terminal) -> int:
    """Print the targets, the preferred one first, and the reason of each that is not available."""
    from brainsmith.runtime.default import list_plugins

    records = list_plugins(available_only=False)
    reasons = [
        f"\n{info.name} is not available: {info['reason']}" for info in records if not info["available"]
    ]
    terminal.give(
        lambda: [_plain(info) for info in records],
        lambda: terminal.table(COLUMNS, [_row(info) for info in records], "\n".join(reasons)),
    )
    return 0


def _row(info: PluginInfo) -> tuple[str, ...]:
    available = "yes" if info["available"] else f"no: {' '.join(info['reason'].split())}"
    return info.name, str(info.priority), ",".join(info.device_types), available, info.description


def _plain(info: PluginInfo) -> dict[str, object]:
    return {name: info.get(name, "") for name in _FIELDS}
