"""What a discovery is asked for: one mode, or several whose findings are united."""

import pytest

from brainsmith.errors import PluginNotFoundError, SettingsError
from brainsmith.plugin import load_blueprint_plugins
from brainsmith.plugin.request import Request
from tests.plugin.installed import step_file, transform_file


@pytest.fixture
def blueprint(project):
    """A project that reads no framework, and a blueprint that names one of its two steps."""
    project.write(".brainsmith/config.yaml", "plugin_system: {frameworks: []}\n")
    project.write("plugins/first.py", step_file("first", 1))
    project.write("plugins/second.py", step_file("second", 2))
    project.write("plugins/third.py", transform_file("Third"))
    return str(project.write("my.yaml", "hw_compiler: {steps: [first]}\n"))


def names(records):
    return {(info.type, info.name) for info in records}


@pytest.mark.slow
def test_selective_and_blueprint_are_united(blueprint, manager):
    load_blueprint_plugins(blueprint)
    selected = manager.discover_plugins(modes=["selective"], types=["transform"], frameworks=["project"])
    assert names(selected) == {("transform", "Third")}
    named = manager.discover_plugins(modes=["blueprint"])
    assert names(named) == {("step", "first")}
    for modes in (["selective", "blueprint"], ["blueprint", "selective"]):
        both = manager.discover_plugins(modes=modes, types=["transform"], frameworks=["project"])
        assert names(both) == names(selected) | names(named)
        assert names(manager.registry.records()) == names(both)
    with pytest.raises(PluginNotFoundError):
        manager.registry.resolve("step", "second")
    both = manager.discover_plugins(modes=["selective", "blueprint"], types=["transform"])
    assert names(both) == {("step", "first")} | names(
        manager.discover_plugins(modes=["selective"], types=["transform"])
    )


@pytest.mark.parametrize("modes", [["full", "blueprint"], ["selective", "full"]])
def test_full_and_anything_is_everything_of_the_types(blueprint, manager, modes):
    load_blueprint_plugins(blueprint)
    found = manager.discover_plugins(modes=modes, frameworks=["project"])
    assert names(found) == {("step", "first"), ("step", "second"), ("transform", "Third")}


def test_the_union_too_needs_a_blueprint(blueprint, manager):
    with pytest.raises(SettingsError) as caught:
        manager.discover_plugins(modes=["selective", "blueprint"], types=["step"])
    assert str(caught.value) == (
        "discovery_mode is blueprint (from the call), and no blueprint is loaded\n"
        "  load one: load_blueprint_plugins('my.yaml'), or set discovery_mode: full"
    )


def test_an_unknown_mode_or_type_is_an_error():
    with pytest.raises(SettingsError) as caught:
        Request.of(["selective", "some"], None, None, "full")
    assert str(caught.value) == "mode must be full or blueprint or selective, not 'some'"
    with pytest.raises(SettingsError) as caught:
        Request.of(None, None, "kernels", "full")
    assert str(caught.value) == (
        "there is no plugin type 'kernels'; the types are transform, kernel, backend, step, op, target, bundle"
    )
