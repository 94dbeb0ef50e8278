"""What an isolated plugin does to its process is an exception here, and nothing else."""

import gc
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.errors import NativeLibraryError, OpError, PluginCrashError, SharedMemoryError
from brainsmith.native import open_library
from brainsmith.native.isolation.connection import WorkerConnection
from brainsmith.native.isolation.isolated_library import open_isolated
from brainsmith.native.isolation.pool import Pool
from brainsmith.native.isolation.worker_process import Worker
from brainsmith.plugin.process_ends import WorkerEndedError
from tests.native.building import compile_c
from tests.native.isolation.pool_sizes import bytes_used, pool_of
from tests.plugin.installed import run_python

X = np.float32([1, 2, 3])
REST = "; that was in a process of its own, and the next call starts a new one"


def crash(op, *inputs):
    with pytest.raises(PluginCrashError) as caught:
        call_op(op, inputs or [X])
    return str(caught.value)


def is_within(function, frame):
    """Whether a frame is that of a call of this function, or of something that it calls."""
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(holds, seconds=5):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return holds()


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("segv", "ended its process by SIGSEGV in forward"),
        pytest.param("aborts", "ended its process by SIGABRT in forward", marks=pytest.mark.slow),
        ("exits", "ended its process with exit code 3 in forward"),
        pytest.param("half", "ended its process by SIGABRT in forward", marks=pytest.mark.slow),
        ("crashing_shape", "ended its process by SIGABRT in output_shape"),
    ],
)
def test_a_crash_names_plugin_and_operation(bad, op, name, how):
    first = bad.pid
    assert crash(op(name)) == f"operation {name!r} of native plugin {op(name).plugin} {how}{REST}"
    assert bad.pid is None
    assert not is_alive(first)
    assert call_op(op("twice"), [X]).tolist() == [2, 4, 6]
    assert bad.pid != first
    gc.collect()  # what pytest knows of the exception
    assert bytes_used(pool_of(bad)) == 0


def test_a_crash_in_a_gradient(op):
    with pytest.raises(PluginCrashError) as caught:
        op("crashing_gradient").backward(X, [X], X)
    assert str(caught.value) == (
        f"operation 'crashing_gradient' of native plugin {op('twice').plugin} ended its process by SIGABRT in "
        f"backward{REST}"
    )


def test_what_is_late_is_ended(bad, op):
    waiting = bad._worker.connection  # the limit of the next call alone: starting Python takes longer
    waiting.time_limit, waiting._milliseconds = 0.05, 50
    pid = bad.pid
    assert crash(op("loops")) == (
        f"operation 'loops' of native plugin {op('loops').plugin} did not answer within 0.05 s in forward{REST}"
    )
    assert not is_alive(pid)


def test_what_closes_its_channel_is_ended(bad, monkeypatch):
    """Where it does not end by itself: this one is stopped."""
    monkeypatch.setattr("brainsmith.native.isolation.connection.PATIENCE", 0.01)
    connection, pid = bad._worker.connection, bad.pid
    os.kill(pid, signal.SIGSTOP)
    connection._channel.shutdown(socket.SHUT_RDWR)
    with pytest.raises(WorkerEndedError, match=r"^closed the channel to its host$"):
        connection.receive()
    assert not is_alive(pid)


LATE = "did not answer within 0.5 s"
# Without its channel: found at once where the worker's thread that watches the channel does not hold it open yet.
CUT = f"{LATE}|closed the channel to its host|ended its process by SIGKILL"


@pytest.mark.parametrize(("name", "how"), [("loops", LATE), ("closes", CUT)], ids=["loops", "closes"])
@pytest.mark.slow
def test_what_does_not_end_is_ended(bad_library, name, how):
    bad = open_isolated(bad_library)
    waiting = (
        bad._worker.connection
    )  # the limit of the next call alone: a busy machine takes longer to start Python
    waiting.time_limit, waiting._milliseconds = 0.5, 500
    by_name = {one.name: one for one in bad.ops}
    pid, begin = bad.pid, time.monotonic()
    before = re.escape(f"operation {name!r} of native plugin {by_name[name].plugin} ")
    assert re.fullmatch(f"{before}({how}) in forward{REST}", crash(by_name[name]))
    assert time.monotonic() - begin < 20
    assert not is_alive(pid)
    assert call_op(by_name["twice"], [X]).tolist() == [2, 4, 6]
    bad.close()


def test_an_input_cannot_be_written(op):
    x = ops.shared_like(X)
    assert "ended its process by SIGSEGV in forward" in crash(op("writes_input"), x)
    assert x.tolist() == [1, 2, 3]


def test_a_worker_that_ended_between_two_calls_is_replaced_silently(bad, op):
    os.kill(bad.pid, signal.SIGKILL)
    wait_until(lambda: bad._worker.connection._child.has_ended(0))
    assert call_op(op("twice"), [X]).tolist() == [2, 4, 6]


def test_a_process_that_the_plugin_started_ends_with_its_worker(bad, op):
    call_op(op("forks"), [np.float32([1, 2])])
    with open(f"/proc/{bad.pid}/task/{bad.pid}/children") as file:
        (child,) = map(int, file.read().split())
    assert "by SIGABRT" in crash(op("aborts"))
    assert wait_until(lambda: not is_running(child))


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_a_plugin_prints_does_not_mix_with_the_answers(bad_library, capfd):
    bad = open_isolated(bad_library)
    (prints,) = [one for one in bad.ops if one.name == "prints"]
    assert call_op(prints, [X]).tolist() == [2, 4, 6]
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("on standard output\n", "on standard error\n")
    bad.close()
    assert capfd.readouterr().out == "destroyed\n"


@pytest.mark.slow
def test_nothing_is_left_open_after_crashes_and_calls(bad, op):
    def files():
        gc.collect()  # what earlier tests left to it
        return len(os.listdir("/proc/self/fd"))

    x = ops.shared_like(X)
    crash(op("aborts"))
    call_op(op("twice"), [x])
    before, threads = files(), len(os.listdir("/proc/self/task"))
    for _ in range(5):
        crash(op("segv"), x)
        for _ in range(200):
            call_op(op("twice"), [x])
    assert files() == before
    bad.close()
    del x
    assert files() <= before
    assert len(os.listdir("/proc/self/task")) <= threads


@pytest.mark.slow
def test_eight_threads_get_their_own_results(bad, op):
    wrong, ended = [], []

    def work(mark):
        run = op("twice")
        for at in range(60):
            x = np.full(50 + at, mark, np.float32)
            if not (call_op(run, [x if at % 2 else ops.shared_like(x)]) == 2 * mark).all():
                wrong.append(mark)
        ended.append(mark)

    in_threads(work)
    assert (wrong, sorted(ended)) == ([], list(range(8)))


@pytest.mark.slow
def test_eight_threads_and_crashes_among_them(bad, op):
    crashes, results = [], []

    def work(mark):
        for at in range(6):
            if (mark + at) % 4 == 0:
                crashes.append(crash(op("aborts")))
            else:
                results.append(call_op(op("twice"), [np.float32([mark])]).tolist() == [2 * mark])

    in_threads(work)
    assert all(results)
    assert (len(results), len(set(crashes)), len(crashes)) == (36, 1, 12)


def test_closing_while_eight_threads_call(bad, op):
    results, errors = [], set()

    def work(mark):
        try:
            while True:
                results.append(call_op(op("sleeps"), [np.float32([1])]).tolist() == [2])
        except OpError as error:
            errors.add(str(error))

    threads = in_threads(work, join=False)
    wait_until(lambda: len(results) > 8)
    bad.close()
    for thread in threads:
        thread.join(20)
    assert all(results)
    assert errors == {f"Operation 'sleeps' was removed: native plugin {op('sleeps').plugin} was unloaded"}


def test_a_call_that_has_begun_ends_though_the_library_is_closed_meanwhile(bad, op, monkeypatch):
    answer, closing = Worker._answer, threading.Thread(target=bad.close)

    def answer_late(worker, *given):
        closing.start()
        assert wait_until(lambda: worker.closed)
        return answer(worker, *given)

    monkeypatch.setattr(Worker, "_answer", answer_late)
    assert call_op(op("twice"), [X]).tolist() == [2, 4, 6]
    closing.join(20)
    with pytest.raises(OpError, match=r"^Operation 'twice' was removed: "):
        call_op(op("twice"), [X])


def in_threads(work, join=True):
    threads = [threading.Thread(target=work, args=(mark,), daemon=True) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads if join else ():
        thread.join(30)
    return threads


@pytest.mark.slow
def test_a_library_that_nobody_holds_ends_its_worker(bad_library):
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    library = open_isolated(bad_library, time_limit=float("inf"))
    pid = library.pid
    del library
    gc.collect()
    assert not is_running(pid)
    assert len(os.listdir("/proc/self/fd")) == files


@pytest.mark.slow
def test_a_finaliser_that_the_collector_runs_after_the_worker_ended_is_told(bad_library):
    said = []

    class Holder:
        def __del__(self):
            try:
                call_op(self.op, [X])
            except OpError as error:
                said.append(str(error))

    holder = Holder()
    holder.op, holder.itself = open_isolated(bad_library).ops[0], holder
    plugin = holder.op.plugin
    del holder
    gc.collect()
    assert said == [f"Operation 'twice' was removed: native plugin {plugin} was unloaded"]


@pytest.mark.slow
def test_what_was_closed_keeps_no_memory_open(bad_library):
    gc.collect()
    gc.disable()
    try:
        x = ops.shared_like(X)  # the memory of this process's own stays
        files = len(os.listdir("/proc/self/fd"))
        library = open_isolated(bad_library)
        result = call_op(library.ops[0], [x])
        library.close()
        assert result.tolist() == [2, 4, 6]
        del result
        assert len(os.listdir("/proc/self/fd")) == files
    finally:
        gc.enable()


def test_a_signal_handler_in_the_midst_of_a_call_is_refused(bad, op):
    """It would wait for its own thread, for ever."""
    said = []

    def handle(number, frame):
        if said or not is_within(
            WorkerConnection.receive, frame
        ):  # a signal comes when it likes: between two calls, too
            return
        for work in (lambda: call_op(op("twice"), [X]), bad.close):
            try:
                work()
            except (OpError, NativeLibraryError) as error:
                said.append(str(error))

    before = signal.signal(signal.SIGALRM, handle)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        while not said:
            assert call_op(op("sleeps"), [X]).tolist() == [2, 4, 6]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    interrupted = "a signal handler or finaliser interrupted its own thread in a call of"
    assert said == [
        f"Operation 'twice' cannot be called here: {interrupted} native plugin {op('twice').plugin}, "
        "whose process does one at a time",
        f"native plugin {bad.name!r} cannot be unloaded here: {interrupted} it",
    ]
    assert call_op(op("twice"), [X]).tolist() == [2, 4, 6]


def test_a_signal_handler_in_the_midst_of_getting_memory_is_refused(monkeypatch):
    pool, said = Pool(), []

    def interrupted(size):
        with pytest.raises(SharedMemoryError) as caught:
            pool.empty((1,), np.dtype(np.float32))
        said.append(str(caught.value))
        return find(size)

    find = pool._find
    monkeypatch.setattr(pool, "_find", interrupted)
    assert pool.empty((3,), np.dtype(np.float32)).shape == (3,)
    assert said == [
        "a signal handler or finaliser cannot allocate shared memory here: it interrupted its own thread "
        "while that was allocating some"
    ]
    gc.collect()  # what pytest knows of the exception
    assert bytes_used(pool) == 0


def test_a_limit_of_files_is_said(bad_library):
    code = f"""
    import json, os, resource
    from brainsmith.native.isolation.isolated_library import open_isolated
    from brainsmith.errors import NativeLibraryError
    library = open_isolated({str(bad_library)!r})
    library.ops[0].forward([1.0])
    kill = os.kill(library.pid, 9)
    used = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used - 1, used - 1))
    library._worker.connection.end()
    held = []
    try:
        while True:
            held.append(os.dup(0))
    except OSError:
        pass
    try:
        library.ops[0].forward([1.0])
    except NativeLibraryError as error:
        print(json.dumps(str(error)))
    """
    assert run_python(code) == (
        "no process can be started for a native plugin: [Errno 24] Too many open files; "
        "too many files may be open (ulimit -n)"
    )


HOST = """
import os, sys, time
import numpy as np
from brainsmith.native import open_library
from brainsmith.native.isolation.isolated_library import open_isolated
library = open_isolated({path!r})
by_name = {{one.name: one for one in library.ops}}
print(library.pid, flush=True)
{use}
"""


def host(path, use):
    program = HOST.format(path=str(path), use=textwrap.dedent(use))
    # Without a buffer: what is read ahead of a line here would be missing in `finish`.
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    worker = 0
    for line in process.stdout:
        if line.strip().isdigit():
            worker = int(line)
            break
    assert worker, process.stderr.read()
    return process, worker


def finish(process):
    out, err = process.communicate(timeout=30)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("use", ["time.sleep(60)", "by_name['loops'].forward(np.ones(1, np.float32))"])
@pytest.mark.slow
def test_a_worker_ends_when_its_host_is_killed(bad_library, use):
    process, worker = host(bad_library, use)
    time.sleep(0.3)
    process.kill()
    finish(process)
    assert wait_until(lambda: not is_running(worker))


@pytest.mark.slow
def test_a_worker_ends_with_the_interpreter(bad_library):
    process, worker = host(bad_library, "print(by_name['twice'].forward(np.ones(1, np.float32)))")
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    assert "[2.]" in out.splitlines()  # the library's own text may come first
    assert not is_running(worker)


@pytest.mark.slow
def test_ctrl_c_ends_a_call_and_leaves_no_worker(bad_library):
    use = """
    try:
        print("begin", flush=True)
        by_name["loops"].forward(np.ones(1, np.float32))
    except KeyboardInterrupt:
        print(by_name["twice"].forward(np.ones(1, np.float32)), library.pid)
    """
    process, worker = host(bad_library, use)
    assert process.stdout.readline() == b"begin\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    result, second = out.splitlines()[0].split()
    assert (result, int(second) != worker) == ("[2.]", True)
    assert not is_running(worker)
    assert not is_running(int(second))


@pytest.mark.slow
def test_a_forked_child_has_a_worker_of_its_own(bad_library):
    use = """
    child = os.fork()
    value = by_name["twice"].forward(np.float32([3]))[0]
    if child:
        status = os.waitpid(child, 0)[1]
        own = by_name["process"].forward(np.zeros(2, np.float32)).view(np.int64)[0]
        print(value, status, own == library.pid, flush=True)
    """
    process, worker = host(bad_library, use)
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    assert "6.0 0 True" in out
    assert not is_running(worker)


@pytest.mark.slow
def test_a_child_that_is_forked_during_a_call_does_not_wait_for_it(bad_library):
    use = """
    import threading
    calling = threading.Thread(target=by_name["sleeps"].forward, args=(np.float32([400]),))
    calling.start()
    time.sleep(0.1)
    child = os.fork()
    if not child:
        value = by_name["twice"].forward(np.float32([3]))[0]
        os._exit(0 if value == 6 else 3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    calling.join()
    print(by_name["twice"].forward(np.float32([5]))[0], flush=True)
    """
    process, worker = host(bad_library, use)
    code, out, err = finish(process)
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line != "destroyed"] == ["0", "10.0"]
    assert not is_running(worker)


def test_a_library_that_crashes_when_it_is_loaded(tmp_path):
    path = tmp_path / "dies.so"
    source = tmp_path / "dies.c"
    source.write_text(
        '#include "brainsmith_plugin.h"\n#include <stdlib.h>\n'
        "BS_EXPORT const bs_plugin_table *create_plugin(const bs_host *host) { (void)host; abort(); }\n"
    )
    compile_c(source, path)
    with pytest.raises(PluginCrashError) as caught:
        open_isolated(path)
    with pytest.raises(PluginCrashError) as here:
        open_library(path)
    assert str(caught.value) == str(here.value)
    assert "SIGABRT" in str(caught.value)
