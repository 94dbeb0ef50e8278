"""Start child processes: the one module that does."""

from __future__ import annotations

import sys

from brainsmith.errors import ToolError
from brainsmith.settings import environment_with

TYPE_CHECKING = False
if TYPE_CHECKING:
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
