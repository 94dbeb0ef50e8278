"""Laws of the life cycle: any sequence of registering, failing and removing; and eight threads at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from brainsmith.autodiff.op_registry import execute_custom_op, list_custom_ops
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import BundleClashError, BundleDependencyError, BundleError, PluginNotFoundError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.manager import reset_plugin_system
from tests.bundles.making import builder, make_op, state

NAMES = ("a", "b", "c")
NEEDS = {"a": (), "b": ("a",), "c": ("a", "b")}
POINTS = ("initialise", "ops", "plugins")


class LifeCycle(RuleBasedStateMachine):
    """Three bundles, each of which needs those before it, against a model: a dict of what is registered."""

    def __init__(self):
        super().__init__()
        reset_plugin_system()
        self.bundles = BundleRegistry()
        self.at_first = state()
        self.registered = {}
        self.calls = {}

    def make(self, name, serial, fails_at=None):
        building = builder(name)
        for need in NEEDS[name]:
            building.depends_on(need, ">=1.0")
        calls = self.calls[name, serial] = []

        def step(what, result=None):
            calls.append(what)
            if what == fails_at:
                raise ValueError(what)
            return result

        bundle = building.build()
        bundle.set_initialize_fn(lambda registry: step("initialise"))
        bundle.set_cleanup_fn(lambda registry: step("clean-up"))
        bundle.set_custom_operations_fn(lambda: step("ops", [make_op(f"{name}_op")]))
        bundle.set_plugins_fn(lambda: step("plugins", []))
        return bundle

    @rule(name=st.sampled_from(NAMES), fails_at=st.sampled_from([None, None, *POINTS, "clean-up"]))
    def register(self, name, fails_at):
        serial = len(self.calls)
        bundle, before = self.make(name, serial, fails_at), state()
        calls = self.calls[name, serial]
        if name in self.registered:
            expected, done = BundleClashError, []
        elif any(need not in self.registered for need in NEEDS[name]):
            expected, done = BundleDependencyError, []
        elif fails_at in POINTS:
            done = ["initialise", *POINTS[1 : POINTS.index(fails_at) + 1]]
            expected, done = BundleError, done if fails_at == "initialise" else [*done, "clean-up"]
        else:
            self.bundles.register(bundle)
            self.registered[name] = (serial, fails_at)
            assert calls == list(POINTS)
            return
        with pytest.raises(expected) as caught:
            self.bundles.register(bundle)
        assert type(caught.value) is expected
        assert f"'{name} v1.0.0'" in str(caught.value)
        assert calls == done
        assert state() == before

    @rule(name=st.sampled_from(NAMES))
    def unregister(self, name):
        if name not in self.registered:
            with pytest.raises(PluginNotFoundError):
                self.bundles.unregister(name)
            return
        serial, fails_at = self.registered[name]
        if any(name in NEEDS[other] for other in self.registered):
            with pytest.raises(BundleDependencyError):
                self.bundles.unregister(name)
            return
        del self.registered[name]
        if fails_at == "clean-up":
            with pytest.raises(BundleError, match="is removed, but its clean-up function raised"):
                self.bundles.unregister(name)
        else:
            self.bundles.unregister(name)
        assert self.calls[name, serial] == [*POINTS, "clean-up"]

    @precondition(lambda self: not self.registered)
    @rule()
    def all_gone(self):
        assert state() == self.at_first

    @invariant()
    def the_registry_holds_what_is_registered(self):
        assert set(self.bundles.list_plugins().names()) == set(self.registered)
        ours = {f"{name}_op" for name in NAMES}
        assert ours & set(list_custom_ops()) == {f"{name}_op" for name in self.registered}
        assert {info.name for info in get_registry().records("bundle")} == set(self.registered)

    def teardown(self):
        for name in reversed([name for name in NAMES if name in self.registered]):
            self.unregister(name)
        assert state() == self.at_first


TestLifeCycle = LifeCycle.TestCase
TestLifeCycle.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)


def in_threads(function, count=8):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


@pytest.mark.slow
def test_eight_threads_register_run_and_remove_different_bundles():
    bundles, before = BundleRegistry(), state()

    def use(number):
        for _ in range(10):
            name = f"bundle{number}"
            made = make_op(f"op{number}", factor=number)
            bundles.register(builder(name).build().set_custom_operations_fn(lambda made=made: [made]))
            assert float(execute_custom_op(f"op{number}", [3.0])) == 3 * number
            assert bundles.get_plugin(name).info.name == name
            bundles.unregister(name)

    in_threads(use)
    assert state() == before
    assert bundles.list_plugins() == ()


def test_of_eight_threads_that_register_one_name_one_wins_and_calls_once():
    bundles, before, calls = BundleRegistry(), state(), []

    def register(number):
        bundle = builder().build().set_initialize_fn(lambda registry: calls.append(number))
        bundle.set_custom_operations_fn(lambda: [make_op("acme_op")])
        try:
            bundles.register(bundle)
        except BundleClashError:
            return None
        return number

    won = [number for number in in_threads(register) if number is not None]
    assert won == calls
    assert len(won) == 1

    def unregister(number):
        try:
            bundles.unregister("acme")
        except PluginNotFoundError:
            return 0
        return 1

    assert sum(in_threads(unregister)) == 1
    assert state() == before


def test_of_eight_threads_whose_bundles_bring_one_op_one_wins():
    bundles, before = BundleRegistry(), state()

    def register(number):
        bundle = builder(f"bundle{number}").build()
        bundle.set_custom_operations_fn(lambda: [make_op("shared_op")])
        try:
            bundles.register(bundle)
        except BundleClashError:
            return 0
        return 1

    assert sum(in_threads(register)) == 1
    bundles.clear()
    assert state() == before


def test_no_lock_is_held_while_functions_run():
    bundles = BundleRegistry()

    def elsewhere(registry):
        thread = threading.Thread(target=bundles.register, args=(builder("inner").build(),), daemon=True)
        thread.start()
        thread.join(10)
        assert bundles.is_registered("inner")

    bundles.register(builder("outer").build().set_initialize_fn(elsewhere))
    assert set(bundles.list_plugins().names()) == {"inner", "outer"}
