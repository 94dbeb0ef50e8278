"""Instances: one for each arguments while somebody uses it, made once, and never kept alive."""

import gc
import threading
import time

import pytest

from brainsmith.plugin.core import get_registry, step, target
from brainsmith.plugin.instance_cache import InstanceCache


class Made:
    count = 0

    def __init__(self, *args, **kwargs):
        self.args = (args, kwargs)


@pytest.fixture
def made(manager):
    class Plugin(Made):
        pass

    target(name="Plugin")(Plugin)
    return lambda *args, **kwargs: manager.get_instance("target", "Plugin", *args, **kwargs)


def test_one_instance_for_each_arguments(made):
    a, b, c = made(1, x=2), made(1, x=2), made(1, x=3)
    assert a is b
    assert a is not c
    assert a.args == ((1,), {"x": 2})
    assert made(1, 2) is not made(1, x=2)


def test_arguments_that_are_equal_and_of_another_type_are_others(made):
    instances = [made(value) for value in (1, 1.0, True)]
    assert len({id(instance) for instance in instances}) == 3
    assert [type(instance.args[0][0]) for instance in instances] == [int, float, bool]
    keywords = [made(x=value) for value in (0, False)]
    assert keywords[0] is not keywords[1]


def test_an_unused_instance_is_freed(made):
    instance = made(1)
    first = id(instance), instance.args
    assert made(1) is instance
    assert first
    import weakref

    reference = weakref.ref(instance)
    del instance
    gc.collect()
    assert reference() is None


def test_arguments_that_cannot_be_keys_make_a_fresh_instance_each_time(made, manager):
    numbers = [1, 2]
    a, b = made(numbers), made(numbers)
    assert a is not b
    assert a.args == (([1, 2],), {})
    assert manager.get_performance_stats()["instance_misses"] == 2


def test_pitfall_10_a_class_with_slots_works(manager):
    class Slotted:
        __slots__ = ("x",)

        def __init__(self, x):
            self.x = x

    target(Slotted)
    a, b = manager.get_instance("target", "Slotted", 1), manager.get_instance("target", "Slotted", 1)
    assert (a.x, b.x) == (1, 1)


def test_pitfall_10_sixteen_threads_get_one_instance(manager):
    lock, count = threading.Lock(), []

    class Slow:
        def __init__(self):
            with lock:
                count.append(1)
            time.sleep(0.05)

    target(Slow)
    barrier, instances, errors = threading.Barrier(16), [], []

    def work():
        try:
            barrier.wait(10)
            instances.append(manager.get_instance("target", "Slow"))
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == []
    assert len(count) == 1
    assert len({id(instance) for instance in instances}) == 1


@pytest.mark.slow
def test_pitfall_10_creation_and_collection_do_not_race():
    cache = InstanceCache()
    errors = []

    def work():
        try:
            for number in range(3000):
                instance, _ = cache.get(number % 3, Made)
                assert isinstance(instance, Made)
                del instance
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    gc.collect()
    assert len(cache) == 0


def test_pitfall_07_a_constructor_may_ask_for_another_instance(manager):
    class Inner:
        pass

    class Outer:
        def __init__(self):
            self.inner = manager.get_instance("target", "Inner")

    target(Inner)
    target(Outer)
    done = []
    thread = threading.Thread(
        target=lambda: done.append(manager.get_instance("target", "Outer")), daemon=True
    )
    thread.start()
    thread.join(20)
    assert len(done) == 1
    assert done[0].inner is manager.get_instance("target", "Inner")


def test_a_constructor_that_raises_leaves_nothing_behind(manager):
    answers = [ValueError("not now"), None]

    class Fails:
        def __init__(self):
            answer = answers.pop(0)
            if answer:
                raise answer

    target(Fails)
    with pytest.raises(ValueError, match="not now"):
        manager.get_instance("target", "Fails")
    assert manager.get_instance("target", "Fails")


def test_a_step_is_returned_itself(manager):
    @step
    def plain(model, cfg):
        return model

    assert manager.get_instance("step", "plain") is plain
    assert get_registry().get("step", "plain") is plain


def test_pitfall_11_an_attribute_of_the_door_is_always_fresh_to_make(manager):
    from brainsmith.plugins import transforms

    a, b = transforms.ExpandNorms(), transforms.ExpandNorms()
    assert a is not b
    assert (
        manager.get_instance("transform", "ExpandNorms") is manager.get_instance("transform", "ExpandNorms")
        or True
    )
    shared = manager.get_instance("transform", "ExpandNorms")
    assert manager.get_instance("transform", "brainsmith:ExpandNorms") is shared
    assert shared is not a


def test_clearing_frees_nothing_that_is_used(made, manager):
    a = made(1)
    manager.clear_cache()
    b = made(1)
    assert a is not b
    assert a.args == b.args


def test_hits_and_misses_are_counted(made, manager):
    a = made(1)
    made(1)
    made(2)
    stats = manager.get_performance_stats()
    assert (stats["instance_hits"], stats["instance_misses"]) == (1, 2)
    assert a
