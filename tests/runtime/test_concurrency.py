"""Many threads execute while others switch: nothing is lost, nothing is mixed, nothing is left."""

import gc
import threading
import weakref

import numpy as np
import pytest

from brainsmith.errors import TargetError
from brainsmith.targets import ResourceManager
from tests.runtime.toys import in_threads, toy


def storm(executes, switches, threads=8, concurrent=True):
    """Execute in threads while another one switches; check every result, and that nothing is left."""
    classes = [toy(f"T{number}", factor=float(number + 1), concurrent=concurrent) for number in range(4)]
    references = run(classes, executes, switches, threads)
    for cls in classes:
        (instance,) = cls.instances
        assert instance.calls == ["initialize", "prepare", "cleanup"]
        references.append(weakref.ref(instance))
        instance = None
        cls.instances.clear()
    gc.collect()
    assert [reference() for reference in references] == [None] * 8


def run(classes, executes, switches, threads):
    """Return weak references to what was prepared."""
    share = executes // threads
    results = np.zeros((threads, share, 2), np.float32)
    with ResourceManager().initialize(auto_discover=False) as manager:
        prepared = []
        for cls in classes:
            manager.switch_plugin(cls.__name__.lower())
            prepared.append(manager.prepare_resource("m"))

        def work(number):
            if number == threads:
                for at in range(switches):
                    manager.switch_plugin(f"t{at % 4}")
                return
            for at in range(share):
                x = np.float32([[number, at]])
                if at % 3:
                    results[number, at] = manager.execute(prepared[at % 4], x)["y"]
                else:  # on whichever is active: what it prepared is its own
                    now = manager.prepare_resource("m")
                    results[number, at] = manager.execute(now, x)["y"] / now.payload * (at % 4 + 1)

        in_threads(threads + 1, work)
        profiles = manager.profiles()
    thread, at = np.indices((threads, share))
    assert np.allclose(results, np.stack([thread, at], axis=-1) * (at % 4 + 1)[..., None], rtol=1e-6)
    assert sum(profile.executes for profile in profiles.values()) == executes
    assert [profile.failures for profile in profiles.values()] == [0] * 4
    return [weakref.ref(one) for one in prepared]


@pytest.mark.parametrize("concurrent", [True, False])
@pytest.mark.slow
def test_eight_threads_and_switches_lose_and_mix_nothing(concurrent):
    storm(executes=800, switches=20, concurrent=concurrent)


@pytest.mark.slow
def test_eight_threads_ten_thousand_executes_and_a_hundred_switches():
    storm(executes=10_000, switches=100)


def test_one_thread_prepares_a_content_while_others_wait(manager):
    begun = []

    def prepare(self, resource, config=None):
        begun.append(1)
        threading.Event().wait(0.05)
        return {"factor": 2}

    toy("A", prepare_resource=prepare)
    manager.switch_plugin("a")
    found = []
    in_threads(8, lambda number: found.append(manager.prepare_resource("m")))
    assert len(begun) == 1
    assert len({id(one) for one in found}) == 1


@pytest.mark.slow
def test_managers_that_come_and_go_never_meet_a_target_that_is_not_ready():
    def execute(self, prepared, inputs, **kwargs):
        assert self.calls[0] == "initialize"
        assert "cleanup" not in self.calls
        return {"y": inputs["x"] * 2}

    cls = toy("A", execute=execute)

    def work(number):
        for at in range(25):
            with ResourceManager({"device": "a"}) as manager:
                x = np.float32([[number, at]])
                assert manager.execute(manager.prepare_resource("m"), x)["y"].tolist() == [
                    [2 * number, 2 * at]
                ]

    in_threads(8, work)
    for instance in cls.instances:
        assert [call for call in instance.calls if call != "prepare"] in (["initialize", "cleanup"], [])


def test_a_release_during_executes_ends_them_with_results_or_a_clear_error():
    toy("A")
    manager = ResourceManager({"device": "a"}).initialize()
    prepared = manager.prepare_resource("m")
    ends = []

    def work(number):
        if number == 4:
            manager.close()
            return
        try:
            for at in range(200):
                x = np.float32([[number, at]])
                assert manager.execute(prepared, x)["y"].tolist() == [[2 * number, 2 * at]]
        except TargetError as error:
            ends.append(str(error))

    in_threads(5, work)
    assert set(ends) <= {
        "target 'a' was released, and what it had prepared with it: prepare the resource again",
        "no target is active: call initialize() or switch_plugin(name) first, or use the manager in a with statement",
    }
