"""What code of others raises (QONNX, FINN, ONNX Runtime, a user's op), reported as an error of ours.

It may raise anything, and its errors share no base class: this is the one place in `execution` that catches all of
them. What is no failure of that code passes unchanged: an interrupt, the end of the process, and a lack of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class foreign_call:  # noqa: N801  (a context manager is used like a function)
    """Run code of others (context manager).

    Args:
        replace: Makes of what was raised the error that is raised in its place; or gives it back, to let it pass.
    """

    __slots__ = ("_replace",)

    def __init__(self, replace: Callable[[Exception], Exception]) -> None:
        self._replace = replace

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raise the error in place of what the code raised, and chain that."""
        if error is None or isinstance(error, MemoryError) or not isinstance(error, Exception):
            return
        raised = self._replace(error)
        if raised is not error:
            raise raised from error


def text_of(error: Exception) -> str:
    """Return what an exception says, or its kind if it says nothing."""
    return str(error).strip() or type(error).__name__


def first_line_of(error: Exception) -> str:
    """Return the first line of what an exception says; in the others ONNX and its runtime list where in their C++."""
    return text_of(error).partition("\n")[0]
