"""What fails while a bundle comes or goes leaves everything as it was."""

import sys

import pytest

from brainsmith import ops
from brainsmith.errors import (
    BundleClashError,
    BundleError,
    PluginNotFoundError,
)
from brainsmith.plugin.core import get_registry
from tests.bundles.making import (
    a_step,
    boom,
    builder,
    line_of,
    make_bundle,
    make_op,
    ran,
    recorded,
    refused,
    state,
)


def test_pitfall_31_a_partial_failure_rolls_everything_back(bundles, watched):
    ops.register_custom_op(make_op("taken"))
    first, (bundle, calls) = make_op("acme_first"), watched
    bundle.set_custom_operations_fn(lambda: [first, make_op("taken")])
    bundle.set_plugins_fn(lambda: [("step", a_step, {})])
    message = refused(BundleClashError, bundles.register, bundle)
    place = get_registry().resolve("op", "taken").origin
    assert message == (
        "bundle 'acme v1.0.0' cannot be registered: the op 'taken' exists already:\n"
        f"  project:taken at {place}\n  acme:taken at {bundle.origin}"
    )
    assert ran(calls) == ["initialise", "clean-up"]
    assert first.bundle == ""
    assert not bundles.is_registered("acme")


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


def test_clean_up_runs_after_a_failure_only_if_initialise_ran(bundles, watched):
    bundle, calls = watched
    refused(BundleError, bundles.register, bundle.set_initialize_fn(boom))
    assert calls == []
    bundle = recorded(builder().build(), calls).set_custom_operations_fn(boom)
    refused(BundleError, bundles.register, bundle)
    assert ran(calls) == ["initialise", "clean-up"]


def test_a_clean_up_that_fails_while_rolling_back_is_said_too(bundles):
    bundle = builder().build().set_custom_operations_fn(lambda: None).set_cleanup_fn(boom)
    assert refused(BundleError, bundles.register, bundle) == (
        "bundle 'acme v1.0.0' cannot be registered: its custom operations function must return a list of ops, "
        "not None\n"
        f"  the clean-up function of bundle 'acme v1.0.0' raised ValueError: no licence {line_of(boom)}"
    )


def test_an_interrupt_rolls_back_and_goes_on(bundles, watched):
    def interrupted():
        raise KeyboardInterrupt

    bundle, calls = watched
    refused(KeyboardInterrupt, bundles.register, bundle.set_custom_operations_fn(interrupted))
    assert ran(calls) == ["initialise", "clean-up"]


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


def test_a_bundle_that_initialise_registers_goes_with_the_failure(bundles):
    inner, calls = make_bundle("inner", "inner_op"), []
    recorded(inner, calls)
    outer = builder("outer").build().set_custom_operations_fn(boom)
    outer.set_initialize_fn(lambda registry: bundles.register(inner))
    refused(BundleError, bundles.register, outer)
    assert ran(calls) == ["initialise", "clean-up"]
    outer.set_custom_operations_fn(list)
    bundles.register(outer)
    assert bundles.list_plugins().names() == ["outer", "inner"]
    assert get_registry().resolve("op", "inner_op").framework == "inner"


def test_a_bundle_cannot_end_the_host(bundles):
    bundle = make_bundle("acme", "acme_double").set_initialize_fn(lambda registry: sys.exit("bye"))
    assert "its initialise function raised SystemExit: bye" in refused(BundleError, bundles.register, bundle)
    bundle = make_bundle("acme", "acme_double").set_cleanup_fn(lambda registry: sys.exit(3))
    bundles.register(bundle)
    with pytest.raises(BundleError, match="its clean-up function raised SystemExit: 3"):
        bundles.unregister("acme")
    assert not ops.is_custom_op_registered("acme_double")
