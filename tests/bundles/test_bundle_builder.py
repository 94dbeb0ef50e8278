"""What a bundle says of itself: every field, and what each refusal says."""

import dataclasses

import pytest

from brainsmith.bundles.bundle import Bundle, BundleInfo
from brainsmith.bundles.bundle_builder import BundleBuilder
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import BrainsmithError, BundleDefinitionError
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.version import Version, VersionRange
from tests.bundles.making import a_step, another_step, builder


def refused(call, *arguments):
    with pytest.raises(ValueError) as caught:
        call(*arguments)
    assert isinstance(caught.value, BundleDefinitionError)
    assert isinstance(caught.value, BrainsmithError)
    return str(caught.value)


def test_a_bundle_has_what_its_builder_was_told():
    bundle = (
        BundleBuilder()
        .name("acme")
        .version(Version(1, 2, 3))
        .description("Ops of Acme")
        .author("Ann")
        .license("MIT")
        .min_brainsmith_version("0.1.0")
        .max_brainsmith_version(Version(0, 9, 0))
        .depends_on("base", ">=1.0")
        .depends_on("other")
        .build()
    )
    assert isinstance(bundle, Bundle)
    assert bundle.info == BundleInfo(
        "acme",
        Version(1, 2, 3),
        Version(0, 1, 0),
        Version(0, 9, 0),
        "Ops of Acme",
        "Ann",
        (("base", VersionRange(">=1.0")), ("other", VersionRange())),
        "MIT",
    )
    assert (bundle.info.name, bundle.info.version) == ("acme", Version(1, 2, 3))
    assert bundle.origin.startswith(f"{__file__}:")


def test_a_bundle_prints_its_name_and_version():
    bundle = builder("acme", "1.0.0").build()
    assert str(bundle) == str(bundle.info) == f"{bundle}" == "acme v1.0.0"
    assert repr(bundle) == "<bundle acme v1.0.0>"


def test_what_a_bundle_says_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        builder().build().info.name = "other"


@pytest.mark.parametrize("field", ["name", "version", "description", "author", "min_brainsmith_version"])
def test_a_missing_field_is_named(field):
    complete = builder()
    del complete._fields[field]
    assert refused(complete.build) == f"a bundle needs {field}: BundleBuilder().{field}(...)"


def test_all_missing_fields_are_named_at_once():
    assert refused(BundleBuilder().name("acme").author("Ann").build) == (
        "a bundle needs version, description and min_brainsmith_version: "
        "BundleBuilder().version(...).description(...).min_brainsmith_version(...)"
    )


def test_an_empty_field_is_missing():
    assert (
        refused(builder().description("").build)
        == "a bundle needs description: BundleBuilder().description(...)"
    )


@pytest.mark.parametrize("name", ["my bundle", "1st", "a-b", "class"])
def test_a_name_that_is_no_identifier_is_refused(name):
    assert refused(builder(name).build) == f"the name of a bundle must be a Python identifier, not {name!r}"


@pytest.mark.parametrize("name", ["project", "brainsmith", "qonnx", "finn"])
def test_the_name_of_a_framework_is_refused(name):
    assert refused(builder(name).build) == f"the name of a bundle must not be that of the framework {name!r}"


def test_values_of_the_wrong_kind_are_refused():
    assert refused(BundleBuilder().name, 3) == "name of a bundle must be text, not 3"
    assert refused(BundleBuilder().version, "1.0") == (
        "version of a bundle: a version must be three numbers such as '1.0.0', not '1.0'"
    )
    assert refused(BundleBuilder().max_brainsmith_version, None) == (
        "max_brainsmith_version of a bundle: a version must be three numbers such as '1.0.0', not None"
    )
    assert refused(BundleBuilder().depends_on, "base", "1.0") == (
        "a range of versions must be comparisons such as '>=1.0' or '>=1.0, <2', not '1.0'"
    )
    assert (
        refused(BundleBuilder().depends_on, "a b")
        == "the name of a bundle must be a Python identifier, not 'a b'"
    )


def test_a_greatest_version_below_the_least_is_refused():
    assert refused(builder().max_brainsmith_version("0.0.9").build) == (
        "bundle 'acme v1.0.0': max_brainsmith_version 0.0.9 is below min_brainsmith_version 0.1.0"
    )


def test_a_bundle_cannot_need_itself():
    assert refused(builder().depends_on("acme").build) == (
        "bundle 'acme v1.0.0': the bundle 'acme' cannot depend on itself"
    )


@pytest.mark.parametrize(
    "setter", ["set_initialize_fn", "set_cleanup_fn", "set_custom_operations_fn", "set_plugins_fn"]
)
def test_a_callback_must_be_a_function(setter):
    bundle = builder().build()
    assert refused(getattr(bundle, setter), 3) == f"{setter} of bundle 'acme v1.0.0' needs a function, not 3"
    assert getattr(bundle, setter)(list) is bundle


def test_a_licence_is_that_of_the_plugins_that_state_none():
    bundle = builder().license("MIT").build()
    bundle.set_plugins_fn(lambda: [("step", a_step, {}), ("step", another_step, {"license": "Apache-2.0"})])
    bundles = BundleRegistry()
    bundles.register(bundle)
    found = get_registry()
    names = [("bundle", "acme"), ("step", "a_step"), ("step", "another_step")]
    assert [found.resolve(*name).license for name in names] == ["MIT", "MIT", "Apache-2.0"]
    bundles.unregister("acme")
