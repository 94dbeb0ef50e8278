"""`brainsmith plugins support`: which operators become hardware, by what, and what backends refuse."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.figures import plural
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print the operators, or the limits of backends."""
    from brainsmith.build.operator_support import operator_support, refusals

    registry = get_plugin_manager().all_records()[0]
    if options.flag("--limits"):
        backends = [info for info in registry.records("backend") if info.file]
        limits = [(info.qualified, info.kernel or "", refusals(info)) for info in backends]
        terminal.give(
            lambda: [{"backend": name, "kernel": kernel, "refuses": texts} for name, kernel, texts in limits],
            lambda: _show_limits(limits, terminal),
        )
        return 0
    ways = operator_support(registry)
    terminal.give(lambda: [way._asdict() for way in ways], lambda: _show(ways, terminal))
    return 0


def _show(ways: list[Any], terminal: Terminal) -> None:
    rows = [(way.operator, ", ".join(way.becomes), ", ".join(way.circuits), way.transform) for way in ways]
    summary = f"\n{plural(len({way.operator for way in ways}), 'operator')}"
    terminal.table(("operator", "becomes", "circuits", "by"), rows, summary)


def _show_limits(limits: list[tuple[str, str, list[str]]], terminal: Terminal) -> None:
    rows = [(name, kernel, text) for name, kernel, texts in limits for text in texts]
    terminal.table(("backend", "kernel", "refuses a node because"), rows)
