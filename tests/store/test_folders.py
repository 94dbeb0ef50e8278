"""Entries are made once, are whole or not there, and are made again when damaged."""

import os
import signal
import subprocess
import sys
import time

import pytest

from brainsmith.errors import SimulationError, ToolError
from brainsmith.store.folders import KeptFolders


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
        f"{tmp_path}/file: cannot be written, and what builds make is kept there: Not a directory\n"
        "  make room or give rights there, or set XDG_CACHE_HOME to another folder"
    )


def test_the_entries_used_longest_ago_go_first(tmp_path):
    store = KeptFolders(tmp_path)
    for age, key in ((300, "a"), (200, "b"), (100, "c")):
        store.obtain(key, fill("x" * 1000, []))
        os.utime(store.entry(key), (time.time() - age,) * 2)
    os.utime(store.entry("a"))
    KeptFolders(tmp_path, limit=2500).obtain("d", fill("x" * 1000, []))
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in "abcd") == ["a", "d"]


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


def test_two_processes_at_once_make_it_once(tmp_path):
    children = [start(tmp_path / "store", tmp_path / "log", 0.5) for _ in range(2)]
    assert [child.communicate(timeout=30)[0] for child in children] == ["whole\n", "whole\n"]
    assert (tmp_path / "log").read_text() == "made "


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
