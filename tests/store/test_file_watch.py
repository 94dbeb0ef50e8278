"""Changes are seen whatever the system's notices say: while nobody waits, of files made again, in folders that vanish."""

import os
import shutil
import subprocess
import sys
import threading

import pytest

from brainsmith.errors import WatchError
from brainsmith.store.file_watch import FileWatch, _why_no_notices

SECONDS = 60
"""How long a test waits for what comes in a few milliseconds on a quiet machine."""


@pytest.fixture
def watch(tmp_path):
    watch = FileWatch()
    yield watch
    watch.close()


def replace(path, text):
    """Save as editors do: write another file, and rename it."""
    other = path.with_suffix(".new")
    other.write_text(text)
    os.replace(other, path)


def test_a_change_while_nobody_waits_is_not_missed(watch, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_text("1")
    watch.follow([str(path)])
    assert watch.changed() == []
    path.write_text("2")  # of the same size, within a tick of the clock
    assert watch.wait(SECONDS) == [str(path)]
    path.write_text("3")
    path.write_text("4")
    assert watch.changed() == [str(path)]
    assert watch.wait(0) == []


def test_a_file_that_is_replaced_removed_and_made_again(watch, tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text("a")
    watch.follow([str(path)])
    replace(path, "b")
    assert watch.wait(SECONDS) == [str(path)]
    path.unlink()
    assert watch.wait(SECONDS) == [str(path)]
    assert watch.wait(0) == []
    path.write_text("b")
    assert watch.wait(SECONDS) == [str(path)]


def test_files_of_a_folder_that_vanishes_and_is_made_again(watch, tmp_path):
    folder = tmp_path / "plugins"
    inner = folder / "inner"
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("")
    (inner / "notes.txt").write_text("")
    watch.follow([], [str(folder)])
    assert watch.paths() == {str(inner / "a.py")}
    (folder / "b.py").write_text("")
    assert watch.wait(SECONDS) == [str(folder / "b.py")]
    shutil.rmtree(folder)
    assert watch.wait(SECONDS) == [str(folder / "b.py"), str(inner / "a.py")]
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("")
    assert watch.wait(SECONDS) == [str(inner / "a.py")]
    assert watch.trouble == ""


def test_what_changed_before_it_was_watched_counts_from_a_given_time_on(watch, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for path in (old, new):
        path.write_text("")
    begin = os.stat(new).st_ctime + 0.001
    watch.follow([str(old)], since=begin)
    new.write_text("other")
    os.utime(new, (begin + 10, begin + 10))
    watch.follow([str(old), str(new)], since=begin)
    assert watch.changed() == [str(new)]
    watch.follow([str(new)])
    old.write_text("not watched any more")
    assert watch.changed() == []


def test_it_is_stopped_from_another_thread(watch, tmp_path):
    stop = threading.Event()
    timer = threading.Timer(0.01, stop.set)
    timer.start()
    assert watch.wait(None, stop) == []
    timer.join()


def test_without_the_package_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles._rust_notify", None)
    with pytest.raises(WatchError) as caught:
        FileWatch().wait(0)
    assert str(caught.value) == (
        'watching files needs the package watchfiles: pip install "brainsmith[watch]"'
    )


LIMITED = """
import resource, sys, time
from brainsmith.store.file_watch import FileWatch
import watchfiles._rust_notify
path = sys.argv[1]
time.sleep(0.1)  # a file that was written just now would be read, which the limit does not let
watch = FileWatch()
watch.follow([path])
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
assert watch.wait(0) == []
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
print(watch.trouble)
"""


@pytest.mark.slow
def test_a_limit_of_the_system_is_named_and_changes_are_seen_all_the_same(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith(
        "the system gives no notices of changes, so files are looked at ten times a second: "
    )
    assert "fs.inotify.max_user_watches" in done.stdout


def test_the_message_of_a_limit():
    assert _why_no_notices(OSError("OS file watch limit reached.")) == (
        "the system gives no notices of changes, so files are looked at ten times a second: OS file watch limit reached.\n"
        "  the limits are fs.inotify.max_user_watches and fs.inotify.max_user_instances: sysctl shows and raises them"
    )
    assert _why_no_notices(RuntimeError("no")).endswith("second: no")
    assert _why_no_notices(RuntimeError("Too many open files (os error 24)")).count("fs.inotify") == 2


def test_without_notices_changes_are_seen_by_looking(watch, tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    watch.follow([str(path)])
    watch.trouble = "no notices"
    timer = threading.Timer(0.01, replace, (path, "2"))
    timer.start()
    assert watch.wait(SECONDS) == [str(path)]
    timer.join()
