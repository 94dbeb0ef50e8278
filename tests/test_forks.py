"""A child that is forked while another thread of its parent discovers, loads or executes works, and does not hang."""

# What a fork meets is a matter of chance, so each test forks many times; a child that hangs is ended by an alarm.

import ast
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import brainsmith
from brainsmith import forks
from brainsmith.forks import in_children, lock_of
from brainsmith.plugin.manager import PluginManager, get_plugin_manager, reset_plugin_system
from brainsmith.plugin.plugin_registry import Registry

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
SECONDS = 60


def forked(work):
    """Fork; return what the child's work returned, `hung` if it did not end in time, or the error."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            try:
                result = str(work())
            except BaseException as error:  # noqa: BLE001
                result = f"{type(error).__name__}: {error}"
            os.write(writer, result.encode()[:4000])
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return "hung" if os.waitstatus_to_exitcode(status) == -signal.SIGALRM else told


class Busy:
    """A thread that does something again and again, inside of a `with`."""

    def __init__(self, work):
        self.work = work
        self.stop = False
        self.rounds = 0
        self.errors = []
        self.thread = threading.Thread(target=self._run)

    def _run(self):
        while not self.stop:
            try:
                self.work()
            except Exception as error:  # noqa: BLE001
                self.errors.append(error)
                return
            self.rounds += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.stop = True
        self.thread.join(SECONDS)
        assert self.errors == []
        assert self.rounds


@pytest.mark.slow
def test_a_child_discovers_while_another_thread_of_its_parent_does():
    manager = get_plugin_manager()
    count = len(manager.discover_plugins(modes=["full"]))

    def scan():
        manager.clear_cache()
        manager.discover_plugins(modes=["full"])

    def in_child():
        reset_plugin_system()
        return len(manager.discover_plugins(modes=["full"]))

    with Busy(scan):
        found = [forked(in_child) for _ in range(8)]
    assert found == [str(count)] * 8


@pytest.mark.slow
def test_a_child_looks_names_up_and_lists_while_another_thread_registers_and_discovers():
    manager = get_plugin_manager()
    expected = manager.registry.resolve("transform", "qonnx:FoldConstants").reference

    def change():
        manager.registry.records()
        with manager.registry.held():
            time.sleep(0.001)
        manager._registry.resolve("transform", "qonnx:FoldConstants")

    with Busy(change):
        found = [
            forked(lambda: manager.registry.resolve("transform", "qonnx:FoldConstants").reference)
            for _ in range(30)
        ]
    assert found == [expected] * 30


@pytest.mark.slow
def test_a_child_imports_what_another_thread_was_just_importing(tmp_path, monkeypatch):
    for number in range(8):
        (tmp_path / f"slow_module_{number}.py").write_text("import time\ntime.sleep(0.1)\nvalue = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for number in range(8):
        name = f"slow_module_{number}"
        thread = threading.Thread(target=__import__, args=(name,))
        thread.start()
        while name not in sys.modules:
            time.sleep(0.001)
        assert forked(lambda name=name: __import__(name).value) == "3"
        thread.join()
        assert sys.modules[name].value == 3
        del sys.modules[name]


@pytest.mark.slow
def test_a_child_imports_a_package_anew_whose_modules_were_imported_already(tmp_path, monkeypatch):
    package = tmp_path / "slow_package"
    package.mkdir()
    (package / "__init__.py").write_text("import slow_package.inner\nimport time\ntime.sleep(0.2)\n")
    (package / "inner.py").write_text("value = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=__import__, args=("slow_package",))
    thread.start()
    while not hasattr(sys.modules.get("slow_package.inner"), "value"):
        time.sleep(0.001)
    assert forked(lambda: __import__("slow_package").inner.value) == "3"
    thread.join()
    for name in ("slow_package", "slow_package.inner"):
        monkeypatch.delitem(sys.modules, name)


def test_a_lock_that_another_thread_holds_is_free_in_the_child_and_its_owner_mends_what_it_guards(
    monkeypatch,
):
    monkeypatch.setattr(forks, "LONGEST_WAIT", 0.05)

    class Owner:
        def __init__(self):
            self.mended = 0
            self.lock = lock_of(self, Owner.mend)
            self.free = lock_of(self, Owner.fail)

        def mend(self):
            self.mended += 1

        def fail(self):
            raise AssertionError("a lock that nobody holds guards nothing that is torn")

    owner = Owner()
    held, let_go = threading.Event(), threading.Event()

    def hold():
        with owner.lock:
            held.set()
            let_go.wait(SECONDS)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(SECONDS)

    def in_child():
        return owner.lock.acquire(timeout=5), owner.free.acquire(timeout=5), owner.mended

    assert forked(in_child) == "(True, True, 1)"
    assert not owner.lock.acquire(timeout=0.01)
    let_go.set()
    thread.join()
    assert owner.mended == 0
    assert owner.lock.acquire(timeout=5)


@pytest.mark.slow
def test_a_fork_waits_for_who_soon_lets_go_so_that_nothing_is_torn():
    class Pair:
        def __init__(self):
            self.first = self.second = 0
            self.lock = lock_of(self, Pair.mend)

        def mend(self):
            self.first = "torn"

        def count(self):
            with self.lock:
                self.first += 1
                time.sleep(0.002)
                self.second += 1

    pair = Pair()
    with Busy(pair.count):
        found = [forked(lambda: pair.first == pair.second) for _ in range(30)]
    assert found == ["True"] * 30


@pytest.mark.slow
def test_a_fork_lets_a_thread_go_on_that_takes_two_locks_in_another_order(monkeypatch):
    monkeypatch.setattr(forks, "LONGEST_WAIT", 2.0)

    class Owner:
        def __init__(self):
            self.whole = True
            self.first, self.second = (lock_of(self, Owner.mend) for _ in range(2))

        def mend(self):
            self.whole = False

        def work(self):
            with self.second:
                time.sleep(0.001)
                with self.first:
                    time.sleep(0.001)

    owner = Owner()
    with Busy(owner.work):
        found = [forked(lambda: owner.whole) for _ in range(10)]
    assert found == ["True"] * 10


def test_the_thread_that_forks_keeps_its_locks():
    lock = lock_of()

    def in_child():
        lock.release()
        return lock.acquire(blocking=False)

    with lock:
        assert forked(in_child) == "True"
    assert lock.acquire(blocking=False)


@pytest.mark.slow
def test_locks_and_owners_are_not_kept_alive():
    class Owner:
        pass

    def numbers():
        gc.collect()
        return len(forks._GUARDS), len(forks._CHILDREN)

    before = numbers()
    owner = Owner()
    owner.lock = lock_of(owner, print)
    in_children(owner, print)
    assert numbers() == (before[0] + 1, before[1] + 1)
    del owner
    assert numbers() == before
    manager = PluginManager(Registry())
    assert numbers() > before
    del manager
    assert numbers() == before


EXCEPTIONS = {
    "forks.py": "the one place",
    "plugin/environments/worker_script.py": "another program, which runs in an environment of its own and is not forked",
    "plugin/own_thread.py": "a thread waits for another one, in one call",
    "plugin/plugin_watch.py": "an Event of a thread that no child has",
    "runtime/live_target.py": "an Event, which the target makes anew in a child; its Condition has a lock of forks.py",
    "runtime/serving/server.py": "of a server, whose threads no child has",
}
LOCKS = ("Lock", "RLock", "allocate_lock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier")
OF = ("threading", "_thread", "queue", "functools")
HIDDEN = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue", "cached_property")
"""Classes of Python's that hold a lock: functools.cached_property does, before 3.12, while it computes."""


def made_locks(tree):
    """Yield the names of Python's locks that a module uses, except in annotations."""
    names, skipped = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in OF:
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        for field in ("annotation", "returns"):
            skipped |= {id(one) for one in ast.walk(getattr(node, field, None) or ast.Pass())}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in OF:
            used = node.attr
        elif isinstance(node, ast.Name):
            used = names.get(node.id, "")
        else:
            continue
        if used in LOCKS + HIDDEN:
            yield used


@pytest.mark.slow
def test_every_lock_survives_a_fork():
    """The whole package has its locks, and what is computed once, from `forks.py`."""
    folder = Path(brainsmith.__file__).parent
    found = {
        (name, used)
        for path in folder.rglob("*.py")
        if (name := str(path.relative_to(folder))) not in EXCEPTIONS
        if any(module in (text := path.read_text()) for module in OF)
        for used in made_locks(ast.parse(text))
    }
    assert found == set()


@pytest.mark.parametrize(
    "text",
    [
        "import threading\nlock = threading.Lock()",
        "from threading import RLock as Own\nlock = Own()",
        "import threading\nlock = field(default_factory=threading.Lock)",
        "from _thread import allocate_lock\nlock = allocate_lock()",
        "from functools import cached_property\nclass A:\n    @cached_property\n    def x(self): ...",
    ],
)
def test_locks_of_pythons_own_are_found(text):
    assert list(made_locks(ast.parse(text)))


@pytest.mark.slow
def test_a_child_compiles_while_another_thread_of_its_parent_does():
    from brainsmith.ops import compile_op

    begun, calls = threading.Event(), []

    def slow(x):
        calls.append(x)
        if len(calls) == 2:  # the first one only counts its outputs
            begun.set()
            time.sleep(0.5)
        return x * 3

    thread = threading.Thread(target=compile_op, args=(slow,))
    thread.start()
    begun.wait(SECONDS)
    assert forked(lambda: compile_op(lambda x: x + x).name) == "<lambda>"
    thread.join()


@pytest.mark.slow
def test_a_child_computes_gradients_while_another_thread_of_its_parent_does():
    from brainsmith.autodiff.tape.tensor import Tensor

    def descend():
        x = Tensor(np.ones(200_000, np.float32), requires_grad=True)
        (x * 3).sum().backward()
        return x.grad[0]

    with Busy(descend):
        found = [forked(descend) for _ in range(10)]
    assert found == ["3.0"] * 10


def model():
    from onnx import TensorProto, helper, numpy_helper
    from qonnx.core.modelwrapper import ModelWrapper

    weights = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 7
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
        "forked",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 64])],
        [numpy_helper.from_array(weights, "w")],
    )
    return ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10))


@pytest.mark.parametrize(
    "target",
    ["numpy", *(pytest.param(other, marks=pytest.mark.slow) for other in ("onnxruntime", "reference"))],
)
@pytest.mark.slow
def test_a_child_executes_while_another_thread_of_its_parent_does(target):
    from brainsmith.targets import ResourceManager

    x = np.arange(64, dtype=np.float32).reshape(1, 64)
    with ResourceManager() as manager:
        manager.switch_plugin(target)
        prepared = manager.prepare_resource(model())
        expected = manager.execute(prepared, {"x": x})["z"].sum()

        def execute():
            return manager.execute(prepared, {"x": x})["z"].sum()

        def prepare_and_execute():
            again = manager.prepare_resource(model())
            return manager.execute(again, {"x": x})["z"].sum()

        with Busy(execute):
            found = [forked(work) for _ in range(8) for work in (execute, prepare_and_execute)]
    assert found == [str(expected)] * 16


SCALE = """
import time
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.plugin.core import target
from brainsmith.targets import Prepared, Target

SIGNATURE = ModelSignature((TensorSpec("x", (1, 2)),), (TensorSpec("y", (1, 2)),))


@target(name="slow_to_start", device_types=["toy"], version="1.0", description="Doubles.")
class SlowToStart(Target):
    def initialize(self):
        time.sleep(0.06)

    def cleanup(self):
        time.sleep(0.06)

    def prepare_resource(self, resource, config=None):
        return Prepared(target=self, signature=SIGNATURE, payload=None)

    def execute(self, prepared, inputs):
        time.sleep(0.02)
        return {"y": inputs["x"] * 2}
"""


@pytest.mark.slow
def test_a_child_uses_a_target_that_another_thread_was_just_starting_using_or_ending(tmp_path, monkeypatch):
    from brainsmith.targets import ResourceManager

    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "slow_to_start.py").write_text(SCALE)
    monkeypatch.chdir(tmp_path)
    get_plugin_manager().discover_plugins(modes=["full"])
    x = np.ones((1, 2), np.float32)

    def run():
        with ResourceManager() as manager:
            manager.switch_plugin("slow_to_start")
            prepared = manager.prepare_resource(b"1")
            return manager.execute(prepared, {"x": x})["y"].tolist()

    assert run() == [[2.0, 2.0]]
    with Busy(run) as busy:
        found = []
        for _ in range(12):
            found.append(forked(run))
            time.sleep(0.013)
    assert busy.errors == []
    assert found == ["[[2.0, 2.0]]"] * 12
