"""The logger `brainsmith.plugin`, without importing logging until somebody listens."""

from __future__ import annotations

import sys

NAME = "brainsmith.plugin"
_HANDLER = "brainsmith debug"


def debug(message: str, *arguments: object) -> None:
    """Log a step at DEBUG. A process that has not imported logging cannot be listening."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(NAME).debug(message, *arguments)


def set_debug(on: bool) -> None:
    """Write the logger's messages to stderr, or stop doing so."""
    import logging

    logger = logging.getLogger(NAME)
    for handler in [handler for handler in logger.handlers if handler.name == _HANDLER]:
        logger.removeHandler(handler)
    logger.setLevel(logging.DEBUG if on else logging.NOTSET)
    if on:
        handler = logging.StreamHandler()
        handler.name = _HANDLER
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
