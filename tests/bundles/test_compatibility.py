"""Which hosts a bundle is for, and which bundles can stand beside each other."""

import pytest

from brainsmith.errors import (
    BundleClashError,
    BundleDefinitionError,
    BundleVersionError,
    DuplicatePluginError,
    PluginNotFoundError,
)
from brainsmith.plugin.core import get_registry, step
from brainsmith.plugin.version import Version
from tests.bundles.making import a_step, another_step, builder, make_bundle, recorded, refused


@pytest.mark.parametrize("version", ["999.0.0", "0.2.0", "0.1.1", "1.0.0"])
def test_pitfall_32_a_bundle_that_wants_a_newer_host_is_refused(bundles, version):
    calls = []
    bundle = recorded(builder().min_brainsmith_version(version).build(), calls)
    assert refused(BundleVersionError, bundles.register, bundle) == (
        f"bundle 'acme v1.0.0' needs brainsmith {version} or newer, and this is brainsmith 0.1.0: "
        "update brainsmith, or take an older version of the bundle"
    )
    assert calls == []


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
            "  it takes name, version, description, author, license, min_brainsmith, max_brainsmith, requires, "
            "requires_plugins, tags, priority, override, cache, inputs",
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
