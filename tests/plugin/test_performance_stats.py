"""The figures of the manager: measured, and the same however often somebody asks for them."""

import time

import pytest

from brainsmith.plugin.manager import reset_plugin_system
from tests.plugin.installed import ROOT, run_python, step_file

COUNTS = (
    "cache_hit_rate",
    "cache_hits",
    "cache_misses",
    "discovery_time_ms",
    "discovery_source",
    "check_time_ms",
)


@pytest.fixture(autouse=True)
def small(project):
    """A project that reads no framework, so that a discovery costs little."""
    project.write(".brainsmith/config.yaml", "plugin_system: {frameworks: []}\n")


def counts(manager):
    return {name: manager.get_performance_stats()[name] for name in COUNTS}


def test_asking_for_the_figures_changes_none_of_them(manager):
    first = counts(manager)
    assert first["cache_misses"] + sum(first["cache_hits"].values()) == 1  # nothing was discovered before
    assert [counts(manager) for _ in range(5)] == [first] * 5


def test_the_time_is_that_of_the_last_discovery_and_not_of_a_look_whether_it_still_holds(manager):
    begin = time.perf_counter()
    manager.discover_plugins(modes=["full"])
    took = (time.perf_counter() - begin) * 1e3
    scanned = manager.get_performance_stats()
    assert scanned["discovery_source"] == "scan"
    assert scanned["check_time_ms"] == 0.0
    for _ in range(3):
        manager.discover_plugins(modes=["full"])
    stats = manager.get_performance_stats()
    assert stats["discovery_time_ms"] == scanned["discovery_time_ms"] <= took
    assert stats["discovery_time_ms"] > sum(stats["adapters_ms"].values())
    assert stats["discovery_source"] == "scan"
    assert stats["check_time_ms"] > 0
    assert (stats["cache_hit_rate"], stats["cache_hits"], stats["cache_misses"]) == (
        0.75,
        {"memory": 3, "disk": 0, "shared": 0},
        1,
    )


def test_what_is_read_from_the_disk_says_so_and_what_the_adapters_took_before(manager):
    manager.discover_plugins(modes=["full"])
    adapters = manager.get_performance_stats()["adapters_ms"]
    reset_plugin_system()
    manager.discover_plugins(modes=["full"])
    stats = manager.get_performance_stats()
    assert (stats["discovery_source"], stats["cache_hits"]["disk"], stats["cache_misses"]) == ("disk", 1, 0)
    assert stats["adapters_ms"] == adapters


def test_an_edit_is_an_update(project, manager):
    file = project.write("plugins/first.py", step_file("first"))
    manager.discover_plugins(modes=["full"])
    file.write_text(step_file("second"))
    manager.discover_plugins(modes=["full"])
    stats = manager.get_performance_stats()
    assert (stats["discovery_source"], stats["cache_misses"]) == ("update", 2)


def test_what_a_blueprint_s_resolution_finds_and_loads_is_counted(project, manager):
    project.write("plugins/mine.py", step_file("mine", 1))
    registry, _ = manager.all_records()  # a build resolves its blueprint there
    stats = manager.get_performance_stats()
    assert (stats["discovery_source"], stats["cache_misses"]) == ("scan", 1)
    registry.get("step", "mine")
    registry.get("step", "cleanup")
    assert manager.get_performance_stats()["loaded_count"] == 2


@pytest.mark.slow
def test_in_blueprint_mode_what_a_build_loads_is_counted_though_the_blueprint_does_not_name_it(
    project, manager, monkeypatch
):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    project.write("plugins/mine.py", step_file("mine", 1))
    registry, _ = manager.all_records()
    manager.use_blueprint("my.yaml", [])
    registry.get("step", "mine")
    stats = manager.get_performance_stats()
    assert (stats["plugin_count"], stats["loaded_count"]) == (1, 1)  # it is known because it is loaded


def test_in_blueprint_mode_there_are_figures_before_a_blueprint_is_loaded(manager, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    stats = manager.get_performance_stats()
    assert stats["memory_usage_mb"] > 0
    del stats["memory_usage_mb"]
    assert stats == {
        "discovery_time_ms": 0.0,
        "discovery_source": "",
        "check_time_ms": 0.0,
        "cache_hit_rate": 0.0,
        "cache_hits": {"memory": 0, "disk": 0, "shared": 0},
        "cache_misses": 0,
        "instance_hits": 0,
        "instance_misses": 0,
        "plugin_count": 0,
        "loaded_count": 0,
        "adapters_ms": {},
    }


@pytest.mark.slow
def test_a_build_s_figures_count_what_it_discovered_and_loaded(tmp_path):
    program = f"""
    import json
    from brainsmith.build import build
    from brainsmith.plugin import get_plugin_manager
    build({str(ROOT / "examples/digits/mlp.onnx")!r}, {str(ROOT / "blueprints/digits_mlp.yaml")!r}, output="out")
    print(json.dumps(get_plugin_manager().get_performance_stats()))
    """
    stats = run_python(program, cwd=tmp_path)
    assert stats["cache_misses"] + stats["cache_hits"]["disk"] >= 1
    assert stats["discovery_time_ms"] > 0
    assert stats["loaded_count"] > 20
