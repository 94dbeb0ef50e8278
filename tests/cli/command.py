"""Run the command line: as users do, in a process of its own with its output in a pipe or on a terminal; or in this one."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

from brainsmith.cli.main import main

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "brainsmith")

TRANSFORM = '''\
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform


@transform(stage="tidy", description="Keep all as it is")
class KeepAll(Transformation):
    """Return the model."""

    def __init__(self, times: int = 1):
        self.times = times

    def apply(self, model):
        return model, False
'''


def brainsmith(*words, cwd=None, timeout=120, **variables):
    """Run a command with its output in pipes; a variable that is None is taken out of the environment."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env={name: value for name, value in environment.items() if value is not None},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def in_this_process(capsys, *words):
    """Run a command here, where all that it imports is imported already; return what `brainsmith` returns."""
    capsys.readouterr()
    code = main(list(words))
    shown = capsys.readouterr()
    return subprocess.CompletedProcess(words, code, shown.out, shown.err)


def on_terminal(*words, width=100, cwd=None, **variables):
    """Run a command on a terminal of some width; return its exit code and what the terminal shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm", **variables}
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")
