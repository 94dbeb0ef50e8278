"""`brainsmith health`: what works here, what does not, and what to do."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.terminal import in_columns
from brainsmith.figures import size
from brainsmith.plugin.manager import get_plugin_manager

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_COLOURS = {
    "healthy": "green",
    "degraded": "yellow",
    "broken": "red",
    "failed": "red",
    "fails": "red",
    "old": "yellow",
}

_WATCHED = ("status", "problems")


def run(options: Options, terminal: Terminal) -> int:
    """Print the state; return 0 if it is healthy."""
    seconds = options.number("--watch", 0.0)
    if seconds:
        return _watch(seconds, terminal)
    health = get_plugin_manager().health_check()
    terminal.give(lambda: health, lambda: _print(health, terminal))
    return _code(health)


def _code(health: Mapping[str, Any]) -> int:
    return 0 if health["status"] == "healthy" else 1


def _watch(seconds: float, terminal: Terminal) -> int:
    """Print a line, or with --json a document, when the status or a problem changes; return the last status' exit code."""
    import time

    last: dict[str, Any] = {}
    try:
        while True:
            health = get_plugin_manager().health_check()
            before, last = last, health
            if [health[name] for name in _WATCHED] != [before.get(name) for name in _WATCHED]:
                _say_change(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), health, terminal)
            time.sleep(seconds)
    except KeyboardInterrupt:
        if not last:
            raise
        from brainsmith.cli.main import forget_interrupt

        forget_interrupt()
    return _code(last)


def _say_change(now: str, health: dict[str, Any], terminal: Terminal) -> None:
    if terminal.give_line is not None:
        terminal.give_line({"time": now, **health})
        return
    status = terminal.style(health["status"], _COLOURS[health["status"]])
    problems = "; ".join(" ".join(problem.split()) for problem in health["problems"])
    terminal.write(f"{now} {status}{f': {problems}' if problems else ''}")
    terminal.flush()


def _print(health: dict[str, Any], terminal: Terminal) -> None:
    status = terminal.style(health["status"], _COLOURS[health["status"]])
    terminal.write(f"BrainSmith {health['version']} is {status}")
    for problem in health["problems"]:
        terminal.write(f"  {problem}")
    _section("Adapters", ("name", "status", "version", "plugins", "what to do"), _adapters(health), terminal)
    _section("Caches", ("name", "entries", "size", "what to do"), _caches(health["caches"]), terminal)
    tools = [
        (tool["name"], tool["status"], tool["version"], _place_and_note(tool["path"], tool["note"]))
        for tool in health["tools"].values()
    ]
    _section("Tools (optional)", ("name", "status", "version", "where, or what to do"), tools, terminal)
    packages = [
        (pair["name"], pair["status"], pair["versions"], pair["detail"]) for pair in health["packages"]
    ]
    _section("Packages", ("name", "status", "versions", "what to do"), packages, terminal)
    duplicates = [(duplicate["text"],) for duplicate in health["duplicates"]]
    _section("Names defined twice", ("",), duplicates, terminal)
    trust = [(reason, f"{many}") for reason, many in health["trust"]["untrusted"].items()]
    if health["trust"]["advice"]:
        trust.insert(0, (health["trust"]["advice"], ""))
    _section("Trust", ("what is not trusted, or is trusted without a look", "plugins"), trust, terminal)
    settings = [
        (name, _shown(name, item["value"]), item["source"]) for name, item in health["settings"].items()
    ]
    _section("Settings", ("name", "value", "from"), settings, terminal)


def _adapters(health: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, item["status"], item["version"], str(item["plugins"]), item["advice"] or item["detail"])
        for name, item in health["adapters"].items()
    ]


def _place_and_note(path: str, note: str) -> str:
    return note if path in note and path else " ".join(filter(None, (path, note)))


def _caches(caches: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (caches["path"], str(caches["entries"]), size(caches["bytes"]), caches["advice"] or "writable"),
    ]
    rows.extend(
        (f"  {kind}", str(item["entries"]), size(item["bytes"]), "") for kind, item in caches["kinds"].items()
    )
    return rows


def _section(
    title: str, heading: tuple[str, ...], rows: Sequence[tuple[str, ...]], terminal: Terminal
) -> None:
    if not rows:
        return
    terminal.write(f"\n{terminal.style(title, 'bold')}")
    for row, cells in zip((heading, *rows), in_columns([heading, *rows]), strict=True):
        first, *more = _wrapped(cells, terminal.width)
        if row is heading:
            first = terminal.style(first, "dim")
        elif len(row) > 1 and row[1] in _COLOURS:
            first = first.replace(row[1], terminal.style(row[1], _COLOURS[row[1]]), 1)
        for line in filter(None, (first, *more)):
            terminal.write(line)


def _wrapped(cells: list[str], width: int) -> list[str]:
    """Return a row as lines that fit: its last cell says what to do, so it is wrapped and never cut."""
    ahead = "  " + "".join(f"{cell}  " for cell in cells[:-1])
    line = (ahead + cells[-1]).rstrip()
    if not width or len(line) <= width:
        return [line]
    from textwrap import TextWrapper

    is_below = len(ahead) + 30 > width
    indent = " " * (6 if is_below else len(ahead))
    wrapper = TextWrapper(width, break_on_hyphens=False, break_long_words=False, subsequent_indent=indent)
    wrapper.initial_indent = indent if is_below else ahead
    lines = wrapper.wrap(cells[-1].strip())
    return [ahead.rstrip(), *lines] if is_below else lines or [line]


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "all" if name == "frameworks" else "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple | dict):
        return ", ".join(map(str, value)) or "none"
    return str(value)
