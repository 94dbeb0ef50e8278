"""Read each source file in isolation: an error in one file does not hide the plugins of others."""

from __future__ import annotations

import errno

from brainsmith import TYPE_CHECKING
from brainsmith.errors import Problem
from brainsmith.plugin.own_thread import in_own_thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Result = TypeVar("Result")

UNREADABLE = (OSError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""What reading a file raises because of what the file is or holds."""


PASSING = frozenset(
    getattr(errno, name)
    for name in ("EMFILE", "ENFILE", "ENOMEM", "EIO", "EINTR", "EAGAIN", "ESTALE", "ETIMEDOUT")
    if hasattr(errno, name)
)
"""What a file cannot be read for though nothing about it has to change until it can be."""


class PassingProblem(Problem):
    """A file that may be read at the next attempt: what was found without it is not kept."""


def isolated(path: str, read: Callable[..., object], *arguments: Any) -> Problem | None:
    """Run what reads one file; return what is wrong with the file, if that made the reading end.

    Args:
        path: The file, for the problem.
        read: Begins anew when it is called a second time.
        *arguments: What it is called with.
    """
    try:
        on_enough_stack(read, *arguments)
    except UNREADABLE as error:
        return unreadable(path, error)
    return None


def unreadable(path: str, error: BaseException, line: int = 0) -> Problem:
    """Return the problem of a file that cannot be read.

    Args:
        path: The file.
        error: One of `UNREADABLE`.
        line: Where in the file, if the error does not know it.
    """
    if isinstance(error, OSError):
        kind = PassingProblem if error.errno in PASSING else Problem
        return kind(path, line, 0, f"the file cannot be read: {error.strerror or error}")
    if isinstance(error, SyntaxError):
        text = f"the file is not Python, so its plugins are not found: {error.msg}"
        return Problem(path, error.lineno or line, error.offset or 0, text)
    if isinstance(error, RecursionError | MemoryError):
        text = "an expression or statement is nested too deeply, so the file's plugins are not found"
        return Problem(path, line, 0, text)
    return Problem(path, line, 0, f"the file cannot be read: {type(error).__name__}: {error}")


def on_enough_stack(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function; if the stack overflows, call it again in a new thread with an empty stack.

    A discovery may be called at any depth. What a file gives must not depend on that, or it would be kept wrong.

    Raises:
        RecursionError: A whole stack is not enough either.
    """
    try:
        return function(*arguments)
    except RecursionError:
        pass
    return in_own_thread(lambda: function(*arguments))
