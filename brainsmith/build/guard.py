"""Undo what a step changes of the process: FINN's steps may change the working folder or the environment.

For example, a step that calls `os.chdir("code_gen")` and sets `LD_LIBRARY_PATH` leaves neither to the next step.
"""

from __future__ import annotations

import os
import random
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np


@contextmanager
def process_state_kept(seed: str) -> Iterator[None]:
    """Restore the working folder, the environment, the search path of modules and the random generators' states.

    The generators begin with a seed: QONNX names new tensors at random, and the same build should give the same
    names.

    Only what the body changed is written back: another thread's build is not disturbed where nothing changed.
    FINN's own variables stay: it sets them once for the whole process, when it is prepared.
    """
    folder = _folder()
    environment, path = dict(os.environ), list(sys.path)
    states = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(zlib.crc32(seed.encode()))
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        if sys.path != path:
            sys.path[:] = path
        if folder is not None and _folder() != folder:
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
    except FileNotFoundError:  # the user, or a step, may have removed it
        return None
