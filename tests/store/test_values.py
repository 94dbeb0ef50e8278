"""Values on disk: whole or not at all, and never believed when damaged."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from brainsmith.store import quota
from brainsmith.store.files import is_endless, read_bytes, write_atomically
from brainsmith.store.fingerprint import checksum, short_digest
from brainsmith.store.values import Kept

VALUE = {"a": [1, 2.5, None, True, ("x", b"y")], "ü": "ß" * 100}


@pytest.fixture
def kept(tmp_path):
    return Kept(str(tmp_path / "cache"), "things", "key")


def test_what_was_saved_is_loaded(kept):
    assert kept.load("stamp") is None
    assert kept.save("stamp", VALUE) is True
    assert kept.load("stamp") == VALUE
    assert kept.load(None) == VALUE
    assert kept.load("other") is None
    assert kept.save("other", 1) is True
    assert (kept.load("other"), kept.load("stamp")) == (1, None)
    kept.remove()
    assert kept.load("other") is None
    kept.remove()


def test_every_key_and_kind_has_its_own_file(tmp_path):
    made = [Kept(str(tmp_path), kind, key) for kind in ("a", "b") for key in ("x", "y", "\udce4")]
    for number, kept in enumerate(made):
        assert kept.save(None, number)
    assert [kept.load(None) for kept in made] == list(range(len(made)))


def test_a_file_of_another_key_is_not_believed(tmp_path):
    one, other = Kept(str(tmp_path), "a", "one"), Kept(str(tmp_path), "a", "other")
    one.save(None, 1)
    os.replace(one.path, other.path)
    assert other.load(None) is None


@pytest.mark.slow
def test_every_changed_byte_is_noticed(kept):
    kept.save("stamp", VALUE)
    data = Path(kept.path).read_bytes()
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            Path(kept.path).write_bytes(damaged)
            assert kept.load("stamp") is None, (position, flip)


def test_every_truncation_is_noticed(kept):
    kept.save("stamp", VALUE)
    data = Path(kept.path).read_bytes()
    for length in range(len(data)):
        Path(kept.path).write_bytes(data[:length])
        assert kept.load("stamp") is None, length


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.booleans())
def test_garbage_is_not_believed(kept, garbage, with_checksum):
    assume(not (with_checksum and claims_billions(garbage)))
    kept.save("stamp", VALUE)
    magic = Path(kept.path).read_bytes()[:16]
    Path(kept.path).write_bytes(magic + checksum(garbage) + garbage if with_checksum else garbage)
    assert kept.load("stamp") is None


def claims_billions(garbage):
    """Tell whether marshal would make room for a container of millions first; only who writes our files could ask it."""
    sizes = (
        int.from_bytes(garbage[at + 1 : at + 5], "little")
        for at, code in enumerate(garbage)
        if code & 0x7F in b"([<>"
    )
    return any(size > 1_000_000 for size in sizes)


def test_bytes_after_the_end_are_noticed(kept):
    kept.save("stamp", VALUE)
    with open(kept.path, "ab") as file:
        file.write(b"more")
    assert kept.load("stamp") is None


def test_a_value_that_cannot_be_kept_only_costs_time(kept):
    assert kept.save("stamp", object()) is False
    assert kept.load("stamp") is None


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    kept = Kept(str(tmp_path / "cache"), "things", "key")
    assert kept.save("stamp", VALUE) is False
    assert kept.load("stamp") is None
    kept.remove()


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root, who may write everywhere")
def test_a_read_only_folder_only_costs_time(kept):
    kept.save("stamp", VALUE)
    folder = os.path.dirname(kept.path)
    os.chmod(folder, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert kept.save("stamp", 2) is False
        assert kept.load("stamp") == VALUE
    finally:
        os.chmod(folder, stat.S_IRWXU)


def test_a_folder_at_the_file_s_place_only_costs_time(kept):
    os.makedirs(kept.path)
    assert kept.save("stamp", VALUE) is False
    assert kept.load("stamp") is None
    assert [name for name in os.listdir(os.path.dirname(kept.path)) if name.endswith(".tmp")] == []


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = str(tmp_path / "file")
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["file"]
    assert read_bytes(path) == b"old"


def test_large_and_empty_files_are_read_whole(tmp_path):
    for size in (0, 1, 4096, 3_000_001):
        write_atomically(str(tmp_path / "file"), b"x" * size)
        assert read_bytes(str(tmp_path / "file")) == b"x" * size


@pytest.mark.slow
def test_pitfall_06_readers_never_see_half_a_file(kept):
    values = [{"n": n, "filler": "x" * (n * 20_000)} for n in range(8)]
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            seen.append(kept.load(None))

    kept.save(None, values[0])
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        for value in values:
            assert kept.save(None, value)
    stop.set()
    for thread in threads:
        thread.join(30)
    assert len(seen) > 50
    assert all(value in values for value in seen)


def test_a_process_that_is_killed_while_it_writes_leaves_a_whole_file(tmp_path):
    kept = Kept(str(tmp_path), "things", "key")
    code = (
        "from brainsmith.store.values import Kept\n"
        f"kept = Kept({str(tmp_path)!r}, 'things', 'key')\n"
        "print('begin', flush=True)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    kept.save(None, (n, 'x' * 3_000_000))\n"
    )
    for pause in (0.0, 0.003, 0.02, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert child.stdout.readline() == b"begin\n"
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        value = kept.load(None)
        assert value is None or len(value[1]) == 3_000_000


def test_a_digest_is_16_hexadecimal_digits_and_stable():
    assert short_digest("text") == short_digest("text")
    assert len({short_digest(str(n)) for n in range(2000)}) == 2000
    assert len(short_digest("\udcff")) == 16


@pytest.mark.parametrize(
    "made", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["pipe", "device"]
)
def test_what_is_no_file_is_not_waited_for_and_replaced(kept, made):
    kept.save("stamp", VALUE)
    os.unlink(kept.path)
    made(kept.path)
    assert kept.load("stamp") is None
    assert kept.save("stamp", VALUE)
    assert kept.load("stamp") == VALUE


@pytest.mark.slow
def test_deep_nesting_is_as_good_as_nothing(kept):
    value = []
    for _ in range(100_000):
        value = [value]
    assert kept.save(None, value) is False
    body = b"[\x01\x00\x00\x00" * 100_000
    Path(kept.path).parent.mkdir(parents=True, exist_ok=True)
    Path(kept.path).write_bytes(b"brainsmith kept\0" + checksum(body) + body)
    assert kept.load(None) is None


def test_folders_are_private_and_own_ones_are_tightened(tmp_path):
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)
    assert Kept(str(tmp_path / "cache"), "things", "key").save(None, 1)
    assert [
        stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "cache", tmp_path / "cache/things")
    ] == [0o700] * 2


def test_the_values_used_longest_ago_go_first(tmp_path, monkeypatch):
    monkeypatch.setitem(quota.QUOTAS, "things", 3500)
    made = [Kept(str(tmp_path), "things", str(number)) for number in range(4)]
    for age, kept in zip((30, 20, 10), made, strict=False):
        assert kept.save(None, "x" * 1000)
        os.utime(kept.path, (time.time() - age,) * 2)
    assert made[0].load(None)
    assert made[3].save(None, "x" * 1000)
    assert [kept.load(None) is not None for kept in made] == [True, False, True, True]


def test_a_value_above_the_quota_stays_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(quota.QUOTAS, "things", 100)
    one, other = Kept(str(tmp_path), "things", "one"), Kept(str(tmp_path), "things", "other")
    assert one.save(None, "x" * 1000)
    assert one.load(None)
    assert other.save(None, "x" * 1000)
    assert (one.load(None), other.load(None)) == (None, "x" * 1000)


def test_what_a_killed_process_left_half_written_is_removed(kept):
    old, new = Path(f"{kept.path}.1.dead.tmp"), Path(f"{kept.path}.2.live.tmp")
    old.parent.mkdir(parents=True)
    for file in (old, new):
        file.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)
    kept.save(None, 1)
    assert (old.exists(), new.exists()) == (False, True)


def test_what_is_neither_a_file_nor_a_folder_may_be_read_for_ever(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "file").touch()
    assert all(map(is_endless, (tmp_path / "pipe", tmp_path / "link", "/dev/zero", "/dev/null")))
    assert not any(
        map(is_endless, (tmp_path / "file", tmp_path, tmp_path / "nothing", tmp_path / "file" / "in"))
    )
