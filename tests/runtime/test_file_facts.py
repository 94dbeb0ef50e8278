"""What is remembered of a file is what is in it: after any change that a file system can show."""

import os
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from brainsmith.runtime import file_facts
from brainsmith.runtime.file_facts import facts_of, partition_files
from brainsmith.runtime.recent import Recent
from brainsmith.runtime.resource_content import content_of

OLD = 10.0
"""Seconds."""


@pytest.fixture
def reads(monkeypatch):
    """Return the paths of the files that are read, and let three seconds pass by between a write and a read."""
    seen, real = [], file_facts.FileFacts
    now = time.time_ns

    monkeypatch.setattr(file_facts, "_MEMORY", Recent(file_facts.REMEMBERED))
    monkeypatch.setattr(file_facts.time, "time_ns", lambda: now() + 3_000_000_000)

    def noting(digest, *named):
        seen.append(digest)
        return real(digest, *named)

    monkeypatch.setattr(file_facts, "FileFacts", noting)
    return seen


def test_a_file_that_did_not_change_is_read_once(tmp_path, reads):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"one")
    first = content_of(path)
    assert [content_of(path), content_of(str(path))] == [first, first]
    assert len(reads) == 1


@pytest.mark.parametrize(
    "how", ["same size", "time set back", "another file in its place", "a link that moves"]
)
def test_a_file_that_changed_is_read_again(tmp_path, reads, how):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"one")
    before = path.stat()
    if how == "a link that moves":
        (tmp_path / "link").symlink_to(path)
        path = tmp_path / "link"
    first = content_of(path)
    assert content_of(path) == first
    if how == "a link that moves":
        (tmp_path / "other").write_bytes(b"two")
        path.unlink()
        path.symlink_to(tmp_path / "other")
    elif how == "another file in its place":
        (tmp_path / "new").write_bytes(b"two")
        os.utime(tmp_path / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(tmp_path / "new", path)
    else:
        time.sleep(0.02)  # a tick of the kernel's clock
        path.write_bytes(b"two")
        if how == "time set back":
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content_of(path) != first
    assert len(reads) == 2


def test_a_file_that_changed_a_moment_ago_is_not_remembered(tmp_path, reads, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(file_facts, "_MEMORY", Recent(file_facts.REMEMBERED))
    path = tmp_path / "m.onnx"
    found = set()
    for number in range(200):  # many in a tick of the kernel's clock
        path.write_bytes(b"%03d" % number)
        found.add(content_of(path))
    assert len(found) == 200
    os.utime(path, (time.time() - OLD, time.time() - OLD))  # its status has still changed just now
    facts_of(path, is_model=True)
    assert not file_facts._MEMORY._values


def test_a_file_that_changes_right_after_it_was_read_is_read_again(tmp_path, reads, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"one")
    real = file_facts.partition_files

    def slow(data):
        with open(path, "ab") as file:
            file.write(b" and more")
        return real(data)

    monkeypatch.setattr(file_facts, "partition_files", slow)
    first = content_of(path)
    monkeypatch.setattr(file_facts, "partition_files", real)
    assert content_of(path) != first


def test_the_files_that_a_model_names_are_looked_at_each_time(tmp_path, reads):
    weights = numpy_helper.from_array(np.zeros(4000, np.float32), "w")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4000]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", ends[:1], ends[1:], [weights]
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    first = content_of(path)
    assert content_of(path) == first
    assert len(reads) == 2
    time.sleep(0.02)
    (tmp_path / "w.bin").write_bytes(b"\1" * 16000)
    assert content_of(path) != first
    assert len(reads) == 3


def test_no_more_files_are_remembered_than_stated(tmp_path, reads, monkeypatch):
    monkeypatch.setattr(file_facts, "_MEMORY", Recent(2))
    for name in "abc":
        (tmp_path / name).write_text(name)
        content_of(tmp_path / name)
    content_of(tmp_path / "a")
    content_of(tmp_path / "c")
    assert len(reads) == 4


def test_what_only_looks_like_a_model_names_no_files(tmp_path):
    text = b"\xff StreamingDataflowPartition \x0a\x08location"
    path = tmp_path / "m.onnx"
    path.write_bytes(text)
    assert partition_files(text) == ()
    facts = facts_of(path, is_model=True)
    assert (facts.external, facts.partitions) == ((), ())


def test_a_file_that_is_gone_is_told(tmp_path, reads):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"one")
    content_of(path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        facts_of(path, is_model=True)
