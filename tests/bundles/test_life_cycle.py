"""A bundle's life in the one registry: what it brings, when its functions run, and that a failure leaves nothing."""

import sys
import types

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.op import Op
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import (
    BundleDependencyError,
    BundleError,
    BundleVersionError,
)
from brainsmith.plugin.core import get_registry, op, step
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.plugin.records import RecordList
from brainsmith.plugins import steps
from tests.bundles.making import (
    a_step,
    boom,
    builder,
    line_of,
    make_bundle,
    make_op,
    ran,
    refused,
    state,
)


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


def test_callbacks_run_once_each_in_order_with_the_one_registry(bundles, watched):
    bundle, calls = watched
    bundle.set_custom_operations_fn(lambda: calls.append(("ops", None)) or [make_op("acme_double")])
    bundles.register(bundle)
    registry = get_registry()
    assert calls == [("initialise", registry), ("ops", None)]
    bundles.unregister("acme")
    assert calls[2:] == [("clean-up", registry)]
    bundles.register(bundle)
    bundles.unregister("acme")
    assert ran(calls[3:]) == ["initialise", "ops", "clean-up"]


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


def test_pitfall_32_the_callbacks_of_a_bundle_are_called(bundles, watched):
    bundle, calls = watched
    bundles.register(bundle)
    bundles.unregister("acme")
    assert ran(calls) == ["initialise", "clean-up"]


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
