"""Processes that end: in which words, and as an error of whoever waits for an answer."""

from __future__ import annotations

import signal


class WorkerEndedError(Exception):
    """A worker ended without an answer; the text says how: `ended its process by SIGSEGV`.

    Attributes:
        received: Whether it had received the command, and so may have ended because of it.
    """

    def __init__(self, how: str, *, received: bool = True) -> None:
        super().__init__(how)
        self.received = received


def describe_end(code: int) -> str:
    """Say how a process ended: by a signal, or with an exit code."""
    if code >= 0:
        return f"ended its process with exit code {code}"
    return f"ended its process by {signal_name(-code)}"


def describe_failure(code: int) -> str:
    """Say how a command failed; a kill is perhaps the system's, where memory runs out."""
    if code >= 0:
        return f"failed with exit code {code}"
    short = ", perhaps because the machine has too little memory" if code == -signal.SIGKILL else ""
    return f"was ended by {signal_name(-code)}{short}"


def signal_name(number: int) -> str:
    """Return a signal's name, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
