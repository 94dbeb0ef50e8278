"""`--json`: one JSON document on standard output, and nothing else, whatever happens."""

from __future__ import annotations

import json
import math
import os
import sys

from brainsmith import TYPE_CHECKING
from brainsmith.cli.terminal import Terminal, complain
from brainsmith.errors import BlueprintError, BuildError, OutputError, exit_code

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

    from brainsmith.errors import Problem

_PLACE = r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))?: "


def with_document(attempt: Callable[[Terminal], tuple[int, BaseException | None]], own_process: bool) -> int:
    """Run a command; print what it gives, or its error, as JSON, when it has ended.

    Args:
        attempt: Runs it, with a terminal on standard error; returns the exit code, and the error that ended it.
        own_process: Whether the process is this command's: then programs and libraries do not write there either.

    Returns:
        The exit code.
    """
    before = sys.stdout
    output = _taken(own_process)
    sys.stdout = sys.stderr
    terminal = Terminal(sys.stderr, gives_document=True)
    lines = _Lines(output)
    terminal.give_line = lines.give
    try:
        status, error = attempt(terminal)
    except BaseException as bug:  # it keeps its traceback
        _print(document(terminal.document, bug), exit_code(bug), output, lines.indent)
        raise
    finally:
        sys.stdout = before
    if lines.given and error is None:
        return status
    return _print(document(terminal.document, error), status, output, lines.indent)


class _Lines:
    """Documents that a command gives while it goes on: each is a line, and so is that of the error that ends it.

    Args:
        output: Where they are printed; nowhere if it is closed.
    """

    def __init__(self, output: TextIO | None) -> None:
        self._terminal = Terminal(output) if output is not None else None
        self.given = False

    @property
    def indent(self) -> int | None:
        """How far the parts of a document are indented; None for one line."""
        return None if self.given else 2

    def give(self, value: Any) -> None:
        """Print one."""
        self.given = True
        if self._terminal is not None:
            self._terminal.write(json.dumps(plain(value), allow_nan=False))
            self._terminal.flush()


def document(value: Any, error: BaseException | None) -> Any:
    """Return what is printed: the value of the command, or an object with `error` and what there was until then."""
    if error is None:
        return plain(value)
    found = plain(value) if isinstance(value, dict) else {}
    return {**found, "error": error_fields(error)}


def error_fields(error: BaseException) -> dict[str, Any]:
    """Return an error as plain data: its class, its message, where it is, and the exit code."""
    problems = error.problems if isinstance(error, BlueprintError) else []
    fields = {
        "kind": type(error).__name__,
        "message": str(error) or ("interrupted" if isinstance(error, KeyboardInterrupt) else ""),
        "where": _of_problem(problems[0]) if problems else _where(error),
        "exit_code": exit_code(error),
    }
    if problems:
        fields["problems"] = [{**_of_problem(problem), "message": problem.text} for problem in problems]
    return fields


def _where(error: BaseException) -> dict[str, Any]:
    """Return where an error is: the step that it names, and the place at which its message begins, if it does."""
    import re

    step = error.step if isinstance(error, BuildError) else ""
    found = re.match(_PLACE, str(error))
    if found is None:
        return _place(step=step)
    return _place(found["file"], int(found["line"]), int(found["column"] or 0), step)


def _of_problem(problem: Problem) -> dict[str, Any]:
    return _place(problem.file, problem.line, problem.column)


def _place(file: str | None = None, line: int = 0, column: int = 0, step: str = "") -> dict[str, Any]:
    return {"file": file, "line": line or None, "column": column or None, "step": step or None}


def plain(value: Any) -> Any:
    """Return a value in JSON's types: tuples as lists, numbers that JSON lacks and whatever else as text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    return plain(value.item()) if hasattr(value, "item") else str(value)


def _print(value: Any, status: int, output: TextIO | None, indent: int | None) -> int:
    """Print a document; return the exit code, which is that of a failure if it cannot be printed."""
    if output is None:
        return status
    try:
        terminal = Terminal(output)
        terminal.write(json.dumps(value, indent=indent, allow_nan=False))
        terminal.flush()
    except BrokenPipeError as error:
        return exit_code(error)
    except OutputError as error:
        complain(f"error: {error}")
        return exit_code(error)
    return status


def _taken(own_process: bool) -> TextIO | None:
    """Return standard output; what programs and libraries write there goes to standard error until the process ends."""
    if not own_process or sys.stdout is None:
        return sys.stdout
    try:
        output = os.fdopen(os.dup(1), "w", encoding="ascii")
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        return sys.stdout
    return output
