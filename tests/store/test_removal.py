"""Removing entries: the ones used longest ago go first, never one that a process uses, and no result changes by it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import CacheError
from brainsmith.store import entry_locks, inventory, quota
from brainsmith.store.folders import KeptFolders
from brainsmith.store.inventory import all_entries, named
from brainsmith.store.kinds import kind_of
from brainsmith.store.removal import IN_USE, clear, prune
from brainsmith.store.values import Kept

HOLD = """
import sys
from pathlib import Path
from brainsmith.store.folders import KeptFolders
store = KeptFolders(Path(sys.argv[1]) / "rtl")
print(store.find("held") is not None, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def nothing_is_in_use_here(monkeypatch):
    monkeypatch.setattr(entry_locks, "RECENT", 0)


def keep_folder(cache, kind, key, size=100, age=0.0):
    entry = KeptFolders(cache / kind).obtain(key, lambda work: (work / "file").write_bytes(b"x" * size))
    os.utime(entry, (time.time() - age,) * 2)
    return entry


def keep_value(cache, kind, key, size=100, age=0.0):
    kept = Kept(str(cache), kind, key)
    kept.save(None, b"x" * size)
    os.utime(kept.path, (time.time() - age,) * 2)
    return kept


def left(cache):
    return {named(entry).partition("/")[0] for entry in all_entries(str(cache))}


@pytest.fixture
def held(tmp_path):
    """Have another process use the entry `rtl/held`."""
    keep_folder(tmp_path, "rtl", "held", age=1e6)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment, text=True,
    )  # fmt: skip
    assert other.stdout.readline() == "True\n"
    os.utime(tmp_path / "rtl" / "held", (1e9, 1e9))  # used longest ago, and still
    yield
    other.communicate("")


@pytest.mark.usefixtures("held")
def test_what_another_process_uses_stays_and_is_named(tmp_path):
    keep_folder(tmp_path, "rtl", "free")
    keep_value(tmp_path, "discovery", "a")
    for remove in (lambda: prune(str(tmp_path), keep=0), lambda: clear(str(tmp_path))):
        removal = remove()
        assert [(named(entry), reason) for entry, reason in removal.kept] == [("simulations/held", IN_USE)]
        assert left(tmp_path) == {"simulations"}
        assert removal.left == sum(entry.bytes for entry in all_entries(str(tmp_path)))


def test_what_was_used_longest_ago_goes_first_whatever_its_kind(tmp_path):
    keep_folder(tmp_path, "synthesis", "a", age=300)
    keep_value(tmp_path, "discovery", "b", age=200)
    keep_folder(tmp_path, "builds/entries", "group/c", age=100)
    keep_folder(tmp_path, "hls", "d", age=50)
    keep = sum(entry.bytes for entry in all_entries(str(tmp_path))[:2])
    planned = prune(str(tmp_path), keep=keep, dry_run=True)
    assert len(all_entries(str(tmp_path))) == 4
    removal = prune(str(tmp_path), keep=keep)
    assert [entry.kind.name for entry in removal.removed] == ["synthesis", "discovery"]
    assert removal == planned
    assert left(tmp_path) == {"builds", "hls"}


def test_what_was_not_used_for_long_goes_and_without_options_what_is_over_its_quota(tmp_path, monkeypatch):
    keep_value(tmp_path, "discovery", "old", age=1000)
    keep_value(tmp_path, "discovery", "new")
    assert [entry.used < time.time() - 500 for entry in prune(str(tmp_path), older_than=500).removed] == [
        True
    ]
    keep_value(tmp_path, "discovery", "second", size=3000, age=10)
    keep_folder(tmp_path, "hls", "other", age=100)
    assert prune(str(tmp_path)).removed == []
    monkeypatch.setitem(quota.QUOTAS, "discovery", 1000)
    assert [(entry.kind.name, entry.bytes > 3000) for entry in prune(str(tmp_path)).removed] == [
        ("discovery", True)
    ]
    assert left(tmp_path) == {"discovery", "hls"}


def test_one_kind_is_cleared_alone(tmp_path):
    keep_value(tmp_path, "discovery", "a")
    keep_folder(tmp_path, "rtl", "b")
    assert clear(str(tmp_path), [kind_of("simulations")]).freed > 100
    assert left(tmp_path) == {"discovery"}


@pytest.mark.parametrize("kind", ["rtl", "discovery"])
def test_what_is_no_entry_is_removed_too(tmp_path, kind):
    folder = tmp_path / kind
    (folder / "left by an older version").mkdir(parents=True)
    (folder / "left by an older version" / "file").write_bytes(b"x" * 50)
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(tmp_path)
    (folder / "noise").write_text("no entry")
    assert len(clear(str(tmp_path)).removed) == 4
    assert sorted(os.listdir(folder)) in ([], ["lock", "tmp"])
    assert tmp_path.is_dir()


def test_what_is_half_made_stays_until_it_is_abandoned(tmp_path):
    keep_value(tmp_path, "discovery", "a")
    half = [tmp_path / "discovery" / "b.1.aa.tmp", tmp_path / "rtl" / "tmp" / "1-aa"]
    half[0].write_text("half")
    half[1].mkdir(parents=True)
    clear(str(tmp_path))
    assert all(path.exists() for path in half)
    for path in half:
        os.utime(path, (1e9, 1e9))
    clear(str(tmp_path))
    assert not any(path.exists() for path in half)


def test_nothing_is_removed_from_a_folder_that_is_not_there_or_not_ours(tmp_path, monkeypatch):
    assert clear(str(tmp_path / "none")).removed == prune(str(tmp_path / "none"), keep=0).removed == []
    monkeypatch.setattr(inventory, "why_untrusted", lambda path: "belongs to another user (eve)")
    with pytest.raises(CacheError) as caught:
        clear(str(tmp_path))
    assert str(caught.value) == (
        f"the cache folder {tmp_path} belongs to another user (eve)\n  set XDG_CACHE_HOME to a folder of your own"
    )
    (tmp_path / "file").write_text("")
    monkeypatch.undo()
    with pytest.raises(CacheError, match="file cannot be read: Not a directory"):
        prune(str(tmp_path / "file"))


ENTRIES = st.lists(
    st.tuples(st.sampled_from(["rtl", "builds/entries", "discovery", "programs"]), st.integers(0, 3000), st.integers(0, 9)),
    max_size=6,
)  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(ENTRIES, st.integers(0, 12_000))
def test_law_no_more_is_left_than_is_to_be_kept_and_what_is_cleared_is_made_again(
    tmp_path_factory, entries, keep
):
    cache = tmp_path_factory.mktemp("cache")
    for number, (kind, size, age) in enumerate(entries):
        key = f"group/{number}" if kind.startswith("builds") else str(number)
        (keep_value if kind in ("discovery", "programs") else keep_folder)(cache, kind, key, size, age)
    removal = prune(str(cache), keep=keep)
    found = all_entries(str(cache))
    assert sum(entry.bytes for entry in found) == removal.left <= keep
    assert len(found) + len(removal.removed) == len(entries)
    assert not removal.removed or not found or removal.removed[-1].used <= min(entry.used for entry in found)
    clear(str(cache))
    assert all_entries(str(cache)) == []
    assert (keep_folder(cache, "rtl", "0", 7) / "file").read_bytes() == b"x" * 7
