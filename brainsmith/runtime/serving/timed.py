"""Sockets that are read and written against one deadline, however many pieces come."""

from __future__ import annotations

import io
import math
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator


class Deadline:
    """A point in time that can be moved.

    Args:
        seconds: How far away it is.
    """

    def __init__(self, seconds: float) -> None:
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        """Move it."""
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            TimeoutError: No time is left.
        """
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class StalledError(TimeoutError):
    """Nothing came for so long, though there was time left.

    Args:
        seconds: How long.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing came for {seconds:g} s")
        self.seconds = seconds


class TimedReader(io.RawIOBase):
    """What comes from a socket, as a raw file.

    Args:
        sock: The socket. It stays open as long as this does.
        deadline: Until when a byte must have come.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._open = sock.makefile("rb", buffering=0)
        self._deadline = deadline
        self._patience = math.inf

    @contextmanager
    def impatient(self, seconds: float) -> Iterator[None]:
        """Wait for no byte longer than this, as long as it lasts."""
        self._patience = seconds
        try:
            yield
        finally:
            self._patience = math.inf

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what is there, or wait for it until the deadline.

        Raises:
            StalledError: It did not come for as long as it is waited for at most.
            TimeoutError: It did not come until the deadline.
        """
        left = self._deadline.left()
        self._socket.settimeout(min(left, self._patience))
        try:
            return self._socket.recv_into(
                buffer
            )  # a file of it would be of no use any more once it had timed out
        except TimeoutError as error:
            if self._patience < left:
                raise StalledError(self._patience) from error
            raise

    def close(self) -> None:
        """Let go of the socket."""
        self._open.close()
        super().close()


class TimedSocket:
    """As much of a socket as `http.client` uses.

    Args:
        sock: The socket.
        deadline: Of all that is sent and received.
    """

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._socket = sock
        self._deadline = deadline

    def sendall(self, data: Any) -> None:
        """Send all, before the deadline."""
        self._socket.settimeout(self._deadline.left())
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what comes, as a file; the mode is always `rb`."""
        return io.BufferedReader(TimedReader(self._socket, self._deadline))

    def fileno(self) -> int:
        """Return its descriptor, by which it is waited for."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close it, as soon as no file of it is open any more."""
        self._socket.close()
