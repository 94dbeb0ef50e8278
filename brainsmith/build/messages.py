"""Keep what a step logs: FINN says there that a layer cannot be as fast as asked, and much else."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Collector(logging.Handler):
    """Collects the warnings that one thread logs, each once and in one line."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record of the own thread; our own logger speaks of the hub, not of the model."""
        if record.thread != self._thread or record.name.startswith("brainsmith"):
            return
        line = " ".join(record.getMessage().split())
        if line not in self.lines:
            self.lines.append(line)


@contextmanager
def logged_warnings() -> Iterator[list[str]]:
    """Collect what is logged in the body by this thread, at level WARNING or above."""
    collector = _Collector()
    root = logging.getLogger()
    root.addHandler(collector)
    try:
        yield collector.lines
    finally:
        root.removeHandler(collector)
