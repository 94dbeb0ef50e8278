"""Child processes: what they print, and what is said when they fail."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from brainsmith.errors import ToolError
from brainsmith.plugin.processes import run, run_python, start_python


def test_what_a_program_prints_is_returned():
    assert run([sys.executable, "-c", "print(input())"], timeout=30, input_text="hello\n") == "hello\n"


def test_a_python_program_has_this_one_s_search_path(site):
    site.write("only_here.py", "VALUE = 7\n")
    assert run_python("import only_here; print(only_here.VALUE)", timeout=30, what="it") == "7\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["no-such-program", "x"], "no-such-program cannot be started: 'no-such-program' is not there"),
        (
            [sys.executable, "-c", "import sys; sys.exit(3)"],
            f"{sys.executable} failed with exit code 3: it printed nothing",
        ),
        (
            [sys.executable, "-c", "raise ValueError('why')"],
            f"{sys.executable} failed with exit code 1: ValueError: why",
        ),
        (
            [sys.executable, "-c", "import time; time.sleep(60)"],
            f"{sys.executable} did not end within 1 seconds",
        ),
    ],
)
def test_a_failure_says_what_and_why(command, message):
    with pytest.raises(ToolError) as caught:
        run(command, timeout=1)
    assert str(caught.value) == message


def test_no_shell_is_involved(tmp_path):
    assert (
        run([sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME; echo x"], timeout=30)
        == "$HOME; echo x\n"
    )


def test_a_child_answers_until_it_is_ended():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = start_python(
            f"import os\nos.write({theirs.fileno()}, b'ready')\nos.read({theirs.fileno()}, 1)",
            [theirs.fileno()],
        )
        assert ours.recv(10) == b"ready"
        assert not child.has_ended(0)
        assert os.getsid(child.pid) == child.pid
        assert (child.end(), child.end()) == (-9, -9)
        assert child.has_ended(0)


@pytest.mark.parametrize(
    ("program", "code"),
    [("raise SystemExit(3)", 3), ("pass", 0), ("import os\nos.kill(os.getpid(), 11)", -11)],
)
def test_how_a_child_ended_by_itself_is_kept(program, code):
    child = start_python(program, [])
    assert child.has_ended(30)
    assert child.end() == code


def test_what_a_child_started_ends_with_it():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            child = start_python(
                f"import os, time\nos.fork()\nos.write({theirs.fileno()}, b'x')\ntime.sleep(60)",
                [theirs.fileno()],
            )
        ours.settimeout(30)
        assert ours.recv(1) + ours.recv(1) == b"xx"
        child.end()
        assert ours.recv(1) == b""


def test_a_child_that_cannot_be_started_is_said(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ToolError) as caught:
        start_python("pass", [])
    assert str(caught.value) == (
        "no process can be started: [Errno 2] No such file or directory: '/no/such/python'"
    )


def test_whatever_else_a_start_raises_is_raised(monkeypatch):
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(TypeError):
        start_python("pass", [])


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_start_that_is_interrupted_twice_leaves_no_process(monkeypatch, error):
    started = []

    class Slow(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            started.append(self)
            for _ in range(2):
                time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGALRM)
            time.sleep(0.1)

    def interrupt(number, frame):
        raise error("stop")

    monkeypatch.setattr(subprocess, "Popen", Slow)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(error, match="stop"):
            start_python("import time\ntime.sleep(60)", [])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert started[0].returncode == -9
