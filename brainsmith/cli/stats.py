"""`brainsmith stats`: what a discovery in this process cost."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.figures import share
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Discover, and print what was measured."""
    manager = get_plugin_manager()
    manager.discover_plugins(modes=["full"])
    stats = manager.get_performance_stats()
    pairs = [(label(name), shown(name, value)) for name, value in stats.items()]
    terminal.give(lambda: stats, lambda: terminal.pairs(pairs))
    return 0


def label(name: str) -> str:
    """Return a figure's name without its unit."""
    return name.removesuffix("_ms").removesuffix("_mb").replace("_", " ")


def shown(name: str, value: Any) -> str:
    """Return a figure as text, with its unit."""
    if isinstance(value, dict):
        unit = " ms" if name.endswith("_ms") else ""
        return ", ".join(f"{key} {item:g}{unit}" for key, item in value.items()) or "none"
    if name.endswith("_ms"):
        return f"{value:.2f} ms"
    if name.endswith("_mb"):
        return f"{value:.1f} MB"
    if name.endswith("_rate"):
        return share(value, 0)
    return str(value)
