"""Entries are made once, are whole or not there, and are made again when damaged."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time

import pytest

from brainsmith.errors import SimulationError, ToolError
from brainsmith.store import entry_locks
from brainsmith.store.folders import KeptFolders
from brainsmith.store.safety import why_replaceable


def fill(text, calls):
    def make(work):
        calls.append(text)
        (work / "part").mkdir()
        (work / "part" / "file").write_text(text)

    return make


def test_an_entry_is_made_once(tmp_path):
    calls = []
    for _ in range(3):
        entry = KeptFolders(tmp_path).obtain("key", fill("text", calls))
    assert calls == ["text"]
    assert (entry / "part" / "file").read_text() == "text"
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("damage", ["changed", "removed", "no manifest", "bad manifest", "empty manifest"])
def test_a_damaged_entry_is_made_again(tmp_path, damage):
    calls = []
    entry = KeptFolders(tmp_path).obtain("key", fill("text", calls))
    file, manifest = entry / "part" / "file", entry / "manifest.json"
    {
        "changed": lambda: file.write_text("texx"),
        "removed": file.unlink,
        "no manifest": manifest.unlink,
        "bad manifest": lambda: manifest.write_text('["x"'),
        "empty manifest": lambda: manifest.write_text("{}"),
    }[damage]()
    assert (KeptFolders(tmp_path).obtain("key", fill("text", calls)) / "part" / "file").read_text() == "text"
    assert calls == ["text", "text"]


def test_a_failure_leaves_nothing_behind(tmp_path):
    def make(work):
        (work / "half").write_text("x")
        raise ToolError("the compiler failed")

    with pytest.raises(ToolError, match="the compiler failed"):
        KeptFolders(tmp_path).obtain("key", make)
    assert not (tmp_path / "key").exists()
    assert not list((tmp_path / "tmp").iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SimulationError) as caught:
        KeptFolders(tmp_path / "file").obtain("key", fill("text", []))
    assert str(caught.value) == (
        f"{tmp_path}/file: the folder for results of builds cannot be written: Not a directory\n"
        "  free space or make it writable, or set XDG_CACHE_HOME to another folder"
    )


@pytest.fixture
def only_the_last_is_in_use(monkeypatch):
    monkeypatch.setattr(entry_locks, "RECENT", 1)


def there(folder):
    return sorted(path.name for path in folder.iterdir() if len(path.name) == 1)


def aged(store, *keys):
    """Make entries, of which each was used later than those before it."""
    for number, key in enumerate(keys):
        store.obtain(key, fill("x" * 1000, []))
        os.utime(store.entry(key), (time.time() - 1000 + number,) * 2)


@pytest.mark.usefixtures("only_the_last_is_in_use")
def test_the_entries_used_longest_ago_go_first(tmp_path):
    store = KeptFolders(tmp_path)
    aged(store, "a", "b", "c")
    os.utime(store.entry("a"))
    KeptFolders(tmp_path, limit=2800).obtain("d", fill("x" * 1000, []))
    assert there(tmp_path) == ["a", "d"]


@pytest.mark.usefixtures("only_the_last_is_in_use")
def test_what_an_object_uses_stays_and_goes_after_it(tmp_path):
    class User:
        pass

    user, store = User(), KeptFolders(tmp_path, limit=1500)
    store.obtain("a", fill("x" * 1000, []))
    store.use_as_long_as("a", user)
    aged(store, "b", "c")
    assert there(tmp_path) == ["a", "c"]
    del user
    aged(store, "d")
    assert there(tmp_path) == ["d"]


def test_what_another_process_uses_stays(tmp_path):
    code = (
        "import sys; from pathlib import Path; from brainsmith.store.folders import KeptFolders\n"
        "KeptFolders(Path(sys.argv[1])).obtain('a', lambda work: (work / 'file').write_text('x' * 1000))\n"
        "print('made', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "made\n"
    store = KeptFolders(tmp_path, limit=0)
    store.trim()
    assert there(tmp_path) == ["a"]
    other.communicate(timeout=30)
    store.trim()
    assert there(tmp_path) == []


FORKED = """
import os, sys, threading
from pathlib import Path
from brainsmith.store.folders import KeptFolders

store = KeptFolders(Path(sys.argv[1]))
begun, end = threading.Event(), threading.Event()

def slowly(work):
    begun.set()
    end.wait()
    (work / "file").write_text("text")

thread = threading.Thread(target=store.obtain, args=("key", slowly))
thread.start()
begun.wait()
child = os.fork()
if not child:
    store.obtain("key", lambda work: (work / "file").write_text("text"))
    os._exit(0)
if sys.argv[2] == "dies":
    os._exit(0)
end.set()
thread.join()
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.parametrize(("parent", "told"), [("lives", "0\n"), ("dies", "")])
def test_a_child_that_is_forked_while_something_is_made_does_not_wait_for_itself(tmp_path, parent, told):
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path), parent]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (told, "")
    assert (KeptFolders(tmp_path).obtain("key", fill("text", [])) / "file").read_text() == "text"


def test_what_is_made_for_hours_is_not_taken_for_abandoned(tmp_path):
    def make(work):
        os.utime(work, (time.time() - 7200,) * 2)
        KeptFolders(tmp_path).obtain("other", fill("text", []))
        (work / "file").write_text("text")

    assert (KeptFolders(tmp_path).obtain("key", make) / "file").read_text() == "text"


def test_a_process_that_uses_many_folders_has_few_open_files(tmp_path):
    class User:
        pass

    user, before = User(), len(os.listdir("/proc/self/fd"))
    for number in range(3 * entry_locks.FOLDERS):
        store = KeptFolders(tmp_path / str(number), limit=0)
        store.obtain("a", fill("x", []))
        if not number:
            store.use_as_long_as("a", user)
    assert len(os.listdir("/proc/self/fd")) <= before + entry_locks.FOLDERS + 1
    first = KeptFolders(tmp_path / "0", limit=0)
    first.trim()
    assert there(tmp_path / "0") == ["a"]  # an object uses it
    del user


def test_a_trimmed_entry_is_made_again(tmp_path):
    calls = []
    store = KeptFolders(tmp_path)
    store.obtain("a", fill("text", calls))
    assert store._drop(store.entry("a"))
    assert (store.obtain("a", fill("text", calls)) / "part" / "file").read_text() == "text"
    assert calls == ["text", "text"]


def test_another_entrys_copy_is_not_believed(tmp_path):
    store, calls = KeptFolders(tmp_path), []
    store.obtain("a", fill("a", calls))
    shutil.rmtree(store.obtain("b", fill("b", calls)))
    shutil.copytree(store.entry("a"), store.entry("b"))
    assert (store.obtain("b", fill("b", calls)) / "part" / "file").read_text() == "b"
    assert calls == ["a", "b", "b"]


@pytest.mark.parametrize("place", ["manifest.json", "part/file"])
def test_a_pipe_in_a_files_place_is_damage(tmp_path, place):
    store, calls = KeptFolders(tmp_path), []
    entry = store.obtain("key", fill("text", calls))
    (entry / place).unlink()
    os.mkfifo(entry / place)
    assert (store.obtain("key", fill("text", calls)) / "part" / "file").read_text() == "text"
    assert calls == ["text", "text"]


def test_a_pipe_in_the_place_of_the_locks_is_replaced(tmp_path):
    os.mkfifo(tmp_path / "lock")
    KeptFolders(tmp_path).obtain("key", fill("text", []))
    assert (tmp_path / "lock").is_file()


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"key": "key", "files": ' + "[" * 100_000, "{}", "[]", "null"]
)
def test_a_manifest_that_is_none_is_damage(tmp_path, text):
    store, calls = KeptFolders(tmp_path), []
    (store.obtain("key", fill("text", calls)) / "manifest.json").write_text(text)
    store.obtain("key", fill("text", calls))
    assert calls == ["text", "text"]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_private_and_an_own_one_is_tightened(tmp_path):
    before = os.umask(0)
    try:
        folder = tmp_path / "caches" / "store"
        store = KeptFolders(folder)
        entry = store.obtain("key", fill("text", []))
        assert [mode(path) for path in (folder.parent, folder, folder / "tmp", entry)] == [0o700] * 4
        assert (mode(entry / "part" / "file"), mode(entry / "manifest.json")) == (0o644, 0o644)
        folder.chmod(0o777)
        store.obtain("key", fill("text", []))
        assert mode(folder) == 0o700
    finally:
        os.umask(before)


@pytest.mark.parametrize("place", [".", "part/file", "manifest.json"])
def test_an_entry_that_others_may_write_is_made_again(tmp_path, place):
    store, calls = KeptFolders(tmp_path), []
    entry = store.obtain("key", fill("text", calls))
    (entry / place).chmod(0o775)
    store.obtain("key", fill("text", calls))
    assert calls == ["text", "text"]
    assert not mode(entry / place) & 0o022


def test_a_folder_above_may_be_root_s(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 65_500)
    assert why_replaceable("/usr/lib/store") == ("", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can give a file to another user")
def test_an_entry_of_another_user_is_made_again_and_a_folder_of_one_is_refused(tmp_path):
    store, calls = KeptFolders(tmp_path / "store"), []
    os.chown(store.obtain("key", fill("text", calls)) / "part" / "file", 65_500, -1)
    store.obtain("key", fill("text", calls))
    assert calls == ["text", "text"]
    os.chown(tmp_path / "store", 65_500, -1)
    with pytest.raises(SimulationError) as caught:
        store.obtain("key", fill("text", calls))
    assert str(caught.value) == (
        f"{tmp_path}/store: belongs to another user (65500), and what is loaded from there runs with your rights\n"
        "  remove it, or set XDG_CACHE_HOME to a folder of your own"
    )


@pytest.fixture
def outer(tmp_path):
    """A folder between this test's own and the cache folder, which others may enter."""
    (tmp_path / "outer" / "caches").mkdir(parents=True)
    return tmp_path / "outer"


def compiled(folder):
    return KeptFolders(folder / "caches" / "store", holds_code=True).obtain("key", fill("text", []))


def test_code_is_not_loaded_where_others_may_write_a_folder_above(outer):
    outer.chmod(0o777)
    for _ in range(2):  # before the folder is made too
        with pytest.raises(SimulationError) as caught:
            compiled(outer)
        assert str(caught.value) == (
            f"{outer}/caches/store: another user could replace this folder, since {outer} may be written by "
            "other users, and what is loaded from it runs with your rights\n"
            f"  chmod o-w {outer}, or set XDG_CACHE_HOME to a folder of your own"
        )
    KeptFolders(outer / "caches" / "store").obtain(
        "key", fill("text", [])
    )  # what is only read is not asked for it


@pytest.mark.parametrize("rights", [0o1777, 0o775, 0o2775, 0o755, 0o711])
def test_a_folder_above_may_be_sticky_or_its_group_s(outer, rights):
    outer.chmod(rights)
    compiled(outer)


def test_a_link_to_a_folder_that_others_may_replace_is_followed(outer, tmp_path):
    outer.chmod(0o777)
    (tmp_path / "link").symlink_to(outer / "caches")
    with pytest.raises(SimulationError, match=f"since {outer} may be written by other users"):
        KeptFolders(tmp_path / "link" / "store", holds_code=True).obtain("key", fill("text", []))
    outer.chmod(0o755)
    tmp_path.joinpath("open").mkdir()
    tmp_path.joinpath("open", "link").symlink_to(outer / "caches")
    tmp_path.joinpath("open").chmod(0o777)
    with pytest.raises(SimulationError, match=f"since {tmp_path}/open may be written by other users"):
        KeptFolders(tmp_path / "open" / "link" / "store", holds_code=True).obtain("key", fill("text", []))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can give a folder to another user")
def test_code_is_not_loaded_below_a_folder_of_another_user(outer):
    os.chown(outer, 65_500, -1)
    with pytest.raises(SimulationError) as caught:
        compiled(outer)
    assert str(caught.value) == (
        f"{outer}/caches/store: another user could replace this folder, since {outer} belongs to another user "
        "(65500), and what is loaded from it runs with your rights\n  set XDG_CACHE_HOME to a folder of your own"
    )


def test_what_a_killed_process_left_is_removed(tmp_path):
    old = tmp_path / "tmp" / "1-dead"
    old.mkdir(parents=True)
    os.utime(old, (time.time() - 7200,) * 2)
    KeptFolders(tmp_path).obtain("key", fill("text", []))
    assert not old.exists()


CHILD = """
import sys, time
from pathlib import Path
from brainsmith.store.folders import KeptFolders

def make(work):
    with open(sys.argv[2], "a") as log:
        log.write("made ")
    (work / "file").write_text("half")
    time.sleep(float(sys.argv[3]))
    (work / "file").write_text("whole")

print((KeptFolders(Path(sys.argv[1])).obtain("key", make) / "file").read_text())
"""


def start(folder, log, seconds):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(log), str(seconds)], env=environment, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_two_processes_at_once_make_it_once(tmp_path):
    children = [start(tmp_path / "store", tmp_path / "log", 0.5) for _ in range(2)]
    assert [child.communicate(timeout=30)[0] for child in children] == ["whole\n", "whole\n"]
    assert (tmp_path / "log").read_text() == "made "


@pytest.mark.slow
def test_a_killed_process_leaves_no_half_entry_and_no_lock(tmp_path):
    first = start(tmp_path / "store", tmp_path / "log", 60)
    while not (tmp_path / "log").exists():
        time.sleep(0.02)
    second = start(tmp_path / "store", tmp_path / "log", 0)
    time.sleep(0.2)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=30)
    assert second.communicate(timeout=30)[0] == "whole\n"
    assert (tmp_path / "log").read_text() == "made made "


FORKED_USER = """
import os, sys
from pathlib import Path
from brainsmith.store.folders import KeptFolders

class User:
    pass

store, user = KeptFolders(Path(sys.argv[1]), limit=0), User()
store.obtain("a", lambda work: (work / "file").write_text("text"))
store.use_as_long_as("a", user)
child = os.fork()
if not child:
    del user  # it is the parent's too
    os._exit(0)
os.waitpid(child, 0)
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_child_does_not_give_up_what_its_parent_uses(tmp_path):
    command = [sys.executable, "-c", FORKED_USER, str(tmp_path)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "ready\n"
    store = KeptFolders(tmp_path, limit=0)
    store.trim()
    assert there(tmp_path) == ["a"]
    other.communicate(timeout=30)
    store.trim()
    assert there(tmp_path) == []
