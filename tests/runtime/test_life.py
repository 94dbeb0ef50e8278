"""The life of a target: initialised once, cleaned up once, in this order, whatever threads and managers do."""

import gc
import threading
import weakref

import numpy as np
import pytest

from brainsmith.errors import TargetError
from brainsmith.targets import ResourceManager, get_registry
from tests.runtime.toys import SIGNATURE, Prepared, in_threads, toy

X = np.float32([[1, 2]])


def test_initialize_and_cleanup_run_once_in_this_order(manager):
    cls = toy("A")
    for _ in range(3):
        manager.switch_plugin("a")
        manager.execute(manager.prepare_resource("m"), X)
    manager.close()
    manager.close()
    (instance,) = cls.instances
    assert instance.calls == ["initialize", "prepare", "cleanup"]


def test_a_switch_leaves_the_old_target_initialised_with_what_it_prepared(manager):
    a, b = toy("A"), toy("B", factor=3.0)
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    manager.switch_plugin("b")
    assert manager.execute(prepared, X)["y"].tolist() == [[2, 4]]
    assert manager.execute(manager.prepare_resource("m"), X)["y"].tolist() == [[3, 6]]
    manager.switch_plugin("a")
    assert manager.prepare_resource("m") is prepared
    assert [i.calls for i in a.instances + b.instances] == [["initialize", "prepare"]] * 2


def test_release_cleans_up_one_target(manager):
    a, b = toy("A"), toy("B")
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    manager.switch_plugin("b")
    manager.release("a")
    assert a.instances[0].calls == ["initialize", "prepare", "cleanup"]
    assert b.instances[0].calls == ["initialize"]
    with pytest.raises(TargetError) as error:
        manager.execute(prepared, X)
    assert (
        str(error.value)
        == "target 'a' was released, and what it had prepared with it: prepare the resource again"
    )


def test_a_released_target_that_is_chosen_again_is_another_instance(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    manager.release("a")
    manager.switch_plugin("a")
    manager.close()
    assert [instance.calls for instance in cls.instances] == [["initialize", "cleanup"]] * 2


def test_a_manager_closes_its_targets_the_last_chosen_first(manager):
    order = []
    for name in ("A", "B", "C"):
        toy(name, cleanup=lambda self, name=name: order.append(name))
        manager.switch_plugin(name.lower())
    manager.close()
    assert order == ["C", "B", "A"]


def test_managers_share_an_instance_and_the_last_one_cleans_up():
    cls = toy("A")
    first, second = ResourceManager(), ResourceManager()
    first.switch_plugin("a")
    second.switch_plugin("a")
    prepared = first.prepare_resource("m")
    assert second.prepare_resource("m") is prepared
    first.close()
    assert second.execute(prepared, X)["y"].tolist() == [[2, 4]]
    second.close()
    (instance,) = cls.instances
    assert instance.calls == ["initialize", "prepare", "cleanup"]


def test_a_target_that_fails_in_initialize_is_told_and_never_cleaned_up(manager):
    cls = toy("A", fails_in=("initialize",))
    with pytest.raises(
        TargetError, match=r"^target 'a' failed in initialize: RuntimeError: initialize broke \(.*:\d+\)$"
    ) as error:
        manager.switch_plugin("a")
    assert isinstance(error.value.__cause__, RuntimeError)
    manager.close()
    assert cls.instances[0].calls == ["initialize"]


def test_a_target_that_failed_is_made_anew(manager):
    cls = toy("A", fails_in=("initialize",))
    with pytest.raises(TargetError):
        manager.switch_plugin("a")
    cls.fails_in = ()
    manager.switch_plugin("a")
    assert len(cls.instances) == 2
    assert manager.active is cls.instances[1]


def test_a_target_that_fails_in_prepare_execute_and_cleanup_is_told(manager):
    cls = toy("A", fails_in=("prepare",))
    manager.switch_plugin("a")
    with pytest.raises(
        TargetError, match=r"^target 'a' failed in prepare_resource: RuntimeError: prepare broke \("
    ):
        manager.prepare_resource("m")
    cls.fails_in = ("execute", "cleanup")
    prepared = manager.prepare_resource("m")
    with pytest.raises(TargetError, match=r"^target 'a' failed in execute: RuntimeError: execute broke \("):
        manager.execute(prepared, X)
    with pytest.raises(TargetError, match=r"^target 'a' failed in cleanup: RuntimeError: cleanup broke \("):
        manager.close()
    assert manager.active is None
    manager.close()
    assert cls.instances[0].calls.count("cleanup") == 1


def test_the_others_are_cleaned_up_if_one_fails_in_cleanup(manager):
    a, _, c = toy("A"), toy("B", fails_in=("cleanup",)), toy("C")
    for name in "abc":
        manager.switch_plugin(name)
    with pytest.raises(TargetError, match="target 'b' failed in cleanup"):
        manager.close()
    assert [cls.instances[0].calls[-1] for cls in (a, c)] == ["cleanup", "cleanup"]


def test_cleanup_waits_for_the_calls_that_are_in_the_target(manager):
    entered, go_on, events = threading.Event(), threading.Event(), []

    def execute(self, prepared, inputs, **kwargs):
        entered.set()
        go_on.wait(10)
        events.append("executed")
        return {"y": inputs["x"]}

    toy("A", execute=execute, cleanup=lambda self: events.append("cleanup"))
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    caller = threading.Thread(target=lambda: events.append(manager.execute(prepared, X)["y"].tolist()))
    caller.start()
    entered.wait(10)
    closer = threading.Thread(target=manager.close)
    closer.start()
    closer.join(0.05)
    assert closer.is_alive()
    go_on.set()
    closer.join()
    caller.join()
    assert events[0] == "executed"
    assert sorted(map(str, events[1:])) == ["[[1.0, 2.0]]", "cleanup"]


def test_an_interrupted_close_leaves_the_target_as_it_was(manager, monkeypatch):
    entered, go_on, results = threading.Event(), threading.Event(), []

    def execute(self, prepared, inputs, **kwargs):
        entered.set()
        go_on.wait(10)
        return {"y": inputs["x"]}

    cls = toy("A", execute=execute)
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    caller = threading.Thread(target=lambda: results.append(manager.execute(prepared, X)["y"].tolist()))
    caller.start()
    entered.wait(10)
    others = threading.Thread(target=lambda: ResourceManager().switch_plugin("a"))

    def interrupted(self, predicate, timeout=None):
        others.start()  # it waits for the end of the target, which does not come
        others.join(0.02)
        assert others.is_alive()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Condition, "wait_for", interrupted)
        with pytest.raises(KeyboardInterrupt):
            manager.close()
    others.join(10)
    assert not others.is_alive()
    assert manager.active is cls.instances[0]
    go_on.set()
    caller.join()
    assert manager.execute(prepared, X)["y"].tolist() == [[1, 2]]
    assert results == [[[1, 2]]]
    assert len(cls.instances) == 1
    manager.close()
    get_registry().live(get_registry().get_info("a"), {}).release()  # what the other manager holds
    assert cls.instances[0].calls == ["initialize", "prepare", "cleanup"]


def test_an_interrupted_cleanup_lets_go_of_what_the_target_needed(manager):
    def cleanup(self):
        raise KeyboardInterrupt

    base = toy("Base")
    toy("Upper", requires_plugins=("base",), cleanup=cleanup)
    manager.switch_plugin("upper")
    with pytest.raises(KeyboardInterrupt):
        manager.release("upper")
    assert base.instances[0].calls == ["initialize", "cleanup"]


def test_a_target_cannot_be_released_from_inside_its_own_execute(manager):
    def execute(self, prepared, inputs, **kwargs):
        manager.release("a")

    toy("A", execute=execute)
    manager.switch_plugin("a")
    with pytest.raises(TargetError) as error:
        manager.execute(manager.prepare_resource("m"), X)
    assert str(error.value) == "target 'a' cannot be released from inside its own execute"
    assert manager.active is not None


def test_a_target_that_uses_itself_while_it_is_closed_does_not_wait_for_itself(manager):
    entered, told = threading.Event(), []

    def execute(self, prepared, inputs, **kwargs):
        entered.set()
        while get_registry().live(get_registry().get_info("a"), {}).state == "ready":
            threading.Event().wait(0.001)
        with ResourceManager().initialize(auto_discover=False) as another:
            another.switch_plugin("a")

    toy("A", execute=execute)
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")

    def work(number):
        if number:
            entered.wait(10)
            manager.close()
            return
        with pytest.raises(TargetError) as error:
            manager.execute(prepared, X)
        told.append(str(error.value))

    in_threads(2, work)
    assert told == ["target 'a' was released, and what it had prepared with it: prepare the resource again"]


def test_a_target_that_is_not_concurrent_is_entered_by_one_thread_at_a_time(manager):
    inside, most = [], []

    def execute(self, prepared, inputs, **kwargs):
        inside.append(1)
        most.append(len(inside))
        threading.Event().wait(0.001)
        inside.pop()
        return {"y": inputs["x"]}

    toy("A", execute=execute, concurrent=False)
    manager.switch_plugin("a")
    prepared = manager.prepare_resource("m")
    in_threads(4, lambda number: [manager.execute(prepared, X) for _ in range(5)])
    assert max(most) == 1
    assert len(most) == 20


def test_one_thread_initialises_while_others_wait():
    def initialize(self):
        self.note("initialize")
        threading.Event().wait(0.05)

    cls = toy("A", initialize=initialize)
    managers = [ResourceManager() for _ in range(8)]
    in_threads(8, lambda number: managers[number].switch_plugin("a"))
    in_threads(8, lambda number: managers[number].close())
    (instance,) = cls.instances
    assert instance.calls == ["initialize", "cleanup"]


def test_what_a_target_depends_on_is_initialised_before_it_and_cleaned_up_after_it(manager):
    order = []

    def noting(name):
        return {
            "initialize": lambda self: order.append(f"+{name}"),
            "cleanup": lambda self: order.append(f"-{name}"),
        }

    toy("Base", **noting("base"))
    cls = toy("Upper", requires_plugins=("base",), **noting("upper"))
    manager.switch_plugin("upper")
    assert list(cls.instances[0].dependencies) == ["base"]
    manager.close()
    assert order == ["+base", "+upper", "-upper", "-base"]


def test_a_dependency_is_let_go_of_if_the_target_fails(manager):
    base = toy("Base")
    toy("Upper", requires_plugins=("base",), fails_in=("initialize",))
    with pytest.raises(TargetError, match="target 'upper' failed in initialize"):
        manager.switch_plugin("upper")
    assert base.instances[0].calls == ["initialize", "cleanup"]


def test_dependencies_are_let_go_of_if_another_one_fails_however_their_cleanup_ends(manager):
    first = toy("First")
    second = toy("Second", fails_in=("cleanup",))
    toy("Third", fails_in=("initialize",))
    toy("Upper", requires_plugins=("first", "second", "third"))
    with pytest.raises(TargetError, match="target 'third' failed in initialize"):
        manager.switch_plugin("upper")
    assert [cls.instances[0].calls for cls in (first, second)] == [["initialize", "cleanup"]] * 2


class Payload:
    def __init__(self, log):
        self.log = log

    def close(self):
        self.log.append("closed")


@pytest.mark.slow
def test_a_payload_is_closed_once_when_it_is_given_up_or_with_its_target(manager):
    log = []
    prepares = {
        "prepare_resource": lambda self, resource, config=None: Prepared(
            target=self, signature=SIGNATURE, payload=Payload(log)
        )
    }
    toy("A", **prepares)
    manager.switch_plugin("a")
    kept = manager.prepare_resource("kept")
    dropped = [manager.prepare_resource(f"m{number}") for number in range(40)]
    assert log == []
    del dropped
    gc.collect()
    assert len(log) == 8  # 32 of those last used are kept, and the one in use
    manager.close()
    assert len(log) == 41
    del kept
    gc.collect()
    assert len(log) == 41


def test_what_closing_a_payload_raises_is_told_and_the_target_is_cleaned_up(manager):
    class Breaks:
        def close(self):
            raise OSError("the driver hung")

    cls = toy(
        "A",
        prepare_resource=lambda self, resource, config=None: Prepared(
            target=self, signature=SIGNATURE, payload=Breaks()
        ),
    )
    manager.switch_plugin("a")
    manager.prepare_resource("m")
    with pytest.raises(
        TargetError, match="target 'a' failed in close of a prepared resource: OSError: the driver hung"
    ):
        manager.close()
    assert cls.instances[0].calls == ["initialize", "cleanup"]


@pytest.mark.slow
def test_nothing_is_left_of_a_target_that_was_released(manager):
    cls = toy("A")
    manager.switch_plugin("a")
    manager.execute(manager.prepare_resource("m"), X)
    reference = weakref.ref(cls.instances.pop())
    manager.close()
    gc.collect()
    assert reference() is None
    assert get_registry().get_plugin("a") is cls.instances[0]
