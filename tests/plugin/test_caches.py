"""The discovery cache: it can only make a run faster, never different."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import marshal
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from brainsmith.errors import SettingsError
from brainsmith.plugin import discovery, discovery_cache
from brainsmith.plugin.adapters.finn import FINNAdapter
from brainsmith.plugin.manager import reset_plugin_system
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.store import files
from brainsmith.store.values import Kept
from tests.plugin.installed import ROOT, run_python, shown, step_file

pytestmark = pytest.mark.finds_anew


def settle():
    """Wait until what was just written is older than a tick of the file system's clock."""
    time.sleep(files.CLOCK_TICK / 1e9 + 0.02)


@pytest.fixture
def steps(manager):
    """Discover; return the names of the project's steps, and whether a cache answered.

    Nothing but the project is read unless something else is asked for: a cache is the same for all of them.
    """

    def discover(**request):
        records = manager.discover_plugins(**(request or {"frameworks": ["project"]}))
        return sorted(info.name for info in records if info.framework == "project"), manager.stats.last_source

    return discover


def cache_files():
    folder = Path(os.environ["XDG_CACHE_HOME"]) / "brainsmith" / "discovery"
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
def test_the_second_call_is_answered_from_memory_and_the_next_process_from_disk(project, steps):
    project.write("plugins/one.py", step_file("one"))
    settle()
    assert steps(modes=["full"]) == (["one"], "scan")
    assert steps(modes=["full"]) == (["one"], "memory")
    reset_plugin_system()
    assert steps(modes=["full"]) == (["one"], "disk")
    code = """
    import json, sys
    from brainsmith.plugin import get_plugin_manager
    manager = get_plugin_manager()
    names = [i.name for i in manager.discover_plugins(modes=["full"]) if i.framework == "project"]
    heavy = [m for m in ("yaml", "stevedore", "importlib.metadata", "qonnx", "finn", "onnx", "numpy", "ast", "json.decoder") if m in sys.modules]
    print(json.dumps([names, manager.stats.last_source, heavy]))
    """
    assert run_python(code, cwd=project.folder) == [["one"], "disk", ["json.decoder"]]


CHANGES = {
    "a changed file": (lambda p: p.write("plugins/one.py", step_file("changed")), ["changed", "two"]),
    "a new file": (lambda p: p.write("plugins/new.py", step_file("new")), ["new", "one", "two"]),
    "a removed file": (lambda p: os.unlink(p / "plugins/one.py"), ["two"]),
    "a file in a new folder": (
        lambda p: p.write("plugins/sub/deep/new.py", step_file("new")),
        ["new", "one", "two"],
    ),
    "a removed folder": (lambda p: shutil.rmtree(p / "plugins/folder"), ["one"]),
    "a renamed file": (lambda p: os.rename(p / "plugins/one.py", p / "plugins/other.py"), ["one", "two"]),
    "the plugin folder removed": (lambda p: shutil.rmtree(p / "plugins"), []),
    "a link to a folder": (
        lambda p: os.symlink(p.write("elsewhere/x.py", step_file("linked")).parent, p / "plugins/link"),
        ["linked", "one", "two"],
    ),
}


@pytest.mark.parametrize(("change", "names"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_pitfall_05_a_change_is_seen_at_the_next_call(project, steps, change, names, where):
    project.write("plugins/one.py", step_file("one"))
    project.write("plugins/folder/two.py", step_file("two"))
    settle()
    assert steps() == (["one", "two"], "scan")
    change(project)
    if where == "disk":
        reset_plugin_system()
    assert steps()[0] == names
    assert steps()[0] == names


def test_pitfall_05_a_plugin_folder_that_comes_later_is_seen(project, steps):
    shutil.rmtree(project / "plugins")
    settle()
    assert steps() == ([], "scan")
    project.write("plugins/one.py", step_file("one"))
    assert steps()[0] == ["one"]


def test_pitfall_05_a_file_of_the_same_size_and_time_is_seen(project, steps):
    path = project.write("plugins/one.py", step_file("one"))
    settle()
    status = path.stat()
    assert steps()[0] == ["one"]
    project.write("plugins/one.py", step_file("two"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert steps()[0] == ["two"]


def test_pitfall_05_a_file_written_just_before_the_discovery_is_not_trusted(project, steps):
    for number in range(20):
        project.write("plugins/one.py", step_file(f"step_{number:02}"))
        assert steps()[0] == [f"step_{number:02}"]


def test_pitfall_05_a_changed_setting_is_seen(project, steps, tmp_path, manager):
    more = tmp_path / "more"
    more.mkdir()
    (more / "extra.py").write_text(step_file("extra"))
    settle()
    assert steps(modes=["full"])[0] == []
    project.write(".brainsmith/config.yaml", f"plugin_system: {{plugin_folders: [{more}]}}\n")
    assert steps(modes=["full"])[0] == ["extra"]
    project.write(".brainsmith/config.yaml", "plugin_system: {frameworks: [qonnx]}\n")
    assert steps(modes=["full"])[0] == []
    assert {summary["name"] for summary in manager.adapters} == {
        "brainsmith",
        "project",
        "entry_points",
        "qonnx",
    }
    project.write(".brainsmith/config.yaml", "plugin_system: {frameworks: [fin]}\n")
    assert steps(modes=["full"])[0] == []
    assert [str(problem) for problem in manager.problems] == [
        f"{project}/.brainsmith/config.yaml: frameworks lists 'fin', which is not a known framework; known are qonnx, finn"
    ]
    os.unlink(project / ".brainsmith/config.yaml")
    assert steps(modes=["full"])[0] == []
    assert "finn" in {summary["name"] for summary in manager.adapters}


@pytest.mark.slow
def test_pitfall_05_a_framework_that_comes_first_on_the_path_is_seen(unimported_finn, site, manager):
    from brainsmith.plugin.package_files import package_folders

    before = {i.file for i in manager.discover_plugins(modes=["full"]) if i.framework == "finn"}
    site.write("finn/__init__.py", "")
    site.write("finn/steps.py", "\ndef step_mine(model, cfg): return model\n")
    assert package_folders("finn") == [str(site / "finn")]
    after = [i.file for i in manager.discover_plugins(modes=["full"]) if i.framework == "finn"]
    assert after == [str(site / "finn/steps.py")]
    assert before.isdisjoint(after)


def test_another_project_has_another_result(project, steps, tmp_path, monkeypatch):
    project.write("plugins/one.py", step_file("one"))
    assert steps()[0] == ["one"]
    other = tmp_path / "other"
    (other / ".brainsmith").mkdir(parents=True)
    (other / "plugins").mkdir()
    (other / "plugins" / "two.py").write_text(step_file("two"))
    monkeypatch.chdir(other)
    assert steps()[0] == ["two"]
    monkeypatch.chdir(project.folder)
    assert steps()[0] == ["one"]


def test_the_time_to_live_bounds_what_cannot_be_watched(project, steps, monkeypatch):
    settle()
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "200")
    assert steps()[1] == "scan"
    assert steps()[1] == "memory"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 201)
    assert steps()[1] == "scan"
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "0")
    assert [steps()[1] for _ in range(3)] == ["scan"] * 3


def test_a_clock_that_was_set_back_makes_a_kept_result_stale(project, steps, monkeypatch):
    settle()
    now = time.time()
    assert steps()[1] == "scan"
    monkeypatch.setattr(discovery_cache.time, "time", lambda: now - 3600)
    assert steps()[1] == "scan"


def damage_truncate(data):
    return [data[:n] for n in (0, 1, 15, 16, 20, 24, len(data) // 2, len(data) - 1)]


def damage_flip(data):
    flipped = []
    for position in (0, 8, 16, 23, 24, 25, len(data) // 3, len(data) // 2, len(data) - 1):
        copy = bytearray(data)
        copy[position] ^= 0x10
        flipped.append(bytes(copy))
    return flipped


def damage_replace(data):
    return [b"\0" * len(data), b"garbage", data + b"x", data * 2, os.urandom(len(data))]


@pytest.mark.parametrize("damage", [damage_truncate, damage_flip, damage_replace])
def test_a_damaged_file_is_not_believed_and_written_anew(project, steps, damage):
    project.write("plugins/one.py", step_file("one"))
    settle()
    assert steps() == (["one"], "scan")
    (file,) = cache_files()
    data = file.read_bytes()
    for damaged in damage(data):
        file.write_bytes(damaged)
        reset_plugin_system()
        assert steps() == (["one"], "scan")
        reset_plugin_system()
        assert steps() == (["one"], "disk")


def test_a_whole_file_with_an_unexpected_value_is_not_believed(project, steps, manager):
    """A value of another form, saved under the right key, as a development version of this one may have done."""
    settle()
    expected = steps()
    (folder,) = Path(manager.settings.cache_dir).glob("discovery")
    (path,) = folder.iterdir()
    kept = Kept(manager.settings.cache_dir, "discovery", "any")
    kept.path, kept.key = str(path), marshal.loads(path.read_bytes()[24:])[0]
    assert kept.load(None) is not None
    for value in (None, 1, (), [[]]):
        kept.save(None, value)
        reset_plugin_system()
        assert steps() == (expected[0], "scan")


def test_a_cache_folder_that_cannot_be_written_changes_nothing(project, steps, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    project.write("plugins/one.py", step_file("one"))
    settle()
    assert steps() == (["one"], "scan")
    assert steps() == (["one"], "memory")
    reset_plugin_system()
    assert steps() == (["one"], "scan")


@pytest.mark.slow
def test_deleting_every_cache_changes_no_result(project, manager):
    project.write("plugins/one.py", step_file("one"))
    settle()
    requests = [
        {"modes": ["full"]},
        {"types": ["kernel"], "modes": ["selective"]},
        {"frameworks": ["qonnx"], "modes": ["selective"]},
    ]
    first = [shown(manager.discover_plugins(**request)) for request in requests]
    again = [shown(manager.discover_plugins(**request)) for request in requests]
    reset_plugin_system()
    from_disk = [shown(manager.discover_plugins(**request)) for request in requests]
    manager.clear_cache()
    assert cache_files() == []
    cleared = [shown(manager.discover_plugins(**request)) for request in requests]
    assert first == again == from_disk == cleared


def test_a_cached_snapshot_says_all_that_a_fresh_one_does(project, manager):
    project.write(
        "plugins/one.py",
        "from brainsmith.plugin.core import step\n@step(nam='x')\ndef one(model, cfg): pass\n",
    )
    project.write("plugins/groups.py", "GROUPS = {'both': ['a', 'b']}\n")
    settle()
    sources = []

    def everything():
        manager.discover_plugins(modes=["full"])
        sources.append(manager.stats.last_source)
        adapters = [{k: v for k, v in summary.items() if k != "milliseconds"} for summary in manager.adapters]
        return (
            [i.to_plain() for i in manager.registry.records()],
            manager.registry.groups,
            list(map(str, manager.problems)),
            adapters,
        )

    fresh = everything()
    reset_plugin_system()
    assert everything() == fresh
    assert sources == ["scan", "disk"]
    assert fresh[1]["both"] == ("a", "b")


@pytest.mark.slow
def test_pitfall_02_a_failing_adapter_is_not_kept_and_the_others_are_used(
    project, steps, manager, monkeypatch
):
    project.write("plugins/one.py", step_file("one"))
    settle()

    def fail(self, reading):
        raise RuntimeError("finn is ill today")

    with monkeypatch.context() as patched:
        patched.setattr(FINNAdapter, "discover", fail)
        assert steps(modes=["full"]) == (["one"], "scan")
        records = manager.registry.records()
        assert {"qonnx", "brainsmith", "project"} <= {info.framework for info in records}
        assert {s["name"]: s["status"] for s in manager.adapters}["finn"] == "failed"
        assert [str(p) for p in manager.problems if "finn" in str(p)] == [
            "adapter finn: RuntimeError: finn is ill today"
        ]
        assert cache_files() == []
    assert steps(modes=["full"]) == (["one"], "scan")
    assert any(info.framework == "finn" for info in manager.registry.records())
    assert len(cache_files()) == 1


@pytest.mark.slow
def test_pitfall_02_a_process_with_a_failing_adapter_does_not_spoil_the_next(project):
    code = """
    import json
    from brainsmith.plugin.adapters.qonnx import QONNXAdapter
    from brainsmith.plugin import get_plugin_manager
    def fail(self, reading): raise RuntimeError("ill")
    if {ill}: QONNXAdapter.discover = fail
    print(json.dumps(sorted({{i.framework for i in get_plugin_manager().discover_plugins(modes=["full"])}})))
    """
    assert "qonnx" not in run_python(code.format(ill=True), cwd=project.folder)
    assert "qonnx" in run_python(code.format(ill=False), cwd=project.folder)


@pytest.mark.slow
def test_pitfall_06_sixteen_threads_scan_once_and_agree(project, manager, monkeypatch):
    project.write("plugins/one.py", step_file("one"))
    settle()
    scans, results, errors = [], [], []
    real = discovery.discover
    monkeypatch.setattr(discovery, "discover", lambda *a, **k: (scans.append(1), real(*a, **k))[1])
    barrier = threading.Barrier(16)

    def work():
        try:
            barrier.wait(10)
            results.append(shown(manager.discover_plugins(modes=["full"])))
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert len(scans) == 1
    assert len(results) == 16
    assert all(result == results[0] for result in results)


@pytest.mark.slow
def test_pitfall_06_eight_processes_at_once_agree(project):
    project.write("plugins/one.py", step_file("one"))
    code = (
        "import hashlib\n"
        "from brainsmith.plugin import get_plugin_manager\n"
        "records = get_plugin_manager().discover_plugins(modes=['full'])\n"
        "print(len(records), hashlib.sha256(repr([i.to_plain() for i in records]).encode()).hexdigest())\n"
    )
    settle()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for _ in range(2):
        children = [
            subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=project.folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(8)
        ]
        outputs = [child.communicate(timeout=60) for child in children]
        assert [err for _, err in outputs] == [""] * 8
        assert len({out for out, _ in outputs}) == 1
    assert [file.suffix for file in cache_files()] == [""]


@pytest.mark.slow
def test_pitfall_08_types_and_frameworks_filter_and_a_full_discovery_is_full_again(manager):
    full = shown(manager.discover_plugins(modes=["full"]))
    kernels = manager.discover_plugins(modes=["selective"], types=["kernel"])
    assert {info.type for info in kernels} == {"kernel"}
    assert {info.type for info in manager.registry.records()} == {"kernel"}
    qonnx = manager.discover_plugins(modes=["selective"], frameworks=["qonnx"], types=["transform"])
    assert {(info.framework, info.type) for info in qonnx} == {("qonnx", "transform")}
    assert shown(manager.discover_plugins(modes=["full"])) == full
    assert shown(manager.registry.records()) == full


def test_a_selective_discovery_runs_only_the_adapters_that_it_needs(manager):
    manager.discover_plugins(modes=["selective"], frameworks=["qonnx"])
    assert [summary["name"] for summary in manager.adapters] == ["qonnx"]


def test_a_framework_of_a_distribution_is_selected_by_any_of_its_names(site, manager):
    site.install("Acme-Plugins", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    for name in ("acme-plugins", "acme_plugins", "Acme-Plugins"):
        assert [i.name for i in manager.discover_plugins(modes=["selective"], frameworks=[name])] == [
            "one"
        ], name


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"modes": ["fast"]}, "mode must be full or blueprint or selective, not 'fast'"),
        (
            {"types": ["transforms"]},
            "there is no plugin type 'transforms'; the types are transform, kernel, backend, step, op, target, bundle",
        ),
    ],
)
def test_a_request_that_cannot_be_used_is_an_error(manager, request_, message):
    with pytest.raises(SettingsError) as caught:
        manager.discover_plugins(**request_)
    assert str(caught.value) == message


@pytest.mark.slow
def test_pitfall_03_reset_and_discover_finds_what_was_imported_before(project, manager, monkeypatch):
    project.write("plugins/one.py", step_file("one", 41))
    manager.discover_plugins(modes=["full"])
    first = manager.registry.get("step", "one")
    reset_plugin_system()
    assert len(REGISTRY._objects) == 0
    manager.discover_plugins(modes=["full"])
    assert manager.registry.get("step", "one") is first


@pytest.mark.slow
def test_reset_forgets_what_was_made_at_run_time(manager):
    from brainsmith.plugin.core import get_registry, step

    @step
    def made_here(model, cfg):
        return model

    assert "step:made_here" in get_registry()
    reset_plugin_system()
    assert "step:made_here" not in get_registry()


@pytest.mark.slow
def test_pitfall_04_there_is_one_state_however_it_is_imported():
    import brainsmith.plugin as package
    from brainsmith.plugin.core import get_registry
    from brainsmith.plugin.manager import get_plugin_manager
    from brainsmith.plugins import reset_plugin_system as reset
    from brainsmith.plugins import transforms

    manager = get_plugin_manager()
    assert package.get_plugin_manager() is manager
    assert package.get_registry() is get_registry() is manager.registry
    manager.discover_plugins(modes=["selective"], frameworks=["brainsmith"])
    assert {info.framework for info in transforms} == {"brainsmith"}
    reset()
    assert "qonnx" in {info.framework for info in transforms}


@pytest.mark.slow
def test_a_hit_in_process_costs_little(manager):
    """Not a benchmark: only that a hit does not scan."""
    manager.discover_plugins(modes=["full"])
    if manager.discover_plugins(modes=["full"]) and manager.stats.last_source == "memory":
        assert manager.stats.check_ms < 200
