"""When Python's garbage collector runs: it visits all that is alive, and most of what a command makes lives to its end."""

from __future__ import annotations

import gc
from contextlib import contextmanager

from brainsmith import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SELDOM = 200_000


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep it still while thousands of objects are made that all live on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def collector_seldom() -> Iterator[None]:
    """Let it run when there are 200,000 new objects, not each 700: a build that reuses everything makes as many."""
    before = gc.get_threshold()
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
