"""Health: what is healthy, what is degraded and what is broken, with places and advice."""

import json
import os
import sys

import pytest

from brainsmith.plugin import packages
from brainsmith.plugin.health_check import _check_adapter, check, check_caches, find_duplicates
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.manager import PluginManager
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.settings import load_settings
from tests.plugin.installed import run_python, step_file, transform_file


@pytest.mark.slow
def test_here_it_is_healthy(manager):
    health = manager.health_check()
    assert (health["status"], health["problems"]) == ("healthy", [])
    assert health["schema"] == "brainsmith.health/1"
    assert health["cache_available"] is True
    assert health["frameworks_available"] == 3
    assert set(health["frameworks"]) == {"brainsmith", "qonnx", "finn"}
    assert health["frameworks"]["finn"] > 340
    assert set(health["adapters"]) == {"brainsmith", "project", "entry_points", "qonnx", "finn"}
    assert health["adapters"]["qonnx"]["status"] == "available"
    assert health["adapters"]["qonnx"]["version"] == "1.0.0"
    assert health["adapters"]["project"]["status"] == "absent"
    assert set(health["tools"]) >= {"g++", "make", "verilator", "torch", "vivado", "cargo"}
    assert health["settings"]["cache_ttl"] == {"value": 300.0, "source": "default"}
    assert json.loads(json.dumps(health))["status"] == "healthy"


@pytest.mark.slow
def test_a_second_definition_in_a_framework_is_listed_and_no_problem(manager):
    health = check(manager)
    (second,) = [entry for entry in health["duplicates"] if entry["plugin"].endswith(".step_convert_to_hw")]
    assert second["plugin"] == "finn:transformer_adhoc.step_convert_to_hw"
    assert (second["type"], second["clash"]) == ("step", False)
    assert health["status"] == "healthy"


SUMMARY = {
    "name": "qonnx",
    "status": "available",
    "detail": "",
    "version": "1.0.0",
    "plugins": 0,
    "messages": [],
}
"""What discovery says of an adapter."""


def test_what_an_adapter_lacks_is_said_with_what_to_do(tmp_path, monkeypatch):
    def told(enabled=True, **given):
        found = _check_adapter({**SUMMARY, **given}, enabled, str(tmp_path / "cache"))
        return found["status"], found["detail"], found["advice"]

    assert told(enabled=False) == (
        "disabled",
        "the setting frameworks leaves it out",
        "to use it: add qonnx to plugin_system: frameworks in .brainsmith/config.yaml",
    )
    assert told(status="failed", detail="OSError: the disk is gone") == (
        "failed",
        "OSError: the disk is gone",
        "BRAINSMITH_PLUGIN_DEBUG=1 brainsmith plugins list shows each step",
    )
    assert told(status="absent", detail="no package 'finn' is installed", name="finn") == (
        "absent",
        "no package 'finn' is installed",
        "it is not installed; to install it: brainsmith install-finn",
    )
    monkeypatch.setitem(packages._IMPORT, "qonnx", "raise ImportError('built for another Python')\n")
    assert told() == (
        "failed",
        "its plugins are listed, but cannot be loaded: importing qonnx failed with exit code 1: ImportError: built for "
        "another Python",
        "pip install qonnx",
    )


@pytest.mark.slow
def test_tools_do_not_change_it(manager, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    health = check(manager)
    assert health["tools"]["g++"]["status"] == "missing"
    assert health["status"] == "healthy"


@pytest.mark.slow
def test_unreadable_files_and_clashes_degrade_it_with_their_places(project, manager):
    project.write("plugins/keep.py", transform_file("Keep"))
    project.write("plugins/twice.py", transform_file("Keep"))
    project.write("plugins/broken.py", "from brainsmith.plugin.core import step\n@step\ndef (:\n")
    health = check(manager)
    assert health["status"] == "degraded"
    assert health["problems"] == [
        f"{project / 'plugins/broken.py'}:3:5: the file is not Python, so its plugins are not found: invalid syntax",
        "transform 'Keep' is defined twice in framework 'project':\n"
        f"  {project / 'plugins/keep.py'}:6\n  {project / 'plugins/twice.py'}:6",
    ]
    assert health["adapters"]["project"]["problems"] == health["problems"][:1]
    assert health["frameworks"]["project"] == 2


@pytest.mark.slow
def test_a_framework_that_the_settings_leave_out_is_no_problem(project, manager):
    project.write(".brainsmith/config.yaml", "plugin_system:\n  frameworks: [qonnx]\n")
    health = check(manager)
    assert health["status"] == "healthy"
    assert health["adapters"]["finn"] == {
        "status": "disabled",
        "version": "",
        "plugins": 0,
        "detail": "the setting frameworks leaves it out",
        "problems": [],
        "advice": "to use it: add finn to plugin_system: frameworks in .brainsmith/config.yaml",
    }
    assert health["settings"]["frameworks"] == {
        "value": ("qonnx",), "source": str(project / ".brainsmith" / "config.yaml"),
    }  # fmt: skip


@pytest.mark.slow
def test_an_installed_framework_that_cannot_be_imported_degrades_it(site):
    site.install("qonnx", "9.0", qonnx____init__="raise ImportError('built for another Python')")
    health = run_python(
        "import json\nfrom brainsmith.plugin import get_plugin_manager\n"
        "health = get_plugin_manager().health_check()\n"
        "print(json.dumps([health['status'], health['problems'], health['adapters']['qonnx']]))",
        path=[site.folder],
    )
    status, problems, qonnx = health
    reason = (
        "its plugins are listed, but cannot be loaded: importing qonnx failed with exit code 1:"
        " ImportError: built for another Python"
    )
    assert status == "degraded"
    assert f"qonnx: {reason}" in problems
    assert (qonnx["status"], qonnx["detail"], qonnx["advice"]) == ("failed", reason, "pip install qonnx")


@pytest.mark.slow
def test_a_framework_that_is_not_installed_is_no_problem(tmp_path, monkeypatch, manager):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setitem(sys.modules, "finn", None)  # what Python knows of a package that is not installed
    health = check(manager)
    assert (health["status"], set(health["frameworks"])) == ("healthy", {"brainsmith", "qonnx"})
    assert health["adapters"]["finn"]["status"] == "absent"
    assert health["adapters"]["finn"]["detail"] == "no package 'finn' is installed"
    assert (
        health["adapters"]["finn"]["advice"] == "it is not installed; to install it: brainsmith install-finn"
    )


@pytest.mark.finds_anew
@pytest.mark.slow
def test_an_adapter_that_fails_degrades_it_and_leaves_the_others(manager, monkeypatch):
    from brainsmith.plugin.adapters.qonnx import QONNXAdapter

    def fail(self, reading):
        raise OSError("the disk is gone")

    monkeypatch.setattr(QONNXAdapter, "discover", fail)
    manager.clear_cache()
    health = check(manager)
    assert health["status"] == "degraded"
    assert "qonnx: OSError: the disk is gone" in health["problems"]
    assert (
        health["adapters"]["qonnx"]["advice"]
        == "BRAINSMITH_PLUGIN_DEBUG=1 brainsmith plugins list shows each step"
    )
    assert health["frameworks"]["finn"] > 340
    manager.clear_cache()


def test_caches_that_cannot_be_written_degrade_it():
    caches = check_caches("/proc/nowhere/brainsmith")
    assert caches == {
        "path": "/proc/nowhere/brainsmith",
        "writable": False,
        "entries": 0,
        "bytes": 0,
        "kinds": {},
        "advice": (
            "the cache folder cannot be written: No such file or directory; every run takes longer."
            " Make it writable, or set XDG_CACHE_HOME"
        ),
    }


def test_caches_are_counted(tmp_path):
    folder = tmp_path / "caches"
    (folder / "discovery").mkdir(parents=True)
    (folder / "builds" / "entries" / "deep").mkdir(parents=True)
    (folder / "discovery" / "a").write_bytes(b"123")
    (folder / "builds" / "entries" / "deep" / "b").write_bytes(b"12345")
    caches = check_caches(str(folder))
    assert (caches["writable"], caches["entries"], caches["bytes"]) == (True, 2, 8)
    assert caches["kinds"] == {"builds": {"entries": 1, "bytes": 5}, "discovery": {"entries": 1, "bytes": 3}}
    assert sorted(os.listdir(folder)) == ["builds", "discovery"]


def test_settings_that_cannot_be_used_break_it(monkeypatch, manager):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "soon")
    health = check(manager)
    assert health["status"] == "broken"
    assert health["problems"] == [
        "BRAINSMITH_PLUGIN_CACHE_TTL: cache_ttl must be a number of seconds, 0 or more, not 'soon'"
    ]
    assert health["cache_available"] is True


@pytest.mark.slow
def test_settings_say_where_they_come_from(project, monkeypatch, manager):
    project.write(
        ".brainsmith/config.yaml", "plugin_system:\n  cache_ttl: 10\n  performance_tracking: false\n"
    )
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "20")
    settings = check(manager)["settings"]
    assert settings["cache_ttl"] == {"value": 20.0, "source": "BRAINSMITH_PLUGIN_CACHE_TTL"}
    assert settings["performance_tracking"] == {
        "value": False, "source": str(project / ".brainsmith" / "config.yaml"),
    }  # fmt: skip
    assert settings["project"]["value"] == str(project)


@pytest.mark.slow
def test_settings_given_by_hand_are_used(project):
    project.write("plugins/one.py", step_file("one"))
    manager = PluginManager(Registry(), load_settings(frameworks=["qonnx"]))
    assert set(manager.health_check()["frameworks"]) == {"brainsmith", "project", "qonnx"}


def test_duplicates_are_told_apart():
    def record(name, reference, origin, **extra):
        return PluginInfo(
            name=name, type="step", framework="acme", reference=reference, origin=origin, extra=extra
        )

    found = find_duplicates(
        [
            record("one", "a:one", "a.py:1"),
            record("b.one", "b:one", "b.py:2", second_of="a.py:1"),
            record("two", "a:two", "a.py:5"),
            record("two", "c:two", "c.py:9"),
        ]
    )
    assert [(entry["plugin"], entry["clash"], entry["text"]) for entry in found] == [
        (
            "acme:b.one",
            False,
            "step acme:b.one at b.py:2 is the second of its name; a.py:1 keeps the name",
        ),
        ("acme:two", True, "step 'two' is defined twice in framework 'acme':\n  a.py:5\n  c.py:9"),
    ]


def test_a_cache_folder_that_others_may_replace_is_said(tmp_path):
    tmp_path.chmod(0o777)
    caches = check_caches(str(tmp_path / "caches"))
    assert caches["writable"] is True
    assert caches["advice"] == (
        f"{tmp_path} may be written by other users, who could replace the cache folder, so nothing "
        "compiled is loaded from it. Set XDG_CACHE_HOME to a folder of your own"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can give a folder to another user")
def test_a_cache_folder_of_another_user_is_a_problem(tmp_path):
    os.chown(tmp_path, 65_500, -1)
    caches = check_caches(str(tmp_path))
    assert caches["writable"] is False
    assert caches["advice"] == (
        "the cache folder belongs to another user (65500); every run takes longer. "
        "Make it writable, or set XDG_CACHE_HOME"
    )
