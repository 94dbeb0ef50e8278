"""The form of names in blueprints and groups, and suggestions for wrong ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from brainsmith.blueprint.schema import PluginName, Position

_NAME = re.compile(r"(?P<optional>~?)\s*(?:(?P<framework>[\w.-]+):)?(?P<name>[\w.-]+)")


def parse_name(text: str, position: Position) -> PluginName | None:
    """Read ``Name`` or ``framework:Name``, with ``~`` before it if optional; None for any other text."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        return None
    return PluginName(match["name"], match["framework"] or "", bool(match["optional"]), position)


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give `` Did you mean 'x'?`` for a nearly equal one of `words`, or up to three like it; else ''."""
    from difflib import get_close_matches

    by_lower = {candidate.lower(): candidate for candidate in words}
    nearly = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.85)
    close = nearly or get_close_matches(word.lower(), by_lower, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(by_lower[match]) for match in close)}?" if close else ""
