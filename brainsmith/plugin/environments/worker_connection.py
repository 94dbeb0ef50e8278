"""This process's end of a worker of another environment: a process, two pipes, and what it prints past them."""

from __future__ import annotations

import os
import select
import shutil
import sys
import tempfile
import time
import weakref
from contextlib import ExitStack

from brainsmith import TYPE_CHECKING
from brainsmith.plugin.environments import worker_wire
from brainsmith.plugin.process_ends import WorkerEndedError, describe_end
from brainsmith.plugin.processes import Workers, start_program
from brainsmith.progress import BEAT, has_listener, tick
from brainsmith.store.audit import RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Passed = TypeVar("_Passed")

    from brainsmith.plugin.processes import Child

    Message = tuple[dict[str, Any], list[bytes]]

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker_script.py")

_PART = 1 << 20
_PIPE = 1 << 20
_PATIENCE = 1.0
_MEMORY = "/dev/shm"
_LAST = 8
"""Lines of what a worker printed last that a message shows."""

_MOST_OUTPUT = 1 << 24


class EnvironmentConnection:
    """A running worker. One thread at a time may use it.

    Args:
        python: The interpreter of its environment.

    Raises:
        ToolError: It cannot be started.
        OSError: Likewise, as there can be no pipe or no folder.
    """

    def __init__(self, python: str) -> None:
        self._shown = 0
        with ExitStack() as ours, ExitStack() as theirs:
            self._output = ours.enter_context(tempfile.TemporaryFile())
            asked, self._ask = os.pipe()
            ours.callback(os.close, self._ask)
            theirs.callback(os.close, asked)
            self._hear, answers = os.pipe()
            ours.callback(os.close, self._hear)
            theirs.callback(os.close, answers)
            self._folder = _shared_folder()
            ours.callback(shutil.rmtree, self._folder, ignore_errors=True)
            command = [python, "-I", SCRIPT, str(asked), str(answers), self._folder]
            self._child = start_program(command, (asked, answers), self._output.fileno())
            ours.pop_all()
        for descriptor in (self._ask, self._hear):
            os.set_blocking(descriptor, False)
            _widen(descriptor)
        ends = (self._child, self._ask, self._hear, self._output, self._folder)
        self.end = weakref.finalize(self, _end, *ends)
        self._poll = select.poll()
        self._poll.register(self._hear, select.POLLIN)
        self._until = 0.0
        self._limit = 0.0

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._child.has_ended(0)

    def begin(self, limit: float) -> None:
        """Let what follows take so many seconds; 0 for any."""
        self._limit = limit
        self._until = time.monotonic() + limit if limit else 0.0

    def send(self, header: dict[str, Any], blobs: list[bytes]) -> None:
        """Send a message.

        Raises:
            WorkerEndedError: It has ended, or takes too long.
        """
        room = select.poll()
        room.register(self._ask, select.POLLOUT)
        for part in _aside(lambda: worker_wire.packed(header, blobs, self._folder)):
            rest = memoryview(part)
            while rest:
                has_ended = self._wait(room)
                try:
                    rest = rest[os.write(self._ask, rest[:_PART]) :]
                except OSError as error:
                    if has_ended or not isinstance(error, BlockingIOError):
                        raise WorkerEndedError(self._how_it_ended(), received=False) from None

    def receive(self) -> Message:
        """Wait for a message.

        Raises:
            WorkerEndedError: None comes, or not in time.
        """
        received = _aside(lambda: worker_wire.unpack(self._read, self._folder))
        if received is None:
            raise WorkerEndedError(self._how_it_ended())
        return received

    def _read(self, count: int) -> bytes | None:
        parts = []
        while count:
            has_ended = self._wait(self._poll)
            try:
                part = os.read(self._hear, min(count, _PART))
            except BlockingIOError:
                if not has_ended:
                    continue
                part = b""
            if not part:
                return None
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, poll: select.poll) -> bool:
        """Wait until a pipe can be used, or tell that the worker has ended: a process that it forked may hold the pipe.

        Who listens hears that this waits, and who is not wanted any more gives up.
        """
        while not poll.poll(BEAT * 1000):
            if self.has_ended:
                return True
            Workers.go_on()
            if has_listener():
                tick()
            if self._until and time.monotonic() >= self._until:
                raise WorkerEndedError(f"did not end within {self._limit:g} s")
        return False

    def show_output(self) -> None:
        """Print what was written past Python's own streams: by native code, and by programs that a plugin started."""
        text = self._printed(self._shown)
        if text:
            self._shown += len(text)
            print(text.decode(errors="replace"), end="", file=sys.stderr)
        if self._shown > _MOST_OUTPUT:
            os.ftruncate(self._output.fileno(), 0)
            os.lseek(self._output.fileno(), 0, os.SEEK_SET)  # the worker writes where this is
            self._shown = 0

    def _printed(self, start: int) -> bytes:
        file = self._output.fileno()
        return os.pread(file, max(0, os.fstat(file).st_size - start), start)

    def _how_it_ended(self) -> str:
        by_itself = self._child.has_ended(_PATIENCE)
        code = self._child.end()
        lines = self._printed(self._shown).decode(errors="replace").rstrip().splitlines()[-_LAST:]
        self.close()
        last = "\n  it printed last:\n" + "\n".join(f"    {line}" for line in lines) if lines else ""
        return f"{describe_end(code) if by_itself else 'closed its connection'}{last}"

    def close(self) -> None:
        """Let it end by itself, and else end it."""
        if self.end.alive:
            self.end()

    def abandon(self) -> None:
        """Close this process's ends and no more: the worker belongs to the process that this one was forked from."""
        self.end.detach()
        os.close(self._ask)
        os.close(self._hear)
        self._output.close()


def _end(child: Child, ask: int, hear: int, output: Any, folder: str) -> None:
    os.close(ask)
    os.close(hear)
    child.end()
    output.close()
    shutil.rmtree(folder, ignore_errors=True)


def _shared_folder() -> str:
    """Return a new folder that this user alone may enter, for what both ends pass: in memory where there is room."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None
    return tempfile.mkdtemp(prefix="brainsmith-", dir=place)


def _aside(function: Callable[[], _Passed]) -> _Passed:
    """Return what a function does: what it opens is no read of the step that waits for it."""
    found: list[_Passed] = []
    RUNNING.aside(lambda: found.append(function()))
    return found[0]


def _widen(pipe: int) -> None:
    """Let a pipe hold more, where the system allows it: a model passes in fewer parts."""
    import fcntl  # only where a worker is started

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
        except OSError:  # this user's pipes hold enough already
            return
