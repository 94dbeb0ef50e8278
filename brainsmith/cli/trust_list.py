"""`brainsmith trust list`: what this user trusts, and how closely."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.trust_store import KINDS, read_trust, trust_file
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

_ALL = {"distributions": "any version", "folders": "any content", "keys": ""}


def run(options: Options, terminal: Terminal) -> int:
    """Print which plugins may be imported, and the list."""
    settings, trusted = load_settings(), read_trust()
    tables = {kind: dict(sorted(getattr(trusted, kind).items())) for kind in KINDS}
    document = {"trust": settings.trust, "file": trust_file(), **tables, "error": None}
    terminal.give(lambda: document, lambda: _show(settings.trust, tables, terminal))
    return 0


def _show(mode: str, tables: dict[str, dict[str, str]], terminal: Terminal) -> None:
    said = {
        "installed": "what is installed is trusted, and folders of this user",
        "listed": "only what is listed is trusted",
        "off": "all plugins are trusted, whoever they are of",
    }
    terminal.write(f"trust is {mode}: {said[mode]}")
    rows = [
        (kind.removesuffix("s"), name, value or _ALL[kind])
        for kind in KINDS
        for name, value in tables[kind].items()
    ]
    terminal.table(("kind", "name", "what of it"), rows)
