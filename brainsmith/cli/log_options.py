"""`--quiet`, `--verbose`, `--log-file` and `--log-json`: how much a command says, and where."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from brainsmith.cli.command_line import LOG_FILE, LOG_JSON
from brainsmith.cli.json_lines import JsonLines
from brainsmith.cli.terminal import copy_to
from brainsmith.errors import OutputError, UsageError, exit_code
from brainsmith.log_lines import HarmlessFormatter
from brainsmith.monitoring.current import BUILD, Current, new_build_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal

PRINTED = "brainsmith.cli"
"""The logger of what a command prints, which is on the terminal already."""

_LOGGER = logging.getLogger("brainsmith")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@contextlib.contextmanager
def logged(options: Options, terminal: Terminal, words: Sequence[str]) -> Iterator[None]:
    """Let the body be as quiet or verbose as options say, and write what it prints and logs to their file.

    Args:
        options: With `--quiet`, `--verbose`, `--log-file` or `--log-json`.
        terminal: Where the body prints.
        words: The command line.

    Raises:
        UsageError: It is to be quiet and verbose, or two logs are to go to one file.
        OutputError: A file cannot be written.
    """
    if options.flag("--quiet") and options.flag("--verbose"):
        raise UsageError("--quiet and --verbose exclude each other")
    name, lines = options.text(LOG_FILE), options.text(LOG_JSON)
    if name is not None and lines is not None and os.path.realpath(name) == os.path.realpath(lines):
        raise UsageError(f"{LOG_FILE} and {LOG_JSON} must be two files; both are {name}")
    with contextlib.ExitStack() as stack:
        if options.flag("--quiet"):
            terminal.quiet = True
            nothing = stack.enter_context(Path(os.devnull).open("w"))
            stack.enter_context(contextlib.redirect_stdout(nothing))  # what steps of the user's own print
        if name is None and lines is None and not options.flag("--verbose"):
            yield
            return
        handlers: list[logging.Handler] = []
        if name is not None:
            handlers.append(_file_handler(stack.enter_context(_opened(name))))
        if lines is not None:
            build = stack.enter_context(Current(BUILD, new_build_id())) if _builds(options, words) else ""
            handlers.append(_json_handler(lines, build))
            stack.callback(handlers[-1].close)
        if options.flag("--verbose"):
            handlers.append(_verbose_handler())
        stack.enter_context(_attached([*handlers, _LastResort(len(handlers) + 1)]))
        stack.enter_context(_ends_logged(words))
        yield


def _builds(options: Options, words: Sequence[str]) -> bool:
    """Return whether a command makes a build: all of its lines then have that one's id, the first and the last too."""
    return words[0] == "build" or options.text("--blueprint") is not None


def _json_handler(name: str, build: str) -> logging.Handler:
    try:
        return JsonLines(name, build)
    except OSError as error:
        raise OutputError(f"{LOG_JSON}: {name} cannot be written: {error.strerror}") from error


def _opened(name: str) -> TextIO:
    try:
        return Path(name).open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OutputError(f"{LOG_FILE}: {name} cannot be written: {error.strerror}") from error


def _file_handler(file: TextIO) -> logging.Handler:
    handler = logging.StreamHandler(file)
    handler.setFormatter(HarmlessFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler


def _verbose_handler() -> logging.Handler:
    """Return what writes records to standard error as it is now: in a step, another one stands there."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(HarmlessFormatter("%(name)s: %(message)s"))
    handler.addFilter(lambda record: record.name != PRINTED and not getattr(record, "shown", False))
    return handler


class _LastResort(logging.Handler):
    """Prints warnings as Python does while there is no handler, which ours would end."""

    def __init__(self, ours: int) -> None:
        super().__init__(logging.WARNING)
        self._ours = ours

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record that no other handler takes."""
        if len(logging.getLogger().handlers) == self._ours and logging.lastResort is not None:
            logging.lastResort.handle(record)


@contextlib.contextmanager
def _attached(handlers: Sequence[logging.Handler]) -> Iterator[None]:
    """Send records to handlers: all of ours, and those of others from INFO on; and what is printed."""
    root, printed = logging.getLogger(), logging.getLogger(PRINTED)
    levels = root.level, _LOGGER.level
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(min(root.level, logging.INFO))
    _LOGGER.setLevel(logging.DEBUG)

    def log_each_line(text: str) -> None:
        for line in _STYLE.sub("", text).splitlines():
            printed.info("%s", line)

    before = copy_to(log_each_line)
    try:
        yield
    finally:
        copy_to(before)
        root.setLevel(levels[0])
        _LOGGER.setLevel(levels[1])
        for handler in handlers:
            root.removeHandler(handler)
            handler.flush()


@contextlib.contextmanager
def _ends_logged(words: Sequence[str]) -> Iterator[None]:
    """Log how a command begins and ends; of an error also where it comes from, for debugging."""
    from brainsmith import __version__

    begin = time.monotonic()
    _LOGGER.debug("version %s: brainsmith %s", __version__, " ".join(words))
    try:
        yield
    except BaseException as error:
        seconds, text = time.monotonic() - begin, str(error) or type(error).__name__
        _LOGGER.debug(
            "exit code %d after %.1f s: %s", exit_code(error), seconds, text, exc_info=error
        )  # fmt: skip
        raise
    _LOGGER.debug("done after %.1f s", time.monotonic() - begin)
