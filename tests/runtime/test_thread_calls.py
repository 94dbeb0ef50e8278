"""What a target asks of managers from inside its own calls, while they let go of it."""

import threading
import time

import numpy as np
import pytest

from brainsmith.errors import NoActiveTargetError, TargetError
from brainsmith.targets import ResourceManager
from tests.runtime.toys import toy

X = np.float32([[1, 2]])
pytestmark = pytest.mark.usefixtures("only_toys")
TOLD = (
    "target 'asking' is being released, which waits for this call of it to return: until then, the call can choose "
    "no target and prepare nothing"
)


class Asking:
    """A target whose execute waits until it is let go of, and then does something."""

    def __init__(self, do):
        self.inside = threading.Event()
        self.raised = []

        def execute(target, prepared, inputs, **kwargs):
            self.inside.set()
            while target.calls and not waits(target):
                time.sleep(0.001)
            try:
                do()
            except Exception as error:  # noqa: BLE001  (what it is, the test says)
                self.raised.append(error)
            return {"y": inputs["x"]}

        self.cls = toy("Asking", priority=99, execute=execute)

    def run_while(self, manager, prepared, then):
        """Execute in a thread, and do something once that is inside."""
        found = []
        thread = threading.Thread(target=lambda: found.append(manager.execute(prepared, X)), daemon=True)
        thread.start()
        assert self.inside.wait(5)
        then()
        thread.join(5)
        assert not thread.is_alive()
        return found


def waits(target):
    return target._brainsmith_live.state == "closing"


@pytest.mark.parametrize(
    "ask",
    [
        lambda manager: manager.prepare_resource("another"),
        lambda manager: manager.prepare_resource("another", device="other"),
        lambda manager: manager.switch_plugin("other"),
        lambda manager: manager.use_device("toy"),
        lambda manager: manager.close(),
    ],
    ids=["prepare", "prepare elsewhere", "switch", "use_device", "close"],
)
@pytest.mark.parametrize(
    "end", [lambda m: m.close(), lambda m: m.release("asking")], ids=["close", "release"]
)
def test_a_call_that_asks_the_manager_that_waits_for_it_is_told(ask, end):
    manager = ResourceManager({"device": "toy"})
    target = Asking(lambda: ask(manager))
    toy("Other")
    prepared = manager.initialize().prepare_resource("m")
    assert manager.active.metadata().name == "asking"
    found = target.run_while(manager, prepared, lambda: end(manager))
    assert [str(error) for error in target.raised] == [TOLD]
    assert found[0]["y"].tolist() == X.tolist()  # its result is not lost
    assert [instance.calls for instance in target.cls.instances] == [["initialize", "prepare", "cleanup"]]
    manager.close()
    assert manager.get_resource_info()["targets"] == []


def test_two_managers_and_the_call_that_both_wait_for():
    first, second = ResourceManager({"device": "asking"}), ResourceManager()
    waiting = []

    def ask():
        waiting.append(threading.Thread(target=lambda: second.switch_plugin("asking"), daemon=True))
        waiting[0].start()  # holds the lock of the second, and waits for the end of the instance
        time.sleep(0.1)
        second.prepare_resource("another", device="asking")

    target = Asking(ask)
    prepared = first.initialize().prepare_resource("m")
    target.run_while(first, prepared, first.close)
    waiting[0].join(5)
    assert [str(error) for error in target.raised] == [TOLD]
    assert second.active is target.cls.instances[1]
    second.close()
    assert [instance.calls[-1] for instance in target.cls.instances] == ["cleanup", "cleanup"]


def test_a_call_may_ask_its_manager_as_long_as_nobody_lets_go():
    manager = ResourceManager({"device": "toy"})

    def execute(target, prepared, inputs, **kwargs):
        if prepared.resource == "inner":
            return {"y": inputs["x"] * np.float32(3)}
        return manager.execute(manager.prepare_resource("inner"), inputs)

    toy("Nested", execute=execute)
    with manager:
        assert manager.execute(manager.prepare_resource("outer"), X)["y"].tolist() == [[3, 6]]


def test_a_resource_that_is_prepared_while_the_manager_closes_makes_it_hold_nothing():
    toy("A")
    manager = ResourceManager({"device": "toy"}).initialize()
    choice = manager._choice
    manager.close()
    assert manager._choose(choice, "m", "content") is None
    with pytest.raises(NoActiveTargetError):
        manager.prepare_resource("m")
    assert manager.get_resource_info()["targets"] == []


def test_what_fails_behind_initialize_is_cleaned_up(manager, caplog):
    def broken(self):
        raise RuntimeError("no capabilities")

    cls = toy("A", get_capabilities=broken, fails_in=("cleanup",))
    with pytest.raises(
        TargetError, match=r"^target 'a' failed in get_capabilities: RuntimeError: no capabil"
    ):
        manager.switch_plugin("a")
    assert cls.instances[-1].calls == ["initialize", "cleanup"]
    assert caplog.messages[0].startswith("target 'a' failed in cleanup: RuntimeError: cleanup broke (")
