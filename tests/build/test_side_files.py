"""A build that reuses a step ends with the same output folder as the build that ran it."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brainsmith.build.messages import LOG
from brainsmith.build.side_files import SideChanges, SideFiles, restore

NAMES = ("a", "b", "d/a", "d/e/a", "d", "d/e")
SAME_TIME = (1_700_000_000_123_456_789, 1_700_000_000_123_456_789)


def unchanged(name, data):
    """Give content as it is."""
    return data


def without(place):
    """Return what takes a folder's name out of a file, as a build keeps it."""
    return lambda name, data: data.replace(str(place).encode(), b"@place@")


def within(place):
    """Return what puts a folder's name into a file that was kept without it."""
    return lambda name, data: data.replace(b"@place@", str(place).encode())


def remove(path):
    """Remove a file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def act(folder, name, action):
    """Do one thing that a step may do; files have one size and one time, so that only content tells them apart."""
    path = folder / name
    if any(parent.is_file() or parent.is_symlink() for parent in path.parents if parent != folder):
        return
    if action == "remove":
        remove(path)
        return
    if action in ("run", "do not run"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o755 if action == "run" else 0o644)
        return
    if action == "folder" and path.is_dir() and not path.is_symlink():
        return
    if not (action in "012" and path.is_file() and not path.is_symlink()):
        remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if action == "folder":
        path.mkdir()
    elif action == "link":
        path.symlink_to("a-link's-target")
    elif action == "absolute link":
        path.symlink_to(folder / "a")
    else:
        path.write_text(f"{action} of {folder}")
        os.utime(path, ns=SAME_TIME)


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(("0", "1", "2", "remove", "run", "do not run", "folder", "link", "absolute link")),
    ),
    max_size=8,
)


@example(earlier=[("a", "0"), ("a", "run")], step=[("a", "do not run")])
@given(earlier=ACTIONS, step=ACTIONS)
def test_what_a_step_changed_is_changed_again(tmp_path_factory, earlier, step):
    base = tmp_path_factory.mktemp("side")
    ran, reused, entry = base / "ran", base / "reused", base / "entry"
    for folder in (ran, reused):
        folder.mkdir()
        for name, action in earlier:
            act(folder, name, action)
    side = SideFiles(ran, without(ran))
    before = side.state()
    for name, action in step:
        act(ran, name, action)
    after = side.state()
    assert after == SideFiles(ran, without(ran)).state()  # nothing that it remembers hides a change
    changes = side.changes(before, after)
    for name, data in changes.files.items():
        (entry / name).parent.mkdir(parents=True, exist_ok=True)
        (entry / name).write_bytes(data)
    assert restore(entry, changes.described(), reused, within(reused)) == changes.files
    assert SideFiles(reused, without(reused)).state() == after
    noted = SideFiles(reused, without(reused))
    noted.note_written(changes.files)
    assert noted.state() == after
    noted.step_runs()
    for name, action in earlier:
        act(reused, name, action)
    assert noted.state() == SideFiles(reused, without(reused)).state()
    assert side.changes(after, after) == SideChanges()


def test_edits_of_one_size_within_a_tick_of_the_clock_are_all_seen(tmp_path, monkeypatch):
    """Also where times are coarser than on the file system of this machine."""
    real, tick = Path.lstat, 10_000_000

    def coarse(path):
        status = real(path)
        times = {name: getattr(status, name) // tick * tick for name in ("st_mtime_ns", "st_ctime_ns")}
        return SimpleNamespace(st_mode=status.st_mode, st_ino=status.st_ino, st_size=status.st_size, **times)

    monkeypatch.setattr(Path, "lstat", coarse)
    side, seen = SideFiles(tmp_path, unchanged), set()
    for number in range(100):
        (tmp_path / "a").write_text(f"{number:03}")
        os.utime(tmp_path / "a", ns=SAME_TIME)
        seen.add(side.state()["a"])
    assert len(seen) == 100


def test_who_may_read_a_program_may_run_it(tmp_path):
    entry, output = tmp_path / "entry", tmp_path / "output"
    for folder in (entry, output):
        folder.mkdir()
        (folder / "tool").write_text("")
        (folder / "tool").chmod(0o640)
    side = SideChanges({"tool": b""}, executable=("tool",)).described()
    assert restore(entry, side, output, unchanged) is not None
    assert (output / "tool").stat().st_mode & 0o777 == 0o750


def test_an_entry_without_one_of_its_files_changes_nothing(tmp_path):
    side = SideChanges({"a": b"1", "b": b"2"}, removed=("c",)).described()
    out, entry = tmp_path / "out", tmp_path / "entry"
    for folder in (out, entry):
        folder.mkdir()
    (out / "c").write_text("still here")
    (entry / "a").write_bytes(b"1")
    assert restore(entry, side, out, unchanged) is None
    assert [path.name for path in out.iterdir()] == ["c"]


def test_a_link_to_itself_is_one_to_what_is_there(tmp_path):
    side = SideFiles(tmp_path, unchanged)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to("/etc")
    assert side.why_not_kept({}, {"loop": "link loop"}) == ""
    assert side.why_not_kept({}, {"out": "link /etc"}).startswith(
        "it leaves out in the output folder, a link to what"
    )


def test_checkpoints_and_the_log_are_not_of_a_step(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "00.onnx").write_text("")
    (tmp_path / LOG).write_text("")
    (tmp_path / "rtl" / "checkpoints").mkdir(parents=True)
    assert SideFiles(tmp_path, unchanged).state() == {"rtl": "folder", "rtl/checkpoints": "folder"}


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (
            lambda path: path.symlink_to("/"),
            "it leaves odd in the output folder, a link to what is outside of it",
        ),
        (
            lambda path: path.symlink_to(Path("..") / "secret"),
            "it leaves odd in the output folder, a link to what is outside of it",
        ),
        (os.mkfifo, "it leaves odd in the output folder, which is neither a file nor a folder"),
    ],
)
def test_what_cannot_be_kept_is_named(tmp_path, make, why):
    side = SideFiles(tmp_path, unchanged)
    before = side.state()
    make(tmp_path / "odd")
    after = side.state()
    assert side.why_not_kept(before, after) == why
    assert side.why_not_kept(after, after) == ""
