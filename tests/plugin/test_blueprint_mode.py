"""Blueprint mode: only what the loaded blueprint names is found, until something else is asked for."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import pytest

from brainsmith.errors import AmbiguousPluginError, PluginNotFoundError, SettingsError
from brainsmith.plugin import load_blueprint_plugins
from brainsmith.plugin.manager import reset_plugin_system
from tests.plugin.installed import run_python, step_file, transform_file

BLUEPRINT = """
hw_compiler:
  transforms: [ExpandNorms, "~not_there"]
  steps: [first, transforms]
"""


@pytest.fixture
def blueprint(project):
    project.write("plugins/first.py", step_file("first", 1))
    project.write("plugins/second.py", step_file("second", 2))
    return str(project.write("my.yaml", BLUEPRINT))


def names(records):
    return {info.name for info in records}


def test_a_blueprint_s_collections_hold_what_it_names(blueprint):
    plugins = load_blueprint_plugins(blueprint)
    assert names(plugins["transforms"]) == {"ExpandNorms"}
    assert names(plugins["steps"]) == {"first"}
    assert names(plugins["kernels"]) == set()
    assert plugins["steps"].first(None, None) == 1
    assert len(plugins["skipped"]) == 1
    with pytest.raises(PluginNotFoundError) as caught:
        plugins["transforms"].ConvertDivToMul
    assert str(caught.value) == (
        "no transform named 'ConvertDivToMul'\n"
        f"  there are only the plugins that {blueprint} names: ExpandNorms, first\n"
        "  1 is registered: brainsmith plugins list --type transform"
    )


@pytest.mark.slow
def test_a_bare_name_means_in_a_blueprint_s_collections_what_it_means_elsewhere(project):
    project.write("plugins/cleanup.py", step_file("cleanup", 1))
    blueprint = """
    hw_compiler:
      transforms:
        - {transform: "qonnx:MoveOpPastFork", args: {op_name_list: [Add]}}
        - {transform: "finn:MoveOpPastFork", args: {op_name_list: [Add]}}
      steps: ["brainsmith:cleanup", "project:cleanup", transforms]
    """
    plugins = load_blueprint_plugins(project.write("my.yaml", blueprint))
    assert plugins["steps"].cleanup(None, None) == 1
    assert plugins["steps"]["brainsmith:cleanup"].__module__ == "brainsmith.steps.cleanup"
    assert plugins["transforms"].get_info("finn:MoveOpPastFork").framework == "finn"
    with pytest.raises(AmbiguousPluginError) as caught:
        plugins["transforms"].MoveOpPastFork
    assert str(caught.value) == (
        "transform 'MoveOpPastFork' exists in several frameworks; say which: finn:MoveOpPastFork, qonnx:MoveOpPastFork"
    )


@pytest.mark.slow
def test_pitfall_08_a_blueprint_does_not_bind_a_full_discovery(blueprint, manager):
    load_blueprint_plugins(blueprint)
    assert {"second", "ConvertDivToMul"} <= names(manager.discover_plugins(modes=["full"]))
    assert {"second", "ConvertDivToMul"} <= names(manager.registry.records())


@pytest.mark.slow
def test_in_blueprint_mode_the_door_shows_what_the_blueprint_names(blueprint, monkeypatch):
    from brainsmith.plugins import steps, transforms

    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    load_blueprint_plugins(blueprint)
    with pytest.raises(PluginNotFoundError):
        transforms.ConvertDivToMul
    assert names(transforms) == {"ExpandNorms"}
    assert names(steps) == {"first"}
    assert steps.first(None, None) == 1
    with pytest.raises(PluginNotFoundError):
        steps.second


@pytest.mark.slow
def test_blueprint_mode_and_then_full_and_back(blueprint, manager):
    load_blueprint_plugins(blueprint)
    assert names(manager.discover_plugins(modes=["blueprint"])) == {"ExpandNorms", "first"}
    assert "second" in names(manager.discover_plugins(modes=["full"]))
    assert names(manager.discover_plugins(modes=["blueprint"])) == {"ExpandNorms", "first"}
    assert names(manager.registry.records()) == {"ExpandNorms", "first"}


@pytest.mark.slow
def test_pitfall_08_blueprint_mode_heeds_the_types_that_are_asked_for(blueprint, manager):
    load_blueprint_plugins(blueprint)
    assert names(manager.discover_plugins(modes=["blueprint"], types=["step"])) == {"first"}
    assert names(manager.discover_plugins(modes=["blueprint"], types=["transform"])) == {"ExpandNorms"}
    assert names(manager.discover_plugins(modes=["blueprint"])) == {"ExpandNorms", "first"}


@pytest.mark.slow
def test_health_leaves_the_mode_as_it_is(blueprint, manager):
    load_blueprint_plugins(blueprint)
    manager.discover_plugins(modes=["blueprint"])
    assert manager.health_check()["frameworks"]["finn"] > 300
    assert names(manager.registry.records()) == {"ExpandNorms", "first"}
    manager.discover_plugins(modes=["selective"], frameworks=["project"])
    assert manager.health_check()["frameworks"]["finn"] > 300
    assert names(manager.registry.records()) == {"first", "second"}


@pytest.mark.slow
def test_in_blueprint_mode_another_blueprint_takes_the_place_of_the_first(blueprint, project, monkeypatch):
    from brainsmith.plugins import steps

    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    load_blueprint_plugins(blueprint)
    assert steps.first(None, None) == 1
    load_blueprint_plugins(project.write("other.yaml", BLUEPRINT.replace("first", "second")))
    assert not hasattr(steps, "first")
    assert steps.second(None, None) == 2


@pytest.mark.parametrize(
    "use",
    [
        "manager.discover_plugins()",
        "manager.registry",
        "transforms.list_plugins()",
        "transforms.ExpandNorms",
        "get_registry()",
    ],
)
def test_blueprint_mode_without_a_blueprint_is_an_error_that_names_both(project, use):
    path = project.write(".brainsmith/config.yaml", "plugin_system: {discovery_mode: blueprint}\n")
    from brainsmith.plugin.core import get_registry
    from brainsmith.plugin.manager import get_plugin_manager
    from brainsmith.plugins import transforms

    with pytest.raises(SettingsError) as caught:
        eval(use, {"manager": get_plugin_manager(), "transforms": transforms, "get_registry": get_registry})
    assert str(caught.value) == (
        f"discovery_mode is blueprint (from {path}), and no blueprint is loaded\n"
        "  load one: load_blueprint_plugins('my.yaml'), or set discovery_mode: full"
    )


@pytest.mark.slow
def test_a_changed_blueprint_is_read_again(blueprint, project):
    assert names(load_blueprint_plugins(blueprint)["steps"]) == {"first"}
    project.write("my.yaml", BLUEPRINT.replace("first", "second"))
    assert names(load_blueprint_plugins(blueprint)["steps"]) == {"second"}


@pytest.mark.slow
def test_a_plugin_of_the_blueprint_that_moves_is_found_where_it_is(blueprint, project):
    assert load_blueprint_plugins(blueprint)["steps"].get_info("first").file.endswith("first.py")
    (project / "plugins/first.py").rename(project / "plugins/moved.py")
    assert load_blueprint_plugins(blueprint)["steps"].get_info("first").file.endswith("moved.py")


@pytest.mark.slow
def test_pitfall_05_a_changed_group_in_the_settings_is_seen(project):
    for name in ("A", "B"):
        project.write(f"plugins/{name.lower()}.py", transform_file(name))
    path = str(project.write("my.yaml", "hw_compiler:\n  transforms: [mine]\n"))
    project.write(".brainsmith/config.yaml", "plugin_system: {groups: {mine: [A]}}\n")
    assert names(load_blueprint_plugins(path)["transforms"]) == {"A"}
    project.write(".brainsmith/config.yaml", "plugin_system: {groups: {mine: [B]}}\n")
    assert names(load_blueprint_plugins(path)["transforms"]) == {"B"}
    reset_plugin_system()
    assert names(load_blueprint_plugins(path)["transforms"]) == {"B"}


@pytest.mark.slow
def test_a_fresh_process_needs_no_yaml_from_its_second_use_on(blueprint, project):
    import time

    time.sleep(0.1)
    code = f"""
    import json, sys
    from brainsmith.plugin import load_blueprint_plugins
    plugins = load_blueprint_plugins({blueprint!r})
    heavy = [name for name in ("yaml", "stevedore", "qonnx", "onnx", "numpy", "brainsmith.blueprint.loader") if name in sys.modules]
    print(json.dumps([sorted(i.name for i in plugins["steps"]), plugins["transforms"].list_plugins().names(), heavy]))
    """
    first = run_python(code, cwd=project.folder)
    second = run_python(code, cwd=project.folder)
    assert first[:2] == second[:2] == [["first"], ["ExpandNorms"]]
    assert second[2] == []


@pytest.mark.slow
def test_a_blueprint_imports_only_what_is_used(blueprint, project):
    code = f"""
    import json, sys
    from brainsmith.plugin import load_blueprint_plugins
    plugins = load_blueprint_plugins({blueprint!r})
    before = [name for name in sys.modules if name.startswith("brainsmith_folder_")]
    plugins["steps"].first
    after = [name.partition(".")[2] for name in sys.modules if name.startswith("brainsmith_folder_") and "." in name]
    print(json.dumps([before, after]))
    """
    assert run_python(code, cwd=project.folder) == [[], ["first"]]
