"""A bundle's life in the one registry: what it brings, when its functions run, and that a failure leaves nothing."""

import sys
import types

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.op import Op
from brainsmith.bundles.registry import BundleRegistry
from brainsmith.errors import (
    BundleClashError,
    BundleDefinitionError,
    BundleDependencyError,
    BundleError,
    BundleVersionError,
    DuplicatePluginError,
    PluginNotFoundError,
)
from brainsmith.plugin.core import get_registry, op, step
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.plugin.records import RecordList
from brainsmith.plugin.version import Version
from brainsmith.plugins import steps
from tests.bundles.making import a_step, another_step, builder, make_bundle, make_op, state


@pytest.fixture
def bundles():
    return BundleRegistry()


def refused(error, call, *arguments):
    """Call; it must fail, and leave the one registry as it was. Returns the message."""
    before, listed = state(), BundleRegistry().list_plugins()
    with pytest.raises(error) as caught:
        call(*arguments)
    assert state() == before
    assert BundleRegistry().list_plugins() == listed
    return str(caught.value)


def boom(*_):
    raise ValueError("no licence")


def recorded(bundle, calls):
    """Have a bundle note when its functions run."""
    bundle.set_initialize_fn(lambda registry: calls.append(("initialise", registry)))
    bundle.set_cleanup_fn(lambda registry: calls.append(("clean-up", registry)))
    return bundle


def test_a_registered_bundle_is_listed_and_its_ops_run(bundles):
    bundle = make_bundle("acme", "acme_double", "acme_twice")
    before = state()
    info = bundles.register(bundle)
    assert bundles.is_registered("acme")
    assert bundles.get_plugin("acme") is bundle
    assert isinstance(bundles.list_plugins(), RecordList)
    assert bundles.list_plugins().items() == [("acme", info)]
    assert ops.execute_custom_op("acme_double", [np.float32([1, 2])]).tolist() == [2, 4]
    bundles.unregister("acme")
    assert not bundles.is_registered("acme")
    assert not ops.is_custom_op_registered("acme_double")
    assert state() == before


def test_a_bundle_is_a_record_of_the_one_registry(bundles):
    bundle = builder().max_brainsmith_version("0.5.0").build()
    bundle.set_custom_operations_fn(lambda: [make_op("acme_double")])
    info = bundles.register(bundle)
    assert get_registry().resolve("bundle", "acme") is info
    assert get_registry().get("bundle", "acme") is bundle
    assert (info.qualified, info.version, info.description, info.author) == (
        "acme:acme",
        "1.0.0",
        "Ops of Acme",
        "Ann",
    )
    assert (info.min_brainsmith, info.max_brainsmith) == ("0.1.0", "0.5.0")
    assert (info.extra, info.file) == ({"ops": ("acme_double",)}, bundle.origin.rpartition(":")[0])


def test_ops_know_their_bundle_and_stand_under_its_name(bundles):
    bundles.register(make_bundle("acme", "acme_double"))
    found = ops.get_custom_op("acme_double")
    assert found.bundle == "acme"
    assert get_registry().resolve("op", "acme:acme_double").framework == "acme"
    bundles.unregister("acme")
    assert found.bundle == ""


def test_a_bundle_brings_plugins_of_any_type_under_its_name(bundles):
    from qonnx.transformation.base import Transformation

    class AcmeTidy(Transformation):
        def apply(self, model):
            return model, False

    class AcmeNegate(Op):
        def forward(self, x):
            return -x

    bundle = builder().build()
    bundle.set_plugins_fn(
        lambda: [
            ("transform", AcmeTidy, {"stage": "tidy"}),
            ("step", a_step, {"name": "acme_step", "description": "Nothing"}),
            ("op", AcmeNegate, {"name": "acme_negate"}),
        ]
    )
    before = state()
    bundles.register(bundle)
    assert get_registry().get("transform", "acme:AcmeTidy") is AcmeTidy
    assert get_registry().resolve("transform", "AcmeTidy").stage == "tidy"
    assert steps.acme.acme_step is a_step
    assert ops.execute_custom_op("acme_negate", [np.float32([1])]).tolist() == [-1]
    bundles.unregister("acme")
    assert state() == before


def test_callbacks_run_once_each_in_order_with_the_one_registry(bundles):
    calls = []
    bundle = recorded(builder().build(), calls)
    bundle.set_custom_operations_fn(lambda: calls.append(("ops", None)) or [make_op("acme_double")])
    bundles.register(bundle)
    registry = get_registry()
    assert calls == [("initialise", registry), ("ops", None)]
    bundles.unregister("acme")
    assert calls[2:] == [("clean-up", registry)]
    bundles.register(bundle)
    bundles.unregister("acme")
    assert [what for what, _ in calls[3:]] == ["initialise", "ops", "clean-up"]


def test_ops_are_there_during_clean_up_and_not_during_initialise(bundles):
    there = []
    bundle = make_bundle("acme", "acme_double")
    bundle.set_initialize_fn(lambda registry: there.append(ops.is_custom_op_registered("acme_double")))
    bundle.set_cleanup_fn(lambda registry: there.append(ops.is_custom_op_registered("acme_double")))
    bundles.register(bundle)
    bundles.unregister("acme")
    assert there == [False, True]


def test_what_initialise_registers_by_any_door_is_the_bundles(bundles):
    def initialise(registry):
        ops.register_custom_op(make_op("acme_late"))
        step(name="acme_late_step")(a_step)

        @op(name="acme_class")
        class AcmeClass(Op):
            def forward(self, x):
                return x

    before = state()
    bundles.register(builder().build().set_initialize_fn(initialise))
    for name in ("acme_late", "acme_class"):
        assert get_registry().resolve("op", name).framework == "acme"
        assert ops.get_custom_op(name).bundle == "acme"
    assert steps.acme.acme_late_step is a_step
    assert get_registry().resolve("bundle", "acme").extra["ops"] == ("acme_late", "acme_class")
    bundles.unregister("acme")
    assert state() == before


def test_pitfall_31_operations_are_registered_once_by_one_place(bundles):
    made = make_op("acme_double")
    calls = []
    bundle = builder().build()
    bundle.set_initialize_fn(lambda registry: ops.register_custom_op(made))
    bundle.set_custom_operations_fn(lambda: calls.append(1) or [made])
    bundle.set_plugins_fn(lambda: [("op", made, {})])
    bundles.register(bundle)
    found = [info for info in get_registry().records("op") if info.name == "acme_double"]
    assert [info.framework for info in found] == ["acme"]
    assert calls == [1]
    assert ops.get_custom_op("acme_double") is made


def test_pitfall_31_a_partial_failure_rolls_everything_back(bundles):
    ops.register_custom_op(make_op("taken"))
    first, calls = make_op("acme_first"), []
    bundle = recorded(builder().build(), calls)
    bundle.set_custom_operations_fn(lambda: [first, make_op("taken")])
    bundle.set_plugins_fn(lambda: [("step", a_step, {})])
    message = refused(BundleClashError, bundles.register, bundle)
    place = get_registry().resolve("op", "taken").origin
    assert message == (
        "bundle 'acme v1.0.0' cannot be registered: the op 'taken' exists already:\n"
        f"  project:taken at {place}\n  acme:taken at {bundle.origin}"
    )
    assert [what for what, _ in calls] == ["initialise", "clean-up"]
    assert first.bundle == ""
    assert not bundles.is_registered("acme")


@pytest.mark.parametrize("version", ["999.0.0", "0.2.0", "0.1.1", "1.0.0"])
def test_pitfall_32_a_bundle_that_wants_a_newer_host_is_refused(bundles, version):
    calls = []
    bundle = recorded(builder().min_brainsmith_version(version).build(), calls)
    assert refused(BundleVersionError, bundles.register, bundle) == (
        f"bundle 'acme v1.0.0' needs brainsmith {version} or newer, and this is brainsmith 0.1.0: "
        "update brainsmith, or take an older version of the bundle"
    )
    assert calls == []


def test_pitfall_32_the_callbacks_of_a_bundle_are_called(bundles):
    calls = []
    bundles.register(recorded(builder().min_brainsmith_version("0.1.0").build(), calls))
    bundles.unregister("acme")
    assert [what for what, _ in calls] == ["initialise", "clean-up"]


def test_a_bundle_for_an_older_host_is_refused(bundles, monkeypatch):
    old = builder().min_brainsmith_version("0.0.1").max_brainsmith_version("0.0.9").build()
    assert refused(BundleVersionError, bundles.register, old) == (
        "bundle 'acme v1.0.0' works up to brainsmith 0.0.9, and this is brainsmith 0.1.0: "
        "take a newer version of the bundle"
    )
    monkeypatch.setattr("brainsmith.__version__", "1.2.0")
    assert Version.current() == Version(1, 2, 0)
    with pytest.raises(BundleVersionError) as caught:
        bundles.register(builder().max_brainsmith_version("2.0.0").build())
    assert str(caught.value) == (
        "bundle 'acme v1.0.0' is made for brainsmith 0.x (0.1.0 or newer), and this is brainsmith 1.2.0: "
        "take a newer version of the bundle"
    )


def test_the_limits_themselves_will_do(bundles):
    bundles.register(builder().min_brainsmith_version("0.1.0").max_brainsmith_version("0.1.0").build())
    assert bundles.is_registered("acme")


def test_a_second_bundle_of_a_name_is_refused(bundles):
    calls = []
    bundles.register(make_bundle("acme", "acme_double"))
    message = refused(
        DuplicatePluginError, bundles.register, recorded(builder("acme", "2.0.0").build(), calls)
    )
    assert message == (
        "bundle 'acme v2.0.0' cannot be registered: 'acme v1.0.0' is registered already; remove it first"
    )
    assert calls == []


def line_of(function):
    return f"({__file__}:{function.__code__.co_firstlineno + 1})"


@pytest.mark.parametrize(
    ("setter", "what"),
    [
        ("set_initialize_fn", "initialise"),
        ("set_custom_operations_fn", "custom operations"),
        ("set_plugins_fn", "plugins"),
    ],
)
def test_a_function_that_raises_rolls_everything_back(bundles, setter, what):
    bundle = make_bundle("acme", "acme_double")
    bundle.set_initialize_fn(lambda registry: ops.register_custom_op(make_op("acme_early")))
    if setter == "set_initialize_fn":
        bundle.set_initialize_fn(lambda registry: (ops.register_custom_op(make_op("acme_early")), boom()))
    else:
        getattr(bundle, setter)(boom)
    assert refused(BundleError, bundles.register, bundle) == (
        f"bundle 'acme v1.0.0' cannot be registered: its {what} function raised ValueError: no licence {line_of(boom)}"
    )
    bundles.register(make_bundle("acme", "acme_double", "acme_early"))


def test_clean_up_runs_after_a_failure_only_if_initialise_ran(bundles):
    calls = []
    bundle = recorded(builder().build(), calls).set_initialize_fn(boom)
    refused(BundleError, bundles.register, bundle)
    assert calls == []
    bundle = recorded(builder().build(), calls).set_custom_operations_fn(boom)
    refused(BundleError, bundles.register, bundle)
    assert [what for what, _ in calls] == ["initialise", "clean-up"]


def test_a_clean_up_that_fails_while_rolling_back_is_said_too(bundles):
    bundle = builder().build().set_custom_operations_fn(lambda: None).set_cleanup_fn(boom)
    assert refused(BundleError, bundles.register, bundle) == (
        "bundle 'acme v1.0.0' cannot be registered: its custom operations function must return a list of ops, "
        "not None\n"
        f"  the clean-up function of bundle 'acme v1.0.0' raised ValueError: no licence {line_of(boom)}"
    )


def test_an_interrupt_rolls_back_and_goes_on(bundles):
    def interrupted():
        raise KeyboardInterrupt

    calls = []
    bundle = recorded(builder().build(), calls).set_custom_operations_fn(interrupted)
    refused(KeyboardInterrupt, bundles.register, bundle)
    assert [what for what, _ in calls] == ["initialise", "clean-up"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (
            [("step", a_step)],
            "a plugin of bundle 'acme v1.0.0' must be (type, object, keywords), "
            "such as ('transform', MyTransform, {'stage': 'tidy'}), not ('step', <function a_step at {id}>)",
        ),
        (
            [("stepp", a_step, {})],
            "the type of a plugin of bundle 'acme v1.0.0' must be "
            "transform, kernel, backend, step, op or target, not 'stepp'",
        ),
        (
            [("bundle", a_step, {})],
            "the type of a plugin of bundle 'acme v1.0.0' must be "
            "transform, kernel, backend, step, op or target, not 'bundle'",
        ),
        (
            [("step", a_step, {"stag": 1})],
            "bundle 'acme v1.0.0': {origin}: @step has no keyword 'stag'. Did you mean 'tags'?\n"
            "  it takes name, version, description, author, min_brainsmith, max_brainsmith, requires, tags, "
            "priority, override",
        ),
        (
            [("transform", a_step, {"stage": "tidy"})],
            "bundle 'acme v1.0.0': {origin}: @transform needs a subclass of qonnx's Transformation, "
            "not the function a_step",
        ),
        (
            [("op", a_step, {})],
            "an op of bundle 'acme v1.0.0' must be an Op or a class of ops, not <function a_step at {id}>",
        ),
        (
            [("step", a_step, {"name": "same"}), ("step", another_step, {"name": "same"})],
            "bundle 'acme v1.0.0' cannot be registered: step 'same' is defined twice in framework 'acme':\n"
            "  {origin}\n  {origin}",
        ),
    ],
)
def test_what_a_bundle_cannot_bring(bundles, items, message):
    bundle = make_bundle("acme", "acme_double").set_plugins_fn(lambda: items)
    assert refused((BundleDefinitionError, BundleClashError), bundles.register, bundle) == message.replace(
        "{origin}", bundle.origin
    ).replace("{id}", hex(id(a_step)))


def test_a_plugin_that_is_one_already_is_refused(bundles):
    step(name="mine")(a_step)
    bundle = builder().build().set_plugins_fn(lambda: [("step", a_step, {})])
    place = get_registry().resolve("step", "mine").origin
    assert refused(BundleClashError, bundles.register, bundle) == (
        "bundle 'acme v1.0.0' cannot be registered: the step 'a_step' exists already:\n"
        f"  project:mine at {place}\n  acme:a_step at {bundle.origin}"
    )


def test_only_a_bundle_can_be_registered(bundles):
    assert refused(BundleDefinitionError, bundles.register, "acme") == (
        "only a Bundle can be registered, such as BundleBuilder()....build(), not 'acme'"
    )


def test_a_missing_bundle_is_named_with_a_suggestion(bundles):
    message = "no bundle named 'acme' is registered\n  registered are: none"
    assert refused(PluginNotFoundError, bundles.get_plugin, "acme") == message
    bundles.register(make_bundle("acme"))
    bundles.register(make_bundle("other"))
    for call in (bundles.get_plugin, bundles.unregister):
        assert refused(PluginNotFoundError, call, "acne") == (
            "no bundle named 'acne' is registered. Did you mean 'acme'?\n  registered are: acme, other"
        )


def test_a_failing_clean_up_removes_the_operations_and_then_raises(bundles):
    before = state()
    bundles.register(make_bundle("acme", "acme_double").set_cleanup_fn(boom))
    with pytest.raises(BundleError) as caught:
        bundles.unregister("acme")
    assert str(caught.value) == (
        f"bundle 'acme v1.0.0' is removed, but its clean-up function raised ValueError: no licence {line_of(boom)}"
    )
    assert isinstance(caught.value.__cause__, ValueError)
    assert state() == before
    assert not bundles.is_registered("acme")
    with pytest.raises(PluginNotFoundError):
        bundles.unregister("acme")


def test_a_bundle_that_is_needed_stays_and_its_needs_must_be_there(bundles):
    top = make_bundle("top", "top_op", needs=["base >=1.0, <2"])
    assert refused(BundleDependencyError, bundles.register, top) == (
        "bundle 'top v1.0.0' needs the bundle 'base >=1.0.0, <2.0.0', which is not registered: register it first"
    )
    bundles.register(make_bundle("base", version="2.0.0"))
    assert refused(BundleVersionError, bundles.register, top) == (
        "bundle 'top v1.0.0' needs the bundle 'base >=1.0.0, <2.0.0', and 'base v2.0.0' is registered"
    )
    bundles.unregister("base")
    bundles.register(make_bundle("base"))
    bundles.register(top)
    assert refused(BundleDependencyError, bundles.unregister, "base") == (
        "bundle 'base v1.0.0' cannot be removed: 'top v1.0.0' needs it; remove what needs it first"
    )
    bundles.register(make_bundle("side", needs=["base"]))
    assert refused(BundleDependencyError, bundles.unregister, "base") == (
        "bundle 'base v1.0.0' cannot be removed: 'top v1.0.0' and 'side v1.0.0' need it; remove what needs it first"
    )
    for name in ("side", "top", "base"):
        bundles.unregister(name)


def test_a_bundle_that_initialise_registers_goes_with_the_failure(bundles):
    inner, calls = make_bundle("inner", "inner_op"), []
    recorded(inner, calls)
    outer = builder("outer").build().set_custom_operations_fn(boom)
    outer.set_initialize_fn(lambda registry: bundles.register(inner))
    refused(BundleError, bundles.register, outer)
    assert [what for what, _ in calls] == ["initialise", "clean-up"]
    outer.set_custom_operations_fn(list)
    bundles.register(outer)
    assert bundles.list_plugins().names() == ["outer", "inner"]
    assert get_registry().resolve("op", "inner_op").framework == "inner"


def test_a_reset_cleans_up_dependents_first_and_goes_on_after_a_failure(bundles):
    calls = []
    base = make_bundle("base", "base_op").set_cleanup_fn(lambda registry: calls.append("base"))
    top = make_bundle("top", needs=["base"]).set_cleanup_fn(lambda registry: (calls.append("top"), boom()))
    bundles.register(base)
    bundles.register(top)
    with pytest.raises(BundleError) as caught:
        reset_plugin_system()
    assert str(caught.value) == (
        f"bundle 'top v1.0.0' is removed, but its clean-up function raised ValueError: no licence {line_of(boom)}"
    )
    assert calls == ["top", "base"]
    assert bundles.list_plugins() == ()
    assert not ops.is_custom_op_registered("base_op")
    reset_plugin_system()


def test_every_object_of_the_class_sees_the_same_bundles(bundles):
    bundles.register(make_bundle("acme"))
    assert BundleRegistry().is_registered("acme")


def test_a_node_type_is_taken_out_of_the_frameworks_table(bundles, monkeypatch):
    module = types.ModuleType("acme_domain")
    module.custom_op = {}
    monkeypatch.setitem(sys.modules, "acme_domain", module)

    class HWCustomOp:
        pass

    HWCustomOp.__module__ = "finn.custom_op.fpgadataflow.hwcustomop"

    class AcmeNode(HWCustomOp):
        pass

    bundle = builder().build()
    bundle.set_plugins_fn(lambda: [("kernel", AcmeNode, {"domain": "acme_domain"})])
    bundles.register(bundle)
    assert module.custom_op == {"AcmeNode": AcmeNode}
    bundles.unregister("acme")
    assert module.custom_op == {}


def test_a_bundle_cannot_end_the_host(bundles):
    bundle = make_bundle("acme", "acme_double").set_initialize_fn(lambda registry: sys.exit("bye"))
    assert "its initialise function raised SystemExit: bye" in refused(BundleError, bundles.register, bundle)
    bundle = make_bundle("acme", "acme_double").set_cleanup_fn(lambda registry: sys.exit(3))
    bundles.register(bundle)
    with pytest.raises(BundleError, match="its clean-up function raised SystemExit: 3"):
        bundles.unregister("acme")
    assert not ops.is_custom_op_registered("acme_double")
