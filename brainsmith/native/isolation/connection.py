"""The host's end of a worker: started, asked, and ended; how it ended, in words."""

from __future__ import annotations

import os
import select
import socket
import weakref
from typing import TYPE_CHECKING, Any

from brainsmith.errors import NativeLibraryError
from brainsmith.native.isolation import channel as ch
from brainsmith.plugin.process_ends import WorkerEndedError, describe_end
from brainsmith.plugin.processes import start_python

if TYPE_CHECKING:
    from collections.abc import Iterable

    from brainsmith.native.copy import LibraryCopy
    from brainsmith.native.isolation.region import Region
    from brainsmith.plugin.processes import Child

PATIENCE = 1.0
"""Seconds that a worker has to end by itself once it is no longer wanted, or has closed its channel."""

_LONGEST = 2**31 - 1
"""Milliseconds that the system can wait: 24 days."""

_ANSWERS = (ch.DONE, ch.REFUSED, ch.BROKEN)


class WorkerConnection:
    """A running worker. One thread at a time may use it.

    Args:
        copy: The library that it loads.
        place: Where the loader finds that until the first answer has come.
        host_version: What it tells the library.
        time_limit: Seconds in which it must answer.

    Raises:
        ToolError: No process can be started.
        NativeLibraryError: Likewise, as there can be no channel.
    """

    def __init__(self, copy: LibraryCopy, place: str, host_version: str, time_limit: float) -> None:
        self.time_limit = time_limit
        self._milliseconds = min(time_limit * 1000, _LONGEST)
        self._known: dict[int, weakref.ref[Region]] = {}
        try:
            self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            raise _cannot_start(error) from error
        try:
            with theirs:
                self._child = start_python(
                    "from brainsmith.native.isolation.worker_child import main\n"
                    f"main({theirs.fileno()}, {place!r}, {copy.beside!r}, {host_version!r})\n",
                    [theirs.fileno(), copy.descriptor],
                )
        except BaseException:
            self._channel.close()
            raise
        watched: list[int] = []
        self._end = weakref.finalize(self, _end, self._child, self._channel, watched)
        try:  # a process that the library forked may hold the channel open, so the worker itself is watched too
            watched.append(os.pidfd_open(self._child.pid))
        except OSError as error:
            self.end()
            raise _cannot_start(error) from error
        self._poll = select.poll()
        for descriptor in (self._channel.fileno(), *watched):
            self._poll.register(descriptor, select.POLLIN)

    @property
    def pid(self) -> int:
        """The worker's process."""
        return self._child.pid

    def receive(self) -> tuple[bytes, str]:
        """Wait for an answer; `ask` does it for a command.

        Raises:
            WorkerEndedError: None came in time, or none will.
        """
        parts = []
        try:
            while ready := self._poll.poll(self._milliseconds):
                kind, text = ch.receive_part(self._channel)
                parts.append(text)
                if kind != ch.MORE:
                    break
        except OSError:
            kind = b""
        except BaseException:  # what comes later must not be taken for the answer to another question
            self.end()
            raise
        if ready and kind in _ANSWERS:
            return kind, b"".join(parts).decode(errors="replace")
        if ready:
            raise WorkerEndedError(self._how_it_ended())
        self.end()
        raise WorkerEndedError(f"did not answer within {self.time_limit:g} s")

    def ask(self, command: tuple[Any, ...], regions: Iterable[tuple[Region, bool]] = ()) -> tuple[bytes, str]:
        """Send a command, and wait for its answer.

        Args:
            command: See `channel`.
            regions: Where the command's arrays lie, and whether the worker may write there.

        Raises:
            WorkerEndedError: None came in time, or none will.
        """
        try:
            fresh = {
                region.number: (region, writable)
                for region, writable in regions
                if region.number not in self._known
            }
            if fresh:
                self._announce(list(fresh.values()))
            ch.send_command(self._channel, command)
        except OSError:
            raise WorkerEndedError(self._how_it_ended(), received=False) from None
        except BaseException:
            self.end()
            raise
        return self.receive()

    def end(self) -> None:
        """End the worker, whatever it is doing, and all that it started."""
        self._end()

    def close(self) -> None:
        """Let the library clean up, and end the worker."""
        self._channel.close()
        self._child.has_ended(min(self.time_limit, PATIENCE))
        self._end()

    def abandon(self) -> None:
        """Close this process's end and no more: the worker belongs to the process that this one was forked from."""
        self._end.detach()
        self._channel.close()

    def _announce(self, regions: list[tuple[Region, bool]]) -> None:
        freed = [number for number, region in self._known.items() if region() is None]
        if freed:
            ch.send_command(self._channel, (ch.FORGET, freed))
            for number in freed:
                del self._known[number]
        for at in range(0, len(regions), ch.MOST_FILES):
            some = regions[at : at + ch.MOST_FILES]
            described = [(region.number, region.size, writable) for region, writable in some]
            ch.send_command(self._channel, (ch.MAP, described), [region.fd for region, _ in some])
        self._known.update({region.number: weakref.ref(region) for region, _ in regions})

    def _how_it_ended(self) -> str:
        if not self._child.has_ended(PATIENCE):
            self.end()
            return "closed the channel to its host"
        self.end()
        return describe_end(self._child.end())


def _end(child: Child, channel: socket.socket, watched: list[int]) -> None:
    channel.close()
    child.end()
    while watched:
        os.close(watched.pop())


def _cannot_start(error: OSError) -> NativeLibraryError:
    return NativeLibraryError(
        f"no process can be started for a native plugin: {error}; too many files may be open (ulimit -n)"
    )
