"""The form of names in blueprints and groups."""

from __future__ import annotations

import re

from brainsmith.blueprint.schema import PluginName, Position

_NAME = re.compile(r"(?P<optional>~?)\s*(?:(?P<framework>[\w.-]+):)?(?P<name>[\w.-]+)")


def parse_name(text: str, position: Position) -> PluginName | None:
    """Read ``Name`` or ``framework:Name``, with ``~`` before it if optional; None for any other text."""
    match = _NAME.fullmatch(text.strip())
    if match is None:
        return None
    return PluginName(match["name"], match["framework"] or "", bool(match["optional"]), position)
