"""Say how a process ended."""

from __future__ import annotations

import signal


def describe_end(code: int) -> str:
    """Say how a process ended: by a signal, or with an exit code."""
    if code >= 0:
        return f"ended its process with exit code {code}"
    return f"ended its process by {signal_name(-code)}"


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
