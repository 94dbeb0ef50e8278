"""The logger `brainsmith.targets`: what is chosen, initialised, prepared and cleaned up."""

from __future__ import annotations

import logging

from brainsmith.harmless import harmless
from brainsmith.plugin.log import write_to_stderr

NAME = "brainsmith.targets"
_HANDLER = "brainsmith verbose"
_LOGGER = logging.getLogger(NAME)


def note(message: str, *arguments: object) -> None:
    """Log an event at INFO, as text: a record that held the arguments would keep targets alive."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _LOGGER.info("%s", message % arguments)


def warn(message: str, *arguments: object) -> None:
    """Log at WARNING what did not work and was got around; without a handler, Python prints it as it is."""
    _LOGGER.warning("%s", harmless(message % arguments))


def is_verbose() -> bool:
    """Return whether the logger's messages are written to stderr."""
    return any(handler.name == _HANDLER for handler in _LOGGER.handlers)


def set_verbose(on: bool) -> None:
    """Write the logger's messages to stderr, or stop doing so."""
    write_to_stderr(NAME, _HANDLER, "INFO" if on else None)
