"""Start child processes: the one module that does."""

from __future__ import annotations

import os
import sys
import time
from _thread import _local

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ToolError
from brainsmith.plugin.own_thread import in_own_thread
from brainsmith.progress import BEAT, Task, has_listener, tick
from brainsmith.settings import environment_with

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from typing import Any


def run(
    command: Sequence[str],
    *,
    timeout: float,
    what: str = "",
    input_text: str | None = None,
    variables: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> str:
    """Run a command and return what it prints on standard output.

    It has a session of its own, and whatever ends the wait for it (Ctrl-C, the timeout, an error) ends it and all that it
    started: a compiler's driver would leave the compiler running.

    Args:
        command: The program and its arguments; no shell is involved.
        timeout: Seconds after which it is ended.
        what: How messages name it; the program's name by default.
        input_text: What it reads on standard input.
        variables: What its environment has besides this process's.
        folder: Its current folder; this process's by default.

    Raises:
        ToolError: It does not exist, fails, or takes too long; `output` is all that it printed.
    """
    import subprocess  # costs as much as a cached discovery

    name = what or command[0]
    try:
        process = _started(
            list(command),
            stdin=subprocess.DEVNULL if input_text is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment_with(variables) if variables else None,
            cwd=folder,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ToolError(f"{name} cannot be started: {command[0]!r} does not exist") from error
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{name} cannot be started: {getattr(error, 'strerror', None) or error}") from error
    child = Child(process)
    Workers.note(child)
    try:
        with Task(what or command[0].rpartition("/")[2]):
            output, errors = _what_it_prints(process, input_text, timeout)
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} did not end within {timeout:g} seconds") from error
    finally:  # a compiler's own children too, where this is interrupted or takes too long
        _discard(process)
    if process.returncode != 0:
        from brainsmith.plugin.process_ends import describe_failure  # hardly any fails

        last = (errors or output).strip().splitlines()
        how = describe_failure(process.returncode)
        failure = ToolError(f"{name} {how}: {last[-1] if last else 'it printed nothing'}")
        failure.output = output + errors
        raise failure
    return str(output)


def processors() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """Threads that run commands side by side: a context manager, which gives a pool of them and waits for them at its end.

    Whatever ends the wait for them earlier (Ctrl-C, an error) ends their commands and all that those started, and what
    asks `go_on` as it works.

    Args:
        count: How many threads.
    """

    _of_thread = _local()

    def __init__(self, count: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # only where something is compiled

        self._pool = ThreadPoolExecutor(count, initializer=self._begin_thread)
        self._children: list[Child] = []
        self._is_over = False

    def __enter__(self) -> ThreadPoolExecutor:
        return self._pool

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            if kind is not None:
                self._pool.shutdown(wait=False, cancel_futures=True)
                self._is_over = True
                for child in list(self._children):
                    child.end()
        finally:
            self._pool.shutdown()

    def _begin_thread(self) -> None:
        self._of_thread.workers = self

    @classmethod
    def go_on(cls) -> None:
        """Return if this thread is no worker, or one that somebody waits for.

        Raises:
            CancelledError: Nobody does any more.
        """
        workers = getattr(cls._of_thread, "workers", None)
        if workers is not None and workers._is_over:
            from concurrent.futures import CancelledError  # only where something is compiled or simulated

            raise CancelledError

    @classmethod
    def note(cls, child: Child) -> None:
        """Let a command be one of its thread's workers, if the thread is one of such; it is ended if they are."""
        workers = getattr(cls._of_thread, "workers", None)
        if workers is not None:
            workers._children.append(child)
            if workers._is_over:
                child.end()


def _what_it_prints(
    process: subprocess.Popen[Any], input_text: str | None, timeout: float
) -> tuple[str, str]:
    """Wait for a process, and let who listens hear that it still runs.

    Raises:
        subprocess.TimeoutExpired: It does not end in time.
    """
    import subprocess  # costs as much as a cached discovery

    until = time.monotonic() + timeout
    while has_listener() and until - time.monotonic() > BEAT:
        try:
            output, errors = process.communicate(input_text, BEAT)
            return output, errors
        except subprocess.TimeoutExpired:
            input_text = None  # what is not written yet goes on being written
            tick()
    output, errors = process.communicate(input_text, max(0.0, until - time.monotonic()))
    return output, errors


def run_python(program: str, *, timeout: float, what: str, folder: str | None = None) -> str:
    """Run a Python program in a fresh interpreter with this one's search path; return what it prints."""
    return run([sys.executable, "-c", _with_search_path(program)], timeout=timeout, what=what, folder=folder)


def _with_search_path(program: str) -> str:
    """Return a program that has this interpreter's search path."""
    return f"import sys\nsys.path[:] = {sys.path!r}\n{program}"


class Child:
    """A process in a session of its own, which runs until it is ended: `start_python` makes it.

    Attributes:
        pid: Its number; it is also the number of its group, in which whatever it starts is too.
    """

    def __init__(self, process: subprocess.Popen[Any]) -> None:
        self._process = process
        self.pid = process.pid

    def has_ended(self, seconds: float) -> bool:
        """Wait for some seconds until it has ended by itself; tell whether it has."""
        until = time.monotonic() + seconds
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT  # it is not reaped, so that its number stays its own
        while self._process.returncode is None:
            try:
                if os.waitid(os.P_PID, self.pid, flags) is not None:
                    return True
            except ChildProcessError:  # whoever asked for all children got this one
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.001)
        return True

    def end(self) -> int:
        """End it and all that it started, and return how it ended: its exit code, or a signal as a negative number.

        It may have ended before. A second call returns the same.
        """
        import signal  # makes enumerations: only where something is ended

        if self._process.returncode is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return self._process.wait()


def start_python(program: str, descriptors: Sequence[int]) -> Child:
    """Start a Python program that answers as long as it is wanted; it has this interpreter's search path.

    It begins without `site`, in a session of its own (a terminal's Ctrl-C does not reach it), reads nothing on standard
    input, and writes where this process does.

    Args:
        program: Its text.
        descriptors: Open files that it gets, under the same numbers.

    Raises:
        ToolError: No process can be started.
    """
    import subprocess  # costs as much as a cached discovery

    options = ["-I", "-S", *(["-B"] if sys.dont_write_bytecode else [])]
    command = [sys.executable, *options, "-c", _with_search_path(program)]
    try:
        own = {"pass_fds": tuple(descriptors), "start_new_session": True}
        return Child(_started(command, stdin=subprocess.DEVNULL, **own))
    except (OSError, RuntimeError) as error:
        raise ToolError(f"no process can be started: {error}") from error


def start_program(command: Sequence[str], descriptors: Sequence[int], output: int) -> Child:
    """Start a program that answers as long as it is wanted, in a session of its own; it reads nothing on standard input.

    Args:
        command: The program and its arguments.
        descriptors: Open files that it gets, under the same numbers.
        output: The open file that it writes to.

    Raises:
        ToolError: It cannot be started.
    """
    import subprocess  # costs as much as a cached discovery

    streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    try:
        return Child(_started(list(command), **streams, pass_fds=tuple(descriptors), start_new_session=True))
    except (OSError, RuntimeError) as error:
        raise ToolError(f"{command[0]} cannot be started: {error}") from error


def _started(command: list[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process in a thread of its own: Ctrl-C in the midst of a start would leave one of which nobody knows."""
    import subprocess  # costs as much as a cached discovery

    return in_own_thread(lambda: subprocess.Popen(command, **options), _discard)


def _discard(process: subprocess.Popen[Any]) -> None:
    """End a process and all that it started, and close its pipes, which nobody reads any more."""
    Child(process).end()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
