"""What holds within a `with` block, for its thread: nothing is recorded, or what happens to Tensors is only noted."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import Self

_recording: ContextVar[bool] = ContextVar("brainsmith_tape_is_recording", default=True)
is_recording = _recording.get
"""Tells whether what happens to Tensors is recorded in this thread."""

_lazy: ContextVar[bool] = ContextVar("brainsmith_tensors_are_lazy", default=False)
is_lazy = _lazy.get
"""Tells whether calls on Tensors are put off in this thread."""


class _Mode(ContextDecorator):
    """A block in which a variable of the thread is switched; blocks of one object may lie in each other."""

    variable: ContextVar[bool]
    wanted: bool
    _tokens: list[Token[bool]]

    def _recreate_cm(self) -> Self:
        return type(self)()

    def __enter__(self) -> None:
        self.__dict__.setdefault("_tokens", []).append(self.variable.set(self.wanted))

    def __exit__(self, *exception: object) -> None:
        self.variable.reset(self._tokens.pop())


class no_grad(_Mode):  # noqa: N801  (as everyone knows it)
    """Compute without recording, in this thread: `with no_grad(): ...`, or as a decorator."""

    variable, wanted = _recording, False


class lazy(_Mode):  # noqa: N801  (beside no_grad)
    """Note what happens to Tensors, in this thread, and compute it when its values are asked for.

        with lazy():
            y = (x * 2).tanh() + 1
        y.realize()

    Shapes and dtypes are known, and wrong ones refused, at once. `realize()`, and whatever else reads a value, computes
    what is needed for it; elementwise ops whose results only each other read run as one compiled loop.
    """

    variable, wanted = _lazy, True
