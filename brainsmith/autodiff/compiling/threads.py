"""How many threads a call of a compiled op is shared by."""

from __future__ import annotations

import os

from brainsmith.errors import SettingsError
from brainsmith.plugin.processes import processors
from brainsmith.settings import op_threads

_SHARE = 1 << 17
"""Elements that are worth a thread: computing them takes longer than starting it, some 20 us."""

_MOST = 8
"""How many there are at most where the setting says nothing: more wait for the memory."""


def threads_for(size: int) -> int:
    """Return how many threads a call may use, the calling one among them.

    Args:
        size: Of the arrays, in elements.

    Returns:
        No more than the processors that this thread may run on, nor than are idle now; 1 for small arrays.

    Raises:
        SettingsError: `BRAINSMITH_OP_THREADS` is no number of threads.
    """
    if size < 2 * _SHARE:
        return 1
    most = min(size // _SHARE, processors(), _allowed())
    return max(1, min(most, _idle())) if most > 1 else 1


def _idle() -> int:
    """Return how many processors have nothing else to do, that of this thread among them.

    A call ends with its last thread: one that must wait for a processor would hold it up.
    """
    count = os.cpu_count() or 1
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY)
    except OSError:  # another system
        return count
    try:
        running, _, _ = os.read(file, 128).split()[3].partition(b"/")
    finally:
        os.close(file)
    return count - int(running) + 1


def _allowed() -> int:
    text = op_threads()
    if not text:
        return _MOST
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise SettingsError(f"BRAINSMITH_OP_THREADS must be a number of threads, 1 or more, not {text!r}")
    return int(text)
