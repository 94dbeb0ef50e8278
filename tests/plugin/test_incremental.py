"""A discovery that reads only what changed gives the same as one that reads everything."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from brainsmith.plugin import discovery, discovery_cache, live_discovery, source_files
from brainsmith.plugin.adapters import classes
from brainsmith.plugin.adapters.package_reading import PackageAdapter
from brainsmith.plugin.adapters.project import ProjectAdapter
from brainsmith.plugin.discovery import discover
from brainsmith.plugin.discovery_cache import CachedDiscovery
from brainsmith.plugin.manager import PluginManager
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.request import Request
from brainsmith.settings import load_settings
from brainsmith.store.file_lock import FileLock
from brainsmith.store.files import is_racy
from tests.plugin.installed import ROOT, run_python, step_file

pytestmark = pytest.mark.finds_anew


class Framework(PackageAdapter):
    """Reads a package as those of QONNX and FINN are read; two of them share what they read."""

    def __init__(self, package, closure):
        self.name = self.package = package
        self.closure = closure

    def version(self):
        return "1.0"


FILES = (
    "first/a.py",
    "first/b.py",
    "first/custom_op/__init__.py",
    "first/custom_op/x.py",
    "second/a.py",
    "second/new/c.py",
    "second/new/__init__.py",
    "plugins/p.py",
    "plugins/q.py",
    "plugins/sub/r.py",
    "plugins/not-a-name.py",
)
BASE = "from qonnx.transformation.base import Transformation\n"
TEXTS = (
    "",
    "\n\n# moved\n" + BASE + "class A(Transformation):\n    def apply(self, model): pass\n",
    BASE + "class A(Transformation):\n    def apply(self, model): pass\n",
    BASE + "class A(Transformation): pass\nclass B(A): pass\nclass A(B): pass\n",
    "from first.a import A\nclass B(A): pass\n",
    "from first.a import A as Z\nclass B(Z): pass\n\n\nclass C(B):\n    def apply(self): pass\n",
    "import first.a\nclass B(first.a.A): pass\n",
    "from first.a import *\nclass B(A): pass\n",
    "from first.b import B as A\n",
    "from .a import A\nfrom .b import *\n",
    "from second.a import B\nclass D(B): pass\n",
    "class A: pass\n",
    "import abc\nclass A:\n    @abc.abstractmethod\n    def apply(self): pass\n",
    "class B(A:\n",
    "class A(make(" + "+".join(["1"] * 4000) + ")): pass\n",
    "from qonnx.custom_op.base import CustomOp\nclass Op(CustomOp): pass\nclass Op2(Op): pass\n",
    "from first.custom_op.x import Op\ncustom_op = dict()\ncustom_op['Op'] = Op\n",
    "from first.custom_op.x import Op\n__all__ = ['Op']\n",
    "from first.custom_op.x import Op2\nclass Further(Op2): pass\n",
    "def step_one(model, cfg): pass\n",
    "# moved\ndef step_one(model, cfg): pass\ndef step_two(model, cfg, more=1): pass\n",
    "def step_one(model, cfg): pass\nbuild_step_lookup = {'one': step_one}\n",
    step_file("one"),
    step_file("two"),
    "\n" + step_file("one"),
    step_file("one").replace("@step", "@step(override=True)"),
    step_file("one") + "GROUPS = {'g': ['one', 'two']}\n",
    "from brainsmith.plugin.core import step\n@step(version=str(1))\ndef bad(model, cfg): pass\n",
)
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from((*FILES, "first/__init__.py")), st.sampled_from(TEXTS)),
    st.tuples(st.just("remove"), st.sampled_from(FILES), st.none()),
    st.tuples(st.just("move"), st.sampled_from(FILES), st.sampled_from(FILES)),
    st.tuples(st.just("link"), st.just("plugins/linked"), st.just("first")),
)


def edit(folder, kind, name, more):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "write":
        path.write_text(more)
    elif kind == "remove" and path.exists():
        path.unlink()
    elif kind == "move" and path.exists() and name != more:
        (folder / more).parent.mkdir(parents=True, exist_ok=True)
        path.rename(folder / more)
    elif kind == "link" and not path.is_symlink():
        path.symlink_to(folder / more)
    elif kind == "link":
        path.unlink()


def told(snapshot):
    adapters = [{k: v for k, v in summary.items() if k != "milliseconds"} for summary in snapshot.adapters]
    return (
        [info.to_plain() for info in snapshot.records],
        snapshot.groups,
        sorted(map(str, snapshot.problems)),
        sorted(snapshot.paths),
        adapters,
    )


@pytest.fixture
def tree(project, tmp_path_factory, monkeypatch):
    """Return what makes an empty folder with two frameworks and a project."""
    folder = project.folder
    monkeypatch.syspath_prepend(str(folder))

    def adapters_for(settings):
        return [
            ProjectAdapter(settings),
            Framework("first", ("first",)),
            Framework("second", ("first", "second")),
        ]

    monkeypatch.setattr(discovery, "adapters_for", adapters_for)
    monkeypatch.setattr(discovery, "ADAPTED", ("first", "second"))
    monkeypatch.setattr(discovery_cache, "ADAPTED", ("first", "second"))

    def fresh():
        for name in FILES:
            edit(folder, "remove", name, None)
        if (folder / "plugins" / "linked").is_symlink():
            (folder / "plugins" / "linked").unlink()
        edit(folder, "write", "first/__init__.py", "")
        edit(folder, "write", "second/__init__.py", "")
        edit(folder, "write", "first/a.py", TEXTS[2])
        edit(folder, "write", "second/a.py", TEXTS[4])
        return folder

    return fresh


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@example(  # a framework's operator is the base of another framework's, and no plugin any more
    edits=[
        [("write", "first/custom_op/__init__.py", TEXTS[16]), ("write", "first/custom_op/x.py", TEXTS[15])],
        [("write", "second/a.py", TEXTS[18])],
        [("remove", "second/a.py", None)],
    ],
    again=False,
)
@given(edits=st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=6), again=st.booleans())
def test_after_any_edits_the_same_is_found_as_with_no_cache(tree, edits, again):
    folder = tree()
    chosen = load_settings()
    manager = PluginManager(Registry(), chosen)
    manager.clear_cache()
    manager.discover_plugins(modes=["full"])
    for together in edits:
        for one in together:
            edit(folder, *one)
        if again:  # another process: it has what this one kept on disk
            manager._cache.save()
            manager = PluginManager(Registry(), chosen)
        manager.discover_plugins(modes=["full"])
        assert manager.stats.last_source in ("update", "memory", "disk")
        full = discover(Request("full"), chosen, CachedDiscovery(None, "nothing kept"))
        assert told(manager._current) == told(full)
        expected = Registry()
        expected.replace_discovered(full)
        found = manager._registry._discovered
        assert found.by_key == expected._discovered.by_key
        assert found.by_reference == expected._discovered.by_reference


def test_an_edit_that_moves_definitions_works_nothing_out_anew(tree, monkeypatch):
    folder = tree()
    worked_out = []
    real = classes.Classes.__init__
    monkeypatch.setattr(
        classes.Classes,
        "__init__",
        lambda self, packages: (worked_out.append(1), real(self, packages))[1],
    )
    manager = PluginManager(Registry(), load_settings())
    manager.discover_plugins(modes=["full"])
    assert worked_out == [1]
    assert manager.registry.resolve("transform", "A").line == 2
    edit(folder, "write", "first/a.py", TEXTS[1])
    manager.discover_plugins(modes=["full"])
    assert (manager.stats.last_source, worked_out) == ("update", [1])
    assert manager.registry.resolve("transform", "A").line == 5
    edit(folder, "write", "first/a.py", TEXTS[1] + "class New(A): pass\n")
    manager.discover_plugins(modes=["full"])
    assert (manager.stats.last_source, worked_out) == ("update", [1, 1])
    assert manager.registry.resolve("transform", "New").line == 7


@pytest.mark.slow
def test_only_what_changed_is_read(project, manager, monkeypatch):
    project.write("plugins/one.py", step_file("one"))
    project.write("plugins/two.py", step_file("two"))
    manager.discover_plugins(modes=["full"])
    read = []
    real = source_files.read_bytes
    monkeypatch.setattr(
        source_files, "read_bytes", lambda path, *more: (read.append(path), real(path, *more))[1]
    )
    one = project.write("plugins/one.py", step_file("another"))
    manager.discover_plugins(modes=["full"])
    assert manager.stats.last_source == "update"
    assert [path for path in read if path.startswith(str(ROOT / "brainsmith"))] == []
    assert set(read) <= {
        str(one),
        str(project / "plugins" / "two.py"),
    }  # the second may be too young to be trusted


@pytest.mark.parametrize(
    "request_",
    [{"types": ["step"]}, {"frameworks": ["project"]}, {"frameworks": ["project"], "types": ["step"]}],
)
def test_a_selective_discovery_is_brought_up_to_date_too(project, manager, request_):
    def names():
        return [
            info.name
            for info in manager.discover_plugins(modes=["selective"], **request_)
            if info.framework == "project"
        ]

    project.write("plugins/one.py", step_file("one"))
    assert names() == ["one"]
    project.write("plugins/two.py", step_file("two"))
    assert names() == ["one", "two"]
    assert manager.stats.last_source == "update"
    os.unlink(project / "plugins" / "one.py")
    assert names() == ["two"]
    assert {info.type for info in manager.registry.records()} == {"step"}


def test_a_file_that_could_not_be_read_just_now_is_read_at_the_next_call(project, manager, monkeypatch):
    """As where too many files are open: nothing about the file has to change."""
    path = str(project.write("plugins/one.py", step_file("one")))
    real = source_files.read_bytes

    def fail(asked, *more):
        if asked == path:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(asked, *more)

    with monkeypatch.context() as patched:
        patched.setattr(source_files, "read_bytes", fail)
        assert [i.name for i in manager.discover_plugins(frameworks=["project"])] == []
        assert list(map(str, manager.problems)) == [f"{path}: the file cannot be read: Too many open files"]
    assert [i.name for i in manager.discover_plugins(frameworks=["project"])] == ["one"]
    assert manager.problems == ()


@pytest.mark.slow
def test_the_next_process_reads_only_what_changed_too(project):
    code = """
    import json
    from brainsmith.plugin import get_plugin_manager
    manager = get_plugin_manager()
    names = [i.name for i in manager.discover_plugins(modes=["full"]) if i.framework == "project"]
    print(json.dumps([names, manager.stats.last_source]))
    """
    project.write("plugins/one.py", step_file("one"))
    assert run_python(code, cwd=project.folder) == [["one"], "scan"]
    project.write("plugins/one.py", step_file("changed"))
    assert run_python(code, cwd=project.folder) == [["changed"], "update"]
    assert run_python(code, cwd=project.folder) == [["changed"], "disk"]


@pytest.fixture
def slow_clock(monkeypatch):
    """Let the file system's clock have whole seconds only, and no time of a file's status."""

    def slow(paths, real=discovery.stamps):
        return [(m - m % 1_000_000_000, m - m % 1_000_000_000, size) for m, _, size in real(paths)]

    monkeypatch.setattr(discovery, "stamps", slow)
    monkeypatch.setattr(discovery_cache, "stamps", slow)
    return slow


@pytest.mark.slow
def test_two_edits_of_equal_size_within_a_tick_are_both_seen(project, manager, slow_clock, monkeypatch):
    now = time.time_ns()
    seen = []
    for name in ("one", "two", "six"):
        path = project.write("plugins/one.py", step_file(name))
        os.utime(path, ns=(now, now))
        seen.append((name, slow_clock([str(path)])))
        found = manager.discover_plugins(modes=["full"])
        assert [info.name for info in found if info.framework == "project"] == [name]
    assert len({str(stamp) for _, stamp in seen}) == 1


@pytest.mark.slow
def test_a_file_is_read_again_only_until_its_time_is_old_enough(project, manager, slow_clock, monkeypatch):
    path = project.write("plugins/one.py", step_file("one"))
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    manager.discover_plugins(modes=["full"])
    assert str(path) in manager._current.racy
    manager.discover_plugins(modes=["full"])
    assert str(path) in manager._current.racy
    real = time.time
    monkeypatch.setattr(discovery_cache.time, "time", lambda: real() + 5)
    manager.discover_plugins(modes=["full"])
    assert manager.stats.last_source == "memory"
    assert str(path) not in manager._current.racy


@pytest.mark.parametrize(
    ("changed", "read", "racy"),
    [
        (1_000_000_001, 1_000_000_001, True),
        (1_000_000_001, 1_050_000_001, True),
        (1_000_000_001, 1_050_000_002, False),
        (1_000_000_001, 999_999_999, True),
        (1_000_000_000, 3_000_000_000, True),
        (1_000_000_000, 3_000_000_001, False),
    ],
)
def test_a_stamp_shows_every_change_once_it_is_older_than_a_tick(changed, read, racy):
    assert is_racy((changed, 0, 10), read) is racy
    assert is_racy((0, changed, 10), read) is racy


@pytest.mark.slow
def test_an_attribute_look_up_trusts_a_look_at_the_files_for_50_ms_and_a_listing_never(
    project, manager, monkeypatch
):
    project.write("plugins/one.py", step_file("one"))
    clock = [1000.0]
    looks = []
    real = discovery_cache.stamps
    monkeypatch.setattr(live_discovery.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(discovery_cache, "stamps", lambda paths: (looks.append(1), real(paths))[1])
    manager.discover_plugins(modes=["full"])

    def looked(function):
        looks.clear()
        function()
        return len(looks) > 0

    def look_up():
        manager.registry.resolve("step", "one")

    assert not looked(look_up)
    clock[0] += 0.049
    assert not looked(look_up)
    clock[0] += 0.002
    assert looked(look_up)
    assert not looked(look_up)
    assert looked(lambda: manager.registry.records("step"))
    assert looked(lambda: "step:absent" in manager.registry)
    assert looked(manager.all_records)
    project.write("plugins/one.py", step_file("other"))
    clock[0] += 0.06
    assert "step:one" not in manager.registry


COUNTED = """
from brainsmith.plugin import get_plugin_manager
print(len(get_plugin_manager().discover_plugins(modes=["full"])))
"""


@pytest.mark.slow
def test_four_cold_processes_at_once_scan_once(project):
    project.write("plugins/one.py", step_file("one"))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "BRAINSMITH_PLUGIN_DEBUG": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", COUNTED],
            cwd=project.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0] * 4
    assert len({out for out, _ in outputs}) == 1
    assert sum(err.count("brainsmith.plugin: scanning: ") for _, err in outputs) == 1


HOLDER = """
import sys, time
from brainsmith.store.file_lock import FileLock
with FileLock(sys.argv[1], 5) as held:
    print(held, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    path = tmp_path / "locks" / "one"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "True\n"
    yield path, process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_process_that_dies_with_the_lock_blocks_nobody(holder):
    path, process = holder
    with FileLock(str(path), 0.1) as held:
        assert not held
    process.send_signal(signal.SIGKILL)
    process.wait()
    with FileLock(str(path), 60) as held:
        assert held


def test_a_process_that_is_stopped_with_the_lock_is_not_waited_for_without_end(holder):
    path, process = holder
    process.send_signal(signal.SIGSTOP)
    with FileLock(str(path), 0.1) as held:
        assert not held


def test_a_lock_that_cannot_be_made_is_done_without(tmp_path):
    (tmp_path / "file").write_text("")
    with FileLock(str(tmp_path / "file" / "lock"), 1) as held:
        assert not held


def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    path = str(tmp_path / "lock")
    with FileLock(path, 1) as held:
        assert held
        child = subprocess.Popen(["sleep", "30"], close_fds=False)
    try:
        with FileLock(path, 0) as held:
            assert held
    finally:
        child.kill()
        child.wait()
