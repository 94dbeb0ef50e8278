"""What fsspec reaches as a shared cache: folders, memory, and what cannot be used."""

import sys

import pytest

from brainsmith.errors import SharedCacheError
from brainsmith.store.shared.deadline import Deadline
from brainsmith.store.shared.file_system import FileSystem


def due():
    return Deadline(10)


@pytest.fixture(params=["file", "memory"])
def files(request, tmp_path):
    return FileSystem(f"file://{tmp_path}/cache" if request.param == "file" else f"memory://{tmp_path}")


def test_what_is_put_is_there(files):
    assert files.get("brainsmith/1/builds/ab", due()) is None
    assert list(files.keys("brainsmith/1/builds/", due())) == []
    files.put("brainsmith/1/builds/ab", b"one", due())
    files.put("brainsmith/1/builds/cd", b"two", due())
    files.put("brainsmith/1/builds/ab", b"three", due())
    files.put("brainsmith/1/discovery/ef", b"", due())
    assert files.get("brainsmith/1/builds/ab", due()) == b"three"
    assert files.get("brainsmith/1/discovery/ef", due()) == b""
    assert list(files.keys("brainsmith/1/builds/", due())) == [
        "brainsmith/1/builds/ab",
        "brainsmith/1/builds/cd",
    ]


def test_what_a_killed_writer_left_is_no_key(files):
    files.put("brainsmith/1/builds/ab.1-2.tmp", b"half", due())
    assert list(files.keys("brainsmith/1/builds/", due())) == []


def test_what_lies_in_the_way_is_an_error_of_the_shared_cache(tmp_path):
    (tmp_path / "brainsmith").write_text("a file")
    files = FileSystem(f"file://{tmp_path}")
    with pytest.raises(SharedCacheError, match=r"^Not a directory$"):
        files.put("brainsmith/1/builds/ab", b"one", due())
    (tmp_path / "cd").mkdir()
    with pytest.raises(SharedCacheError, match=r"^Is a directory$"):
        files.get("cd", due())


def test_a_file_that_is_larger_than_entries_are_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("brainsmith.store.shared.file_system._LARGEST_FILE", 3)
    (tmp_path / "ab").write_bytes(b"four")
    with pytest.raises(SharedCacheError, match=r"^an entry of it is larger than entries are$"):
        FileSystem(f"file://{tmp_path}").get("ab", due())


def test_an_address_that_fsspec_does_not_know_is_named():
    with pytest.raises(
        SharedCacheError, match=r"^fsspec cannot use this address: Protocol not known: nowhere"
    ):
        FileSystem("nowhere://x")


def test_without_fsspec_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(SharedCacheError) as caught:
        FileSystem("file:///x")
    assert str(caught.value) == (
        'fsspec is not installed: pip install "brainsmith[shared]", or use redis://HOST:PORT'
    )
