"""Bundles whose files have changed are loaded again: the new version whole, or the old one as it was."""

import sys

import pytest

from brainsmith import ops
from brainsmith import plugins as door
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import BundleError
from tests.bundles.making import make_bundle, source, state
from tests.bundles.test_bundle_loader import calls_of, refused, run


def test_a_changed_file_is_loaded_again(write):
    path = write(source())
    door.load_plugin(path)
    calls = calls_of("acme")
    assert door.reload_plugin("acme") is False
    assert calls == ["initialise"]
    write(source(version="1.1.0", factor=7))
    assert door.reload_plugin("acme") is True
    assert calls == ["initialise", "clean-up"]
    assert (run("acme_op"), door.get_plugin_info("acme").version) == (21.0, "1.1.0")
    assert calls_of("acme") == ["initialise"]
    assert door.reload_plugin("acme") is False
    door.unload_plugin("acme")
    assert not ops.is_custom_op_registered("acme_op")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"more": "1 / 0"}, "cannot be loaded: it raised ZeroDivisionError: division by zero"),
        ({"least": "999.0.0"}, "bundle 'acme v1.0.0' needs brainsmith 999.0.0 or newer"),
        ({"name": "other"}, "it is the bundle 'other v1.0.0' now, and no longer 'acme'"),
        (
            {"version": "2.0.0"},
            "cannot take the place of the loaded one: 'user v1.0.0' needs 'acme >=1.0.0, <2.0.0'",
        ),
        ({"needs": [("gone", "")]}, "needs the bundle 'gone', which is neither loaded nor found"),
        (
            {"more": "bundle.set_initialize_fn(lambda registry: 1 / 0)"},
            "its initialise function raised ZeroDivision",
        ),
        ({"more": "bundle.set_custom_operations_fn(lambda: 3)"}, "must return a list of ops, not 3"),
    ],
)
def test_a_new_version_that_cannot_be_loaded_leaves_the_old_one(write, changes, message):
    path = write(source())
    door.load_plugin(path)
    BundleRegistry().register(make_bundle("user", needs=["acme >=1.0, <2"]))
    module = BundleRegistry().get_plugin("acme").module
    objects = state()[0]
    write(source(**{"factor": 7, **changes}))
    with pytest.raises(BundleError) as caught:
        door.reload_plugin("acme")
    assert message in str(caught.value)
    assert state()[0] == objects
    assert (run("acme_op"), door.get_plugin_info("acme").version) == (6.0, "1.0.0")
    assert sys.modules[module.__name__] is module
    assert module.calls in (["initialise"], ["initialise", "clean-up", "initialise"])
    write(source(version="1.5.0", factor=8))
    assert door.reload_plugin("acme") is True
    assert run("acme_op") == 24.0
    door.unload_plugin("user")
    door.unload_plugin("acme")


def test_a_bundle_that_has_no_file_cannot_be_loaded_again():
    BundleRegistry().register(make_bundle("acme"))
    assert refused(BundleError, door.reload_plugin, "acme") == (
        "bundle 'acme' was registered as an object: there is no file to load it from again"
    )


@pytest.mark.slow
def test_a_changed_plugin_json_is_a_change_too(put):
    path = put("acme")
    door.load_plugin(path)
    put("acme", description="New")
    assert door.reload_plugin("acme") is True
    assert door.get_plugin_info("acme").description == "New"
