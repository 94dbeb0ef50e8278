"""Whether what happens to Tensors is computed at once or only noted."""

from __future__ import annotations

from contextlib import ContextDecorator
from contextvars import ContextVar, Token

_lazy: ContextVar[bool] = ContextVar("brainsmith_tensors_are_lazy", default=False)
is_lazy = _lazy.get
"""Tells whether calls on Tensors are put off in this thread."""


class lazy(ContextDecorator):  # noqa: N801  (beside no_grad)
    """Note what happens to Tensors, in this thread, and compute it when its values are asked for.

        with lazy():
            y = (x * 2).tanh() + 1
        y.realize()

    Shapes and dtypes are known, and wrong ones refused, at once. `realize()`, and whatever else reads a value, computes
    what is needed for it; elementwise ops whose results only each other read run as one compiled loop.
    """

    _tokens: list[Token[bool]]

    def _recreate_cm(self) -> lazy:
        return type(self)()

    def __enter__(self) -> None:
        self.__dict__.setdefault("_tokens", []).append(_lazy.set(True))

    def __exit__(self, *exception: object) -> None:
        _lazy.reset(self._tokens.pop())
