"""Leave no process-wide trace of a step: FINN's steps may change the working folder or the environment."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def process_state_kept() -> Iterator[None]:
    """Restore the working folder and the environment if the body changed them.

    Only what the body changed is written back: another thread's build is not disturbed where nothing changed.
    FINN's own variables stay: it sets them once for the whole process, when it is prepared.
    """
    folder = Path.cwd()
    environment = dict(os.environ)
    try:
        yield
    finally:
        if _folder() != folder:
            os.chdir(folder)
        for name in set(os.environ) - set(environment):
            if not name.startswith("FINN_"):
                os.environ.pop(name, None)
        for name, value in environment.items():
            if os.environ.get(name) != value:
                os.environ[name] = value


def _folder() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:  # a step may have removed the folder it changed to
        return None
