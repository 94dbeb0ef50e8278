"""Start child processes: the one module that does."""

from __future__ import annotations

import sys

from brainsmith.errors import ToolError
from brainsmith.settings import environment_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence


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

    Args:
        command: The program and its arguments; no shell is involved.
        timeout: Seconds after which it is ended.
        what: How messages name it; the program's name by default.
        input_text: What it reads on standard input.
        variables: What its environment has besides this process's.
        folder: Its current folder; this process's by default.

    Raises:
        ToolError: It is not there, fails, or takes too long; `output` is all that it printed.
    """
    import subprocess

    name = what or command[0]
    environment = environment_with(variables) if variables else None
    try:
        done = subprocess.run(
            list(command),
            capture_output=True,
            text=True,
            timeout=timeout,
            input=input_text,
            env=environment,
            cwd=folder,
            check=False,
        )
    except FileNotFoundError as error:
        raise ToolError(f"{name} cannot be started: {command[0]!r} is not there") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} did not end within {timeout:g} seconds") from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()
        failure = ToolError(
            f"{name} failed with exit code {done.returncode}: {last[-1] if last else 'it printed nothing'}"
        )
        failure.output = done.stdout + done.stderr
        raise failure
    return done.stdout


def run_python(program: str, *, timeout: float, what: str, folder: str | None = None) -> str:
    """Run a Python program in a fresh interpreter with this one's search path; return what it prints."""
    prelude = f"import sys\nsys.path[:] = {sys.path!r}\n"
    return run([sys.executable, "-c", prelude + program], timeout=timeout, what=what, folder=folder)


class Child:
    """A process that runs until it is ended: `start_python` makes it.

    Attributes:
        pid: Its number; it is also the number of its group, in which whatever it starts is too.
    """

    __slots__ = ("_process", "pid")

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    def has_ended(self, seconds: float) -> bool:
        """Wait until it has ended by itself, so many seconds at most; tell whether it has."""
        import os
        import time

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
        import os
        import signal

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
    import subprocess
    from _thread import allocate_lock, start_new_thread

    prelude = f"import sys\nsys.path[:] = {sys.path!r}\n"
    command = [
        sys.executable,
        "-I",
        "-S",
        *(["-B"] if sys.dont_write_bytecode else []),
        "-c",
        prelude + program,
    ]
    ends: list[Child | BaseException] = []
    running = allocate_lock()
    running.acquire()

    def start() -> None:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, pass_fds=tuple(descriptors), start_new_session=True
            )
            ends.append(Child(process))
        except BaseException as error:  # noqa: BLE001  (it is raised in the thread that waits)
            ends.append(error)
        finally:
            running.release()

    # In a thread of its own, and waited for by a lock (an interrupted `Thread.join` believes that its thread has ended):
    # Ctrl-C in the midst of a start would leave a process of which nobody knows.
    try:
        try:
            start_new_thread(start, ())
        except RuntimeError as error:
            ends.append(error)
        running.acquire(blocking=not ends)
        end = ends[0]
        if isinstance(end, Child):
            return end
    except BaseException:
        _end_what_starts(ends)
        raise
    if isinstance(end, OSError | RuntimeError):
        raise ToolError(f"no process can be started: {end}") from end
    raise end


def _end_what_starts(ends: Sequence[Child | BaseException]) -> None:
    """Wait until a start has come to its end, whatever interrupts this, and end the process."""
    import time

    while not ends:
        try:
            time.sleep(0.001)
        except BaseException:  # noqa: BLE001, S112  (a second Ctrl-C; the first is raised when this is done)
            continue
    end = ends[0]
    if isinstance(end, Child):
        end.end()
