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
    write_to_stderr(NAME, _HANDLER, "DEBUG" if on else None)


def write_to_stderr(name: str, handler_name: str, level: str | None) -> None:
    """Write a logger's messages from a level on to stderr, or with none stop doing so.

    Args:
        name: The logger's.
        handler_name: Of the handler that does it, of which there is one at the most.
        level: Such as `INFO`.
    """
    import logging

    logger = logging.getLogger(name)
    for handler in [handler for handler in logger.handlers if handler.name == handler_name]:
        logger.removeHandler(handler)
    logger.setLevel(level or logging.NOTSET)
    if level:
        handler = logging.StreamHandler()
        handler.name = handler_name
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
