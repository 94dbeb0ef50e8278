"""Records of logging as lines for a person; imported only where somebody listens."""

from __future__ import annotations

import logging

from brainsmith.harmless import harmless


class HarmlessFormatter(logging.Formatter):
    """Writes records as lines that do nothing to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        return harmless(super().format(record))
