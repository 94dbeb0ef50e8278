"""Child processes: what they print, and what is said when they fail."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from brainsmith.errors import ToolError
from brainsmith.plugin import processes
from brainsmith.plugin.processes import Workers, run, run_python, start_python


def test_what_a_program_prints_is_returned():
    assert run([sys.executable, "-c", "print(input())"], timeout=30, input_text="hello\n") == "hello\n"


def test_a_python_program_has_this_one_s_search_path(site):
    site.write("only_here.py", "VALUE = 7\n")
    assert run_python("import only_here; print(only_here.VALUE)", timeout=30, what="it") == "7\n"


@pytest.mark.parametrize(
    ("command", "timeout", "message"),
    [
        (["no-such-program", "x"], 60, "no-such-program cannot be started: 'no-such-program' does not exist"),
        (
            [sys.executable, "-c", "import sys; sys.exit(3)"],
            60,
            f"{sys.executable} failed with exit code 3: it printed nothing",
        ),
        (
            [sys.executable, "-c", "raise ValueError('why')"],
            60,
            f"{sys.executable} failed with exit code 1: ValueError: why",
        ),
        (
            [sys.executable, "-c", "import time; time.sleep(60)"],
            0.1,
            f"{sys.executable} did not end within 0.1 seconds",
        ),
    ],
)
def test_a_failure_says_what_and_why(command, timeout, message):
    with pytest.raises(ToolError) as caught:
        run(command, timeout=timeout)
    assert str(caught.value) == message


@pytest.mark.slow
def test_a_program_that_runs_is_heard_of(heard, monkeypatch):
    monkeypatch.setattr(processes, "BEAT", 0.01)
    program = "import sys, time; time.sleep(0.1); print(input())"
    assert run([sys.executable, "-c", program], timeout=30, what="it", input_text="x\n") == "x\n"
    assert len(heard) > 2 and set(heard) == {"it"}
    with pytest.raises(ToolError, match=r"^it did not end within 0\.1 seconds$"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.1, what="it")


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


@pytest.mark.slow
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


FAMILY = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(child.pid, file=open(sys.argv[1], "w"), flush=True)
child.wait()
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def grandchild(file):
    while not (file.exists() and file.read_text().strip()):
        time.sleep(0.01)
    return int(file.read_text())


@pytest.mark.slow
def test_an_interrupted_wait_ends_the_command_and_what_it_started(tmp_path):
    file = tmp_path / "pid"
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    main = os.getpid()

    def interrupt():
        grandchild(file)
        os.kill(main, signal.SIGALRM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run([sys.executable, "-c", FAMILY, str(file)], timeout=60)
    finally:
        signal.signal(signal.SIGALRM, before)
    thread.join()
    assert_gone(grandchild(file))


def test_one_that_is_interrupted_as_it_starts_is_ended_and_its_pipes_are_closed(tmp_path, monkeypatch):
    file, started, start = tmp_path / "pid", [], subprocess.Popen
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def interrupted(*words, **options):
        started.append(start(*words, **options))
        grandchild(file)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        time.sleep(0.1)  # so it is still waited for
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            run([sys.executable, "-c", FAMILY, str(file)], timeout=60, input_text="")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert_gone(grandchild(file))
    assert [stream.closed for stream in (started[0].stdin, started[0].stdout, started[0].stderr)] == [
        True
    ] * 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, ToolError("another failed")])
def test_whatever_ends_the_wait_for_workers_ends_their_commands(tmp_path, error):
    files = [tmp_path / "1", tmp_path / "2"]

    def work(file):
        return run([sys.executable, "-c", FAMILY, str(file)], timeout=60)

    with pytest.raises(type(error) if isinstance(error, Exception) else error), Workers(2) as pool:
        running = [pool.submit(work, file) for file in files]
        waiting = pool.submit(work, tmp_path / "3")
        children = [grandchild(file) for file in files]
        raise error
    for child in children:
        assert_gone(child)
    assert waiting.cancelled()
    assert [str(one.exception()).partition(": ")[0].rpartition("/")[2] for one in running] == [
        f"{sys.executable.rpartition('/')[2]} was ended by SIGKILL, perhaps because the machine has too little memory"
    ] * 2


def test_a_worker_that_asks_ends_when_nobody_waits_for_it_any_more():
    Workers.go_on()  # no worker
    began, ended = threading.Event(), []

    def work():
        try:
            while True:
                Workers.go_on()
                began.set()
                time.sleep(0.001)
        finally:
            ended.append(True)

    with pytest.raises(KeyboardInterrupt), Workers(1) as pool:
        pool.submit(work)
        began.wait(10)
        raise KeyboardInterrupt
    assert ended == [True]


def test_a_command_that_workers_start_too_late_is_ended():
    workers = Workers(1)
    with pytest.raises(KeyboardInterrupt), workers as pool:
        workers._is_over = True
        late = pool.submit(run, [sys.executable, "-c", "import time; time.sleep(60)"], timeout=90)
        assert (
            str(late.exception())
            .partition(": ")[0]
            .endswith(" was ended by SIGKILL, perhaps because the machine has too little memory")
        )
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_command_that_takes_too_long_ends_with_what_it_started(tmp_path):
    file = tmp_path / "pid"
    with pytest.raises(ToolError, match="did not end within 1 seconds"):
        run([sys.executable, "-I", "-S", "-c", FAMILY, str(file)], timeout=1)
    assert_gone(grandchild(file))


def assert_gone(pid):
    until = time.monotonic() + 20
    while is_running(pid):
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_command_that_is_told_to_end_ends_its_compilers(tmp_path, number):
    from tests.rtl.package.packed import make_small

    folder = make_small(tmp_path / "small").write(tmp_path / "accelerator")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "brainsmith", "simulate", str(folder)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    compilers = []
    while not compilers:
        assert process.poll() is None
        compilers = [pid for pid in processes_below(process.pid) if "cc1plus" in name_of(pid)]
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "interrupted\n")
    for pid in compilers:
        assert_gone(pid)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def processes_below(root):
    """Return all descendants of a process."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, fresh = set(), {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("exit 3", "failed with exit code 3: the last words"),
        ("kill -SEGV $$", "was ended by SIGSEGV: the last words"),
        (
            "kill -KILL $$",
            "was ended by SIGKILL, perhaps because the machine has too little memory: the last words",
        ),
    ],
)
def test_a_command_says_how_it_ended(end, how):
    with pytest.raises(ToolError) as caught:
        run(["/bin/sh", "-c", f"echo the last words >&2; {end}"], timeout=10, what="g++")
    assert str(caught.value) == f"g++ {how}"
