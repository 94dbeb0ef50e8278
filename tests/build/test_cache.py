import os
import shutil
import subprocess
import sys
import threading

import pytest

from brainsmith.build.artifact import Artifact
from brainsmith.build.cache import BuildCache, Outcome
from brainsmith.build.config import StepConfig
from brainsmith.build.keys import PARTS as NAMES
from brainsmith.build.keys import key_of
from brainsmith.build.messages import Said
from brainsmith.build.side_files import SideChanges, restore
from brainsmith.store import entry_locks
from tests.build import graphs

PARTS = {
    **dict.fromkeys(NAMES, ""),
    "step": "brainsmith:fold",
    "source": "s",
    "arguments": "{}",
    "frameworks": '{"qonnx": "1.0.0"}',
    "plugins": '{"/p.py": "1"}',
    "model": "m",
}
CONFIG = StepConfig(target_fps=1000)
READS = {"target_fps": "1000"}


def same(name, data):
    return data


@pytest.fixture
def model():
    return Artifact.of(graphs.quant_mlp())


@pytest.fixture
def cache(tmp_path):
    return BuildCache(tmp_path / "cache")


def entry_of(cache):
    (entry,) = entries_in(cache.folder)
    return entry


def entries_in(folder):
    return [path for path in (folder / "entries").glob("*/*") if path.parent.name != "tmp"]


def test_the_same_key_gives_the_same_model_and_files(cache, model, tmp_path):
    assert cache.find(PARTS, CONFIG).reason == "it was not built before"
    side = SideChanges({"report/estimates.json": b"{}"})
    cache.store(PARTS, Outcome(model, READS, side=side, said=Said([("warning", "slow")])))
    found = cache.find(PARTS, CONFIG)
    assert found.model.data == model.data
    assert found.said == Said([("warning", "slow")])
    assert restore(found.folder / "files", found.side, tmp_path / "out", same)
    assert (tmp_path / "out" / "report" / "estimates.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"source": "t"}, "its source changed"),
        ({"arguments": "[]"}, "its arguments changed"),
        ({"model": "n"}, "the model before it is another one"),
        ({"plugins": '{"/p.py": "2"}'}, "/p.py changed"),
        ({"frameworks": '{"qonnx": "1.0.1"}'}, "qonnx was 1.0.0, and is 1.0.1 now"),
        ({"frameworks": '{"qonnx": "1.0.0 (ab)"}'}, "the sources of qonnx changed"),
        ({"source": "t", "model": "n"}, "its source changed, the model before it is another one"),
        ({"step": "finn:fold"}, "it was not built before"),
    ],
)
def test_pitfall_22_any_other_part_is_a_miss_that_says_why(cache, model, changed, reason):
    cache.store(PARTS, Outcome(model, READS))
    found = cache.find({**PARTS, **changed}, CONFIG)
    assert (found.model, found.reason) == (None, reason)


def test_a_changed_part_of_cfg_that_was_read(cache, model):
    cache.store(PARTS, Outcome(model, READS))
    found = cache.find(PARTS, StepConfig(target_fps=2000))
    assert (found.model, found.reason) == (None, "cfg.target_fps was 1000, and is 2000 now")
    assert cache.find(PARTS, StepConfig(target_fps=1000, synth_clk_period_ns=3)).model is not None


def test_one_key_holds_an_entry_for_each_cfg(cache, model):
    other = Artifact.of(graphs.quant_mlp(seed=5))
    cache.store(PARTS, Outcome(model, READS))
    cache.store(PARTS, Outcome(other, {"target_fps": "2000"}))
    assert cache.find(PARTS, CONFIG).model.digest == model.digest
    assert cache.find(PARTS, StepConfig(target_fps=2000)).model.digest == other.digest


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "model.onnx").write_bytes(b"cut"),
        lambda entry: (entry / "model.onnx").unlink(),
        lambda entry: (entry / "meta.json").write_text('{"format": 1'),
        lambda entry: (entry / "meta.json").write_text("[]"),
        lambda entry: (entry / "meta.json").unlink(),
    ],
)
def test_a_damaged_entry_is_dropped_and_rebuilt(cache, model, damage):
    cache.store(PARTS, Outcome(model, READS))
    damage(entry_of(cache))
    found = cache.find(PARTS, CONFIG)
    assert (found.model, found.reason) == (None, "its cache entry was damaged, and dropped")
    assert entries_in(cache.folder) == []
    cache.store(PARTS, Outcome(model, READS))
    assert cache.find(PARTS, CONFIG).model is not None


def test_an_entry_under_another_key_is_not_believed(cache, model):
    other = {**PARTS, "model": "n"}
    cache.store(PARTS, Outcome(model, READS))
    shutil.copytree(entry_of(cache).parent, cache.folder / "entries" / key_of(other))
    found = cache.find(other, CONFIG)
    assert (found.model, found.reason) == (None, "its cache entry was damaged, and dropped")
    assert cache.find(PARTS, CONFIG).model is not None


def test_an_entry_under_what_another_one_read_is_not_believed(cache, model):
    cache.store(PARTS, Outcome(model, READS))
    meta = entry_of(cache) / "meta.json"
    meta.write_text(meta.read_text().replace('"target_fps": "1000"', '"target_fps": "2000"'))
    assert cache.find(PARTS, StepConfig(target_fps=2000)).model is None


def test_a_damaged_side_file_drops_the_entry(cache, model, tmp_path):
    cache.store(PARTS, Outcome(model, READS, side=SideChanges({"report/a.json": b"1"})))
    (entry_of(cache) / "files" / "report" / "a.json").write_bytes(b"2")
    found = cache.find(PARTS, CONFIG)
    assert (found.model, found.reason) == (None, "its cache entry was damaged, and dropped")
    assert entries_in(cache.folder) == []


def test_a_side_file_that_is_gone_is_not_restored(cache, model, tmp_path):
    cache.store(PARTS, Outcome(model, READS, side=SideChanges({"report/a.json": b"1"})))
    found = cache.find(PARTS, CONFIG)
    (entry_of(cache) / "files" / "report" / "a.json").unlink()
    assert not restore(found.folder / "files", found.side, tmp_path / "out", same)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who can give a folder to another user")
def test_a_cache_that_another_user_may_write_is_not_used(cache, model):
    cache.store(PARTS, Outcome(model, READS))
    folder = cache.folder / "entries"
    os.chown(folder, 65_500, -1)
    found = cache.find(PARTS, CONFIG)
    reason = f"{folder}: belongs to another user (65500), and what is loaded from there runs with your rights"
    assert (found.model, found.reason) == (None, f"the build cache is not used: {reason}")
    with pytest.raises(OSError, match="belongs to another user"):
        cache.store(PARTS, Outcome(model, READS))


def test_trim_removes_what_was_used_longest_ago(cache, model, tmp_path, monkeypatch):
    monkeypatch.setattr(entry_locks, "RECENT", 1)
    for at in range(4):
        cache.store({**PARTS, "model": str(at)}, Outcome(model, READS))
    for at in range(4):
        found = cache.find({**PARTS, "model": str(at)}, CONFIG)
        os.utime(found.folder, (1000 + at, 1000 + at))
    cache.find({**PARTS, "model": "0"}, CONFIG)  # used just now
    BuildCache(cache.folder, limit=2 * (len(model.data) + 1500)).trim()
    kept = [at for at in range(4) if cache.find({**PARTS, "model": str(at)}, CONFIG).model is not None]
    assert kept == [0, 3]


@pytest.mark.slow
def test_a_killed_writer_leaves_only_whole_entries(tmp_path):
    code = """
import os, sys
from brainsmith.build.cache import BuildCache, Outcome
from brainsmith.build.artifact import Artifact
from brainsmith.build.messages import Said
from brainsmith.build.side_files import SideChanges, restore
from pathlib import Path
from tests.build.test_cache import PARTS, READS
cache = BuildCache(Path(sys.argv[1]))
for at in range(100000):
    side = SideChanges({"a": bytes(200000)})
    cache.store({**PARTS, "model": str(at)}, Outcome(Artifact(bytes(200000)), READS, side=side))
    print(at, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    for _ in range(20):
        process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    entries = entries_in(tmp_path)
    assert len(entries) >= 20
    cache = BuildCache(tmp_path)
    found = [cache.find({**PARTS, "model": str(at)}, CONFIG) for at in range(len(entries))]
    assert all(one.model.data == bytes(200000) for one in found)


@pytest.mark.slow
def test_many_threads_at_once(cache, model, tmp_path):
    problems = []

    def work(number):
        try:
            for at in range(20):
                parts = {**PARTS, "model": str(at % 5)}
                found = cache.find(parts, CONFIG)
                if found.model is None:
                    cache.store(parts, Outcome(model, READS, side=SideChanges({"a": b"1" * 100})))
                elif found.model.data != model.data:
                    problems.append("another model")
                if at == 10 and number == 0:
                    BuildCache(cache.folder, limit=1).trim()
        except BaseException as error:  # noqa: BLE001 - a thread hides what it raises
            problems.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_a_folder_that_cannot_be_written(tmp_path, model):
    (tmp_path / "file").write_text("")
    cache = BuildCache(tmp_path / "file" / "cache")
    assert cache.find(PARTS, CONFIG).reason == "it was not built before"
    with pytest.raises(OSError, match="Not a directory"):
        cache.store(PARTS, Outcome(model, READS))
    cache.trim()
