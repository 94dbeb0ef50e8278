"""Listing, reading and stamping of source files."""

import os

from brainsmith.plugin.source_files import list_sources
from brainsmith.store.files import ABSENT, read_bytes, stamp, stamps


def test_what_can_be_imported_is_listed_with_its_module(tmp_path):
    folder = tmp_path / "pack"
    (folder / "sub").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    for name in ("__init__.py", "one.py", "not-one.py", "sub/two.py", "__pycache__/old.py", "text.txt"):
        (folder / name).touch()
    listing = list_sources(str(folder), "pack")
    assert [(file.module, file.is_package) for file in listing.files] == [
        ("pack", True),
        ("pack.one", False),
        ("pack.sub.two", False),
    ]
    assert listing.folders == [str(folder), str(folder / "sub")]
    assert listing.misnamed == [str(folder / "not-one.py")]


def test_a_pipe_among_the_sources_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    assert read_bytes(str(tmp_path / "pipe.py")) == b""


def test_a_closed_folder_is_told_and_the_others_are_listed(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    (tmp_path / "open.py").touch()
    scandir = os.scandir

    def refuse(path):  # tests may run as root, for whom no folder is closed
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    listing = list_sources(str(tmp_path), "pack")
    assert [file.module for file in listing.files] == ["pack.open"]
    assert [(path, error.strerror) for path, error in listing.closed] == [
        (str(tmp_path / "closed"), "Permission denied")
    ]


def test_stamps_of_paths_that_are_not_there_stand_in_their_place(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    paths = [str(tmp_path / name) for name in ("a", "gone", "b", "gone too")]
    assert stamps(paths) == [stamp(paths[0]), ABSENT, stamp(paths[2]), ABSENT]
