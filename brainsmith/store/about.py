"""What is known of an entry beside its value: what it is of, what it was made from, by which build.

It is for people (`brainsmith cache`): whether an entry is used never depends on it.
"""

from __future__ import annotations

import time
from contextvars import ContextVar

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypedDict
else:  # importing typing costs more than writing an entry

    class TypedDict:
        """A dictionary with these keys."""

        def __init_subclass__(cls, total: bool) -> None: ...


class About(TypedDict, total=False):
    """What may be known.

    Attributes:
        of: What the entry is of, such as a step or a model.
        parts: The parts of its key, by name.
        files: Digests of files by path: the entry is out of date when one has another content.
        stamped: Where in a kept value the paths lie that the entry was read from, and their stamps.
        beside: The kind in which the entry of the same key has the files of this one.
        origin: Digests of files by path that its content came from: with another content there, another entry is used.
            Where it is not said, those of what makes it (`MadeBy`) count.
        by: What made it: `model`, `blueprint`, `output` and `step`.
        time: When it was made, in seconds since the epoch.
    """

    of: str
    parts: Mapping[str, str]
    files: Mapping[str, str]
    stamped: tuple[int, int]
    beside: str
    origin: Mapping[str, str]
    by: Mapping[str, str]
    time: float


_MAKER: ContextVar[tuple[Mapping[str, str], Mapping[str, str]]] = ContextVar("maker", default=({}, {}))


class MadeBy:
    """Note in every entry that is made in a `with` what makes it.

    Args:
        origin: Digests of the files that it starts from, by path.
        **by: `model`, `blueprint`, `output`, `step`; they add to those around.
    """

    def __init__(self, origin: Mapping[str, str] | None = None, **by: str) -> None:
        self._origin, self._by = origin or {}, by

    def __enter__(self) -> None:
        files, names = _MAKER.get()
        self._token = _MAKER.set(({**files, **self._origin}, {**names, **self._by}))

    def __exit__(self, *error: object) -> None:
        _MAKER.reset(self._token)


def noted(about: About | None) -> About:
    """Return what is written beside a value: what its owner knows, and what makes it now."""
    known: About = {} if about is None else about
    origin, by = _MAKER.get()
    return {"origin": origin, **known, "by": by, "time": time.time()}
