"""When Python's garbage collector runs: it visits all that is alive, and most of what a command makes lives to its end."""

from __future__ import annotations

import gc

_SELDOM = 200_000


class collector_at_rest:  # noqa: N801  (a context, of which `contextlib` would cost each command 2 ms)
    """Keep it still while thousands of objects are made that all live on."""

    def __enter__(self) -> None:
        self._was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._was_on:
            gc.enable()


class collector_seldom:  # noqa: N801
    """Let it run when there are 200,000 new objects, not each 700: a build that reuses everything makes as many."""

    def __enter__(self) -> None:
        self._before = gc.get_threshold()
        gc.set_threshold(_SELDOM, *self._before[1:])

    def __exit__(self, *error: object) -> None:
        if not gc.get_freeze_count():
            # Both together make all objects old ones: else the next collection visits them.
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*self._before)
