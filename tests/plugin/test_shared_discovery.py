"""Discoveries from a shared cache: across homes, checkouts and languages, and never of other files."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.settings import load_settings
from brainsmith.store.shared.shared_cache import SharedCache, place_of, shared_cache
from tests.plugin.installed import ROOT, step_file
from tests.store.shared.redis_servers import free_port, needs_redis, redis_server

pytestmark = pytest.mark.finds_anew


@pytest.fixture
def shared(project, no_frameworks, monkeypatch, tmp_path):
    """A project with a step, and a shared cache that its settings name; returns that cache."""
    project.write("plugins/first.py", step_file("first"))
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", f"memory://{tmp_path}")
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE_TIMEOUT", "20")
    return shared_cache(load_settings())


def discovered():
    """Discover as a fresh process with an empty disk does; return where it was found, and the project's plugins."""
    manager = get_plugin_manager()
    manager.clear_cache()
    reset_plugin_system()
    manager = get_plugin_manager()
    names = [info.name for info in manager.discover_plugins() if info.framework == "project"]
    return manager.get_performance_stats()["discovery_source"], names


def test_what_one_has_read_another_one_takes(shared):
    assert discovered() == ("scan", ["first"])
    assert len(shared.keys("discovery")) == 1
    assert discovered() == ("shared", ["first"])
    assert get_plugin_manager().registry.get("step", "first")(None, None) is None


def test_an_edit_after_it_is_noticed(shared, project):
    discovered()
    assert discovered()[0] == "shared"
    project.write("plugins/first.py", step_file("renamed"))
    names = [info.name for info in get_plugin_manager().discover_plugins() if info.framework == "project"]
    assert names == ["renamed"]


def test_other_files_are_read_and_take_its_place(shared, project):
    discovered()
    project.write("plugins/first.py", step_file("other"))
    assert discovered() == ("scan", ["other"])
    assert discovered() == ("shared", ["other"])


def test_other_settings_and_other_modules_have_another_key(shared, project):
    discovered()
    project.write("plugins/second.py", step_file("second"))
    assert discovered() == ("scan", ["first", "second"])
    assert len(shared.keys("discovery")) == 2


def test_where_it_is_only_read_nothing_is_written(shared, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE_MODE", "read-only")
    assert discovered()[0] == "scan"
    assert shared.keys("discovery") == []


def test_a_cache_that_is_off_takes_nothing(shared, monkeypatch):
    discovered()
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "0")
    assert discovered()[0] == "scan"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"[" * 60_000, b'{"files": 7}'])
def test_a_hostile_content_is_a_miss_and_a_warning(shared, content, caplog):
    discovered()
    (key,) = shared.keys("discovery")
    shared._warned.clear()
    shared.put("discovery", key, content)
    assert discovered() == ("scan", ["first"])
    (said,) = [record.getMessage() for record in caplog.records if record.name == "brainsmith.store"]
    assert said.startswith(f"{shared.shown}: the entry discovery/{key[:12]} is not used: ")


def test_a_server_that_is_gone_changes_nothing(shared, monkeypatch, caplog):
    url = f"redis://127.0.0.1:{free_port()}"
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", url)
    assert discovered() == ("scan", ["first"])
    assert [record.getMessage() for record in caplog.records if record.name == "brainsmith.store"] == [
        f"the shared cache {url} cannot be used: it cannot be reached: Connection refused; this run goes on without it"
    ]


ASK = """
import json
from brainsmith.plugin import get_plugin_manager
manager = get_plugin_manager()
found = [(info.key, info.reference, info.origin) for info in manager.discover_plugins()]
import sys
print(json.dumps([manager.get_performance_stats()["discovery_source"], found, "json.decoder" in sys.modules]))
"""


def ask(project, home, url, checkout=ROOT, **variables):
    """Discover in a fresh process with a home of its own."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PYTHONPATH": str(checkout),
        "BRAINSMITH_SHARED_CACHE": url,
        "BRAINSMITH_SHARED_CACHE_TIMEOUT": "5",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=project, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return json.loads(done.stdout)[:2]


@needs_redis
@pytest.mark.slow
def test_homes_checkouts_and_languages_share_a_discovery_on_redis(project, tmp_path):
    project.write("plugins/first.py", step_file("first"))
    copy = tmp_path / "deep" / "another checkout"
    shutil.copytree(project.folder, copy, copy_function=shutil.copyfile)
    ours = tmp_path / "brainsmith checkout"
    shutil.copytree(ROOT / "brainsmith", ours / "brainsmith", ignore=shutil.ignore_patterns("__pycache__"))
    cases = [
        (project.folder, "one", ROOT, {}),
        (project.folder, "two", ROOT, {"LANG": "C", "LC_ALL": "C"}),
        (copy, "three", ROOT, {"LC_ALL": "C.UTF-8"}),
        (copy, "four", ours, {"LC_ALL": "de_DE.UTF-8"}),
    ]
    with redis_server() as server:
        found = [
            ask(folder, tmp_path / home, server.url, checkout, **more)
            for folder, home, checkout, more in cases
        ]
        assert len(SharedCache(server.url, limit=10).keys("discovery")) == 1
    assert [source for source, _ in found] == ["scan", "shared", "shared", "shared"]
    fresh = [
        ask(folder, tmp_path / f"fresh {home}", "memory://x", checkout, **more)
        for folder, home, checkout, more in cases
    ]
    assert [records for _, records in found] == [records for _, records in fresh]


@needs_redis
@pytest.mark.slow
def test_eight_processes_with_empty_homes_find_the_same(project, tmp_path):
    project.write("plugins/first.py", step_file("first"))
    with redis_server() as server:
        environment = {**os.environ, "BRAINSMITH_SHARED_CACHE": server.url, "PYTHONPATH": str(ROOT)}
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", ASK],
                cwd=project.folder,
                env={**environment, "XDG_CACHE_HOME": str(tmp_path / f"home{at}")},
                stdout=subprocess.PIPE,
                text=True,
            )
            for at in range(8)
        ]
        found = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert {source for source, _, _ in found} <= {"scan", "shared"}
    assert all(records == found[0][1] for _, records, _ in found)


@needs_redis
@pytest.mark.slow
def test_pickles_and_code_on_the_server_are_never_run(project, tmp_path):
    project.write("plugins/first.py", step_file("first"))
    mark = tmp_path / "was here"
    import marshal
    import pickle

    from brainsmith.store.shared.deadline import Deadline
    from brainsmith.store.shared.envelope import sealed
    from brainsmith.store.shared.redis_server import RedisServer

    class Bomb:
        def __reduce__(self):
            return os.system, (f"touch '{mark}'",)

    code = marshal.dumps(compile(f"open({str(mark)!r}, 'w')", "x", "exec"))
    with redis_server() as server:
        first = ask(project.folder, tmp_path / "one", server.url)
        (key,) = SharedCache(server.url, limit=10).keys("discovery")
        raw = RedisServer(server.url)
        for content in (pickle.dumps(Bomb()), code, b"i" + code):
            for data in (content, sealed("discovery", key, content)):
                raw.put(place_of("discovery", key), data, Deadline(10))
                environment = {
                    **os.environ,
                    "XDG_CACHE_HOME": str(tmp_path / f"home{len(data)}"),
                    "BRAINSMITH_SHARED_CACHE": server.url,
                    "BRAINSMITH_SHARED_CACHE_TIMEOUT": "5",
                }
                done = subprocess.run(
                    [sys.executable, "-c", ASK],
                    cwd=project.folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                assert json.loads(done.stdout)[:2] == ["scan", first[1]]
                assert " is not used: " in done.stderr and done.stderr.count("\n") == 1
    assert not mark.exists()
