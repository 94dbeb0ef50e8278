"""What runs now: the build, by its id, and its step. Threads that work for a build (`progress.carried`) know it too."""

from __future__ import annotations

import os
from contextvars import ContextVar

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from contextvars import Token

BUILD: ContextVar[str] = ContextVar("brainsmith_build", default="")
STEP: ContextVar[str] = ContextVar("brainsmith_step", default="")


def new_build_id() -> str:
    """Return an id that no other build has: 16 random hexadecimal digits."""
    return os.urandom(8).hex()


class Current:
    """A context in which a build, or one of its steps, runs.

    Args:
        variable: `BUILD` or `STEP`.
        value: The build's id, or the step's name.
    """

    def __init__(self, variable: ContextVar[str], value: str) -> None:
        self._variable, self._value = variable, value
        self._token: Token[str] | None = None

    def __enter__(self) -> str:
        self._token = self._variable.set(self._value)
        return self._value

    def __exit__(self, *error: object) -> None:
        assert self._token is not None
        self._variable.reset(self._token)
