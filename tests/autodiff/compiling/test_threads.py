"""Large arrays are computed by several threads, with the same bits as by one."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from brainsmith.autodiff.compiling import threads
from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.errors import SettingsError

CHAIN = "inputs = 1; t0 = tanh(x0); t1 = maximum(t0, 0.0); t2 = exp(t1); return t2"
ROWS = "inputs = 1; t0 = sum(x0, axis=-1, keepdims=True); t1 = divide(x0, t0); return t1"
WHOLE = "inputs = 1; t0 = sum(x0); return t0"
SPREAD = "inputs = 2; t0 = multiply(x0, x1); t1 = add(t0, 1.0); return t1"


@pytest.fixture
def processors(monkeypatch):
    """Set how many processors this process seems to have, all idle."""

    def have(count):
        monkeypatch.setattr(threads, "processors", lambda: count)
        monkeypatch.setattr(threads, "_idle", lambda: count)

    return have


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


CALLS = {
    "columns": (CHAIN, (drawn(1_000_003),)),
    "rows": (ROWS, (drawn(3001, 350),)),
    "one reduction": (WHOLE, (drawn(1_000_003),)),
    "few rows": (ROWS, (drawn(3, 400_001),)),
    "broadcast": (SPREAD, (drawn(7, 1, 100_003), drawn(7, 5, 1))),
    "strided": (SPREAD, (drawn(500, 2002)[:, ::2], drawn(1001, 500).T)),
}
FEW = ("columns", "rows", "one reduction")


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", [*FEW, *(pytest.param(call, marks=pytest.mark.slow) for call in CALLS if call not in FEW)]
)
def test_any_number_of_threads_gives_the_same_bits(call, processors, monkeypatch):
    text, inputs = CALLS[call]
    function = CompiledExpression(text)
    monkeypatch.setenv("BRAINSMITH_OP_THREADS", "64")
    processors(1)
    alone = function(*inputs)
    for count in (2, 3, 7):
        processors(count)
        assert threads.threads_for(1 << 20) == count
        assert function(*inputs).tobytes() == alone.tobytes()


def test_a_small_array_is_for_one_thread(processors):
    processors(8)
    assert [threads.threads_for(size) for size in (1, 262_143, 262_144, 1 << 20, 1 << 30)] == [1, 1, 2, 8, 8]


def test_there_are_no_more_threads_than_processors_and_eight(processors):
    processors(2)
    assert threads.threads_for(1 << 30) == 2
    processors(100)
    assert threads.threads_for(1 << 30) == 8


def test_the_affinity_of_the_process_is_honoured(monkeypatch):
    monkeypatch.setattr(threads, "_idle", lambda: 64)
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads.threads_for(1 << 30) == 1
    finally:
        os.sched_setaffinity(0, before)


def test_a_busy_machine_gives_fewer(processors, monkeypatch):
    processors(4)
    for idle, count in ((4, 4), (2, 2), (1, 1), (-7, 1)):
        monkeypatch.setattr(threads, "_idle", lambda idle=idle: idle)
        assert threads.threads_for(1 << 30) == count


def test_what_is_idle_is_at_most_all():
    assert threads._idle() <= os.cpu_count()


def test_the_setting_bounds_them(processors, monkeypatch):
    processors(100)
    for text, count in (("1", 1), ("3", 3), ("", 8)):
        monkeypatch.setenv("BRAINSMITH_OP_THREADS", text)
        assert threads.threads_for(1 << 30) == count


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_setting_that_is_no_number_of_threads_is_named(processors, monkeypatch, text):
    monkeypatch.setenv("BRAINSMITH_OP_THREADS", text)
    with pytest.raises(SettingsError) as caught:
        threads.threads_for(1 << 30)
    assert str(caught.value) == f"BRAINSMITH_OP_THREADS must be a number of threads, 1 or more, not {text!r}"


@pytest.mark.slow
def test_threads_of_the_host_may_call_at_once(processors):
    processors(4)
    function, found = CompiledExpression(CHAIN), {}
    inputs = [drawn(400_000) + at for at in range(4)]
    alone = [function(one[:100_000]) for one in inputs]

    def work(at):
        found[at] = [function(inputs[at]) for _ in range(5)]

    hosts = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join()
    for at in range(4):
        for result in found[at]:
            np.testing.assert_array_equal(result[:100_000], alone[at])


@pytest.mark.slow
def test_a_forked_child_computes_with_threads_too(tmp_path):
    code = f"""
import os, numpy as np
from brainsmith.autodiff.compiling import threads
from brainsmith.autodiff.compiling.compiled import CompiledExpression
threads.processors = threads._idle = lambda: 4
function, x = CompiledExpression({CHAIN!r}), np.linspace(-2, 2, 1_000_000, dtype=np.float32)
before = function(x)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(function(x), before) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
