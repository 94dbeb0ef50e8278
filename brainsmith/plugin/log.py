"""The logger `brainsmith.plugin`, without importing logging until somebody listens."""

from __future__ import annotations

import sys

NAME = "brainsmith.plugin"
_HANDLER = "brainsmith debug"

_LEVELS: dict[str, tuple[int, int]] = {}
"""The level that a logger was given here, and the one that it had before, by its name."""


def debug(message: str, *arguments: object) -> None:
    """Log a step at DEBUG. A process that has not imported logging cannot be listening."""
    logging = sys.modules.get("logging")
    if logging is not None:
        logging.getLogger(NAME).debug(message, *arguments)


def set_debug(on: bool) -> None:
    """Write the logger's messages to stderr, or stop doing so."""
    write_to_stderr(NAME, _HANDLER, "DEBUG" if on else None)


def write_to_stderr(name: str, handler_name: str, level: str | None) -> None:
    """Write a logger's messages from a level on to stderr, or with none stop doing so, and let it be as it was before.

    Args:
        name: The logger's.
        handler_name: Of the handler that does it, of which there is one at most.
        level: Such as `INFO`.
    """
    import logging  # nobody may be listening

    from brainsmith.log_lines import HarmlessFormatter

    logger = logging.getLogger(name)
    for handler in [handler for handler in logger.handlers if handler.name == handler_name]:
        logger.removeHandler(handler)
        set_level, before = _LEVELS.pop(name, (None, None))
        if before is not None and logger.level == set_level:  # else somebody has set another one since
            logger.setLevel(before)
    if level:
        handler = logging.StreamHandler()
        handler.name = handler_name
        handler.setFormatter(HarmlessFormatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
        before = logger.level
        logger.setLevel(level)
        _LEVELS[name] = (logger.level, before)
