"""The figures are those of stats, health and cache list, under names by Prometheus' conventions."""

import re

import pytest

from brainsmith.monitoring import hub_metrics
from brainsmith.monitoring.families import WorkMetrics, exposition
from brainsmith.monitoring.hub_metrics import HubMetrics
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.store.kinds import KINDS
from tests.monitoring.exposed import families, samples


@pytest.fixture(scope="module")
def text():
    """The figures of this process; a module's, because the first health check takes long."""
    return exposition([HubMetrics(get_plugin_manager()), WorkMetrics()])[0].decode()


@pytest.mark.slow
def test_the_figures_are_those_that_others_give():
    manager = get_plugin_manager()
    for _ in range(2):  # what the first ones find is kept, which adds entries
        manager.health_check(), manager.get_performance_stats(), exposition([HubMetrics(manager)])
    looks = []
    with pytest.MonkeyPatch.context() as patch:  # another process may keep something between two looks
        check = manager.health_check
        patch.setattr(manager, "health_check", lambda: looks.append(check()) or looks[-1])
        found = samples(exposition([HubMetrics(manager)])[0].decode())
    (health,), stats = looks, manager.get_performance_stats()
    assert found["brainsmith_info", ("version", health["version"])] == 1
    assert found["brainsmith_problems",] == len(health["problems"])
    shown = [
        name for name in hub_metrics.STATUSES if found["brainsmith_health_status", ("status", name)] == 1
    ]
    assert shown == [health["status"]]
    plugins = {key[1:]: value for key, value in found.items() if key[0] == "brainsmith_plugins"}
    assert sum(plugins.values()) == stats["plugin_count"]
    for info in manager.everything().records:
        assert plugins[("framework", info.framework), ("type", info.type)] > 0
    assert found["brainsmith_plugins_loaded",] <= stats["loaded_count"]
    for name, adapter in health["adapters"].items():
        assert found["brainsmith_adapter_failed", ("adapter", name)] == (adapter["status"] == "failed")
        assert ("brainsmith_adapter_duration_seconds", ("adapter", name)) in found
    for kind in KINDS:
        assert found["brainsmith_cache_limit_bytes", ("kind", kind.name)] == kind.limit
        kept = health["caches"]["kinds"].get(kind.name, {"entries": 0, "bytes": 0})
        assert found["brainsmith_cache_entries", ("kind", kind.name)] == kept["entries"]
        assert found["brainsmith_cache_size_bytes", ("kind", kind.name)] == kept["bytes"]
    assert health["caches"]["kinds"]


def test_names_are_by_convention(text):
    base = ("_seconds", "_bytes", "_total", "_info", "_ratio")
    for name, family in families(text).items():
        assert re.fullmatch(r"(brainsmith|process)_[a-z0-9_]+", name)
        assert family.documentation.endswith("."), name
        assert not re.search(r"_(ms|mb|kb|milliseconds|count|percent)\b", name)
        if family.type == "histogram":
            assert name.endswith("_seconds")
        labels = {label for sample in family.samples for label in sample.labels}
        assert labels <= {
            "version", "status", "adapter", "tool", "kind", "type", "framework", "source", "cache", "outcome", "le"
        }  # fmt: skip
        assert family.type in ("gauge", "counter", "histogram")
        if "duration" in name or "size" in name:
            assert name.endswith(base)


def test_labels_have_few_values(text):
    """Nobody's model, file or step is one: what is built does not make more series."""
    found = samples(text)
    types = {dict(key[1:])["type"] for key in found if key[0] == "brainsmith_plugins"}
    assert types <= set(PLUGIN_TYPES)
    kinds = {dict(key[1:])["kind"] for key in found if key[0].startswith("brainsmith_cache_entries")}
    assert kinds == {kind.name for kind in KINDS}


@pytest.mark.slow
def test_the_health_is_looked_at_now_and_then(monkeypatch):
    looks = []

    class Counting:
        def __getattr__(self, name):
            return getattr(get_plugin_manager(), name)

        def health_check(self):
            looks.append(1)
            return get_plugin_manager().health_check()

    source = HubMetrics(Counting())
    for _ in range(3):
        exposition([source], process=False)
    assert len(looks) == 1
    monkeypatch.setattr(hub_metrics, "HEALTH_SECONDS", 0.0)
    exposition([source], process=False)
    assert len(looks) == 2


@pytest.mark.slow
def test_a_wrong_setting_is_a_figure_and_no_error(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "soon")
    found = samples(exposition([HubMetrics(get_plugin_manager())], process=False)[0].decode())
    assert found["brainsmith_health_status", ("status", "broken")] == 1
    assert found["brainsmith_problems",] == 1
    assert not [key for key in found if key[0] == "brainsmith_plugins"]


def test_openmetrics_is_given_to_who_asks_for_it():
    text, media_type = exposition([WorkMetrics()], "application/openmetrics-text; version=1.0.0")
    assert media_type.startswith("application/openmetrics-text; version=1.0.0")
    assert text.endswith(b"# EOF\n")
    plain, media_type = exposition([WorkMetrics()], process=False)
    assert media_type.startswith("text/plain; version=")
    assert b"process_" not in plain
