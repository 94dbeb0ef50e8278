"""The manager's own duties: logging, figures, and the adapters' common face."""

import logging

import pytest

from brainsmith.errors import BundleError
from brainsmith.plugin.adapters.brainsmith import BrainSmithAdapter
from brainsmith.plugin.adapters.entry_points import EntryPointAdapter
from brainsmith.plugin.adapters.finn import FINNAdapter
from brainsmith.plugin.adapters.project import ProjectAdapter
from brainsmith.plugin.adapters.qonnx import QONNXAdapter
from brainsmith.plugin.log import debug
from brainsmith.plugin.manager import PluginManager
from brainsmith.plugin.performance_stats import memory_mb
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.settings import load_settings
from tests.plugin.installed import shown, step_file


@pytest.mark.finds_anew
def test_debug_mode_writes_every_step_to_stderr(manager, capfd):
    manager.set_debug_mode(True)
    try:
        manager.discover_plugins(modes=["full"])
    finally:
        manager.set_debug_mode(False)
    lines = capfd.readouterr().err.splitlines()
    assert any(line.startswith("brainsmith.plugin: adapter qonnx: available, ") for line in lines)
    manager.clear_cache()
    manager.discover_plugins(modes=["full"])
    assert capfd.readouterr().err == ""


def test_what_debug_mode_writes_does_nothing_to_a_terminal(manager, capfd):
    manager.set_debug_mode(True)
    try:
        debug("scanning: %s", "/tmp/a\x1b]0;owned\x07\r/plugins")
    finally:
        manager.set_debug_mode(False)
    assert capfd.readouterr().err == "brainsmith.plugin: scanning: /tmp/a\\x1b]0;owned\\x07\\r/plugins\n"


def test_when_debug_mode_ends_the_logger_is_as_it_was_before(manager):
    logger = logging.getLogger("brainsmith.plugin")
    before = logger.level
    try:
        for level in (logging.NOTSET, logging.WARNING):
            logger.setLevel(level)
            for on, expected in (
                (True, logging.DEBUG),
                (True, logging.DEBUG),
                (False, level),
                (False, level),
            ):
                manager.set_debug_mode(on)
                assert logger.level == expected
        manager.set_debug_mode(True)
        logger.setLevel(logging.ERROR)  # somebody else's wish
        manager.set_debug_mode(False)
        assert (logger.level, logger.handlers) == (logging.ERROR, [])
    finally:
        logger.setLevel(before)


@pytest.mark.finds_anew
def test_the_logger_can_be_listened_to(manager, caplog):
    with caplog.at_level(logging.DEBUG, logger="brainsmith.plugin"):
        manager.clear_cache()
        manager.discover_plugins(modes=["full"])
    assert any(
        record.name == "brainsmith.plugin" and "adapter finn" in record.getMessage()
        for record in caplog.records
    )


@pytest.mark.finds_anew
@pytest.mark.slow
def test_figures_are_measured(manager):
    manager.discover_plugins(modes=["full"])
    manager.discover_plugins(modes=["full"])
    stats = manager.get_performance_stats()
    assert {"discovery_time_ms", "cache_hit_rate", "memory_usage_mb", "plugin_count"} <= set(stats)
    assert stats["plugin_count"] == len(manager.registry.records())
    assert 0 < stats["discovery_time_ms"] < 60_000
    assert 0 < stats["cache_hit_rate"] < 1
    assert abs(stats["memory_usage_mb"] - memory_mb()) < 100
    assert set(stats["adapters_ms"]) == {"brainsmith", "project", "entry_points", "qonnx", "finn"}
    assert stats["loaded_count"] == 0
    manager.registry.get("transform", "ExpandNorms")
    assert manager.get_performance_stats()["loaded_count"] == 1


@pytest.mark.slow
def test_times_are_not_measured_where_the_setting_says_no(project, manager):
    project.write(".brainsmith/config.yaml", "plugin_system: {performance_tracking: false}\n")
    manager.discover_plugins(modes=["full"])
    assert manager.get_performance_stats()["discovery_time_ms"] == 0.0


@pytest.mark.parametrize("adapter", [QONNXAdapter, FINNAdapter, BrainSmithAdapter, EntryPointAdapter])
def test_an_adapter_alone_finds_what_the_manager_finds(adapter, manager):
    alone = adapter()
    assert alone.is_available() is True
    assert alone.get_metadata()["name"] == alone.name
    records = [info for info in manager.discover_plugins(modes=["full"]) if info.framework == alone.name]
    assert shown(alone.discover_plugins()) == shown(records)


def test_the_adapters_know_versions_and_folders():
    from importlib.metadata import version

    assert QONNXAdapter().get_metadata()["version"] == version("qonnx")
    assert FINNAdapter().get_metadata()["version"] == version("finn-plus")
    assert QONNXAdapter().get_metadata()["folders"][0].endswith("qonnx")


def test_a_project_s_adapter_is_absent_without_a_folder(project):
    adapter = ProjectAdapter(load_settings())
    assert adapter.folders() == [str(project / "plugins")]
    assert adapter.is_available()
    (project / "plugins").rmdir()
    assert not adapter.is_available()
    assert adapter.discover_plugins() == []


def test_a_folder_of_the_settings_that_does_not_exist_is_a_problem(project, manager):
    path = project.write(".brainsmith/config.yaml", "plugin_system: {plugin_folders: [nowhere]}\n")
    manager.discover_plugins(modes=["full"])
    assert [str(p) for p in manager.problems if "nowhere" in str(p)] == [
        f"{path}: plugin_folders names {project}/nowhere, which does not exist"
    ]


@pytest.mark.slow
def test_groups_come_from_files_and_settings_and_the_settings_win(project, manager):
    project.write("plugins/groups.py", "GROUPS = {'a': ['x'], 'b': ['y']}\n")
    project.write(".brainsmith/config.yaml", "plugin_system: {groups: {b: [z], c: [w]}}\n")
    groups = manager.registry.groups
    assert {name: groups[name] for name in ("a", "b", "c")} == {"a": ("x",), "b": ("z",), "c": ("w",)}


@pytest.mark.finds_anew
def test_a_framework_that_is_absent_is_told_and_not_an_error(manager, monkeypatch):
    from brainsmith.plugin.adapters import adapter

    real = adapter.package_folders
    monkeypatch.setattr(adapter, "package_folders", lambda name: [] if name == "finn" else real(name))
    records = manager.discover_plugins(modes=["full"])
    assert {info.framework for info in records} == {"brainsmith", "qonnx"}
    (finn,) = [summary for summary in manager.adapters if summary["name"] == "finn"]
    assert (finn["status"], finn["detail"]) == ("absent", "no package 'finn' is installed")


@pytest.mark.slow
def test_a_name_that_comes_later_is_found_without_asking_for_a_discovery(project, manager):
    assert "step:late" not in manager.registry
    project.write("plugins/late.py", step_file("late", 3))
    assert manager.registry.get("step", "late")(None, None) == 3


def test_a_reset_tells_every_clean_up_that_fails():
    manager = PluginManager(Registry())

    def failing(text):
        def clean_up():
            raise BundleError(text)

        return clean_up

    manager.before_reset(failing("one"))
    manager.before_reset(failing("two"))
    with pytest.raises(BundleError, match="two") as caught:
        manager.reset()
    assert caught.value.__notes__ == ["and then: one"]
