"""What code made itself: files, folders, and all that lies in them."""

import os

import pytest

from brainsmith.store.made import Made


@pytest.fixture
def made(tmp_path):
    made = Made()
    made.folder(str(tmp_path / "folder"))
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    return made


def test_what_lies_in_a_folder_that_was_made_was_made(tmp_path, made):
    folder = str(tmp_path / "folder")
    assert folder in made
    assert f"{folder}/inner/file" in made
    assert f"{folder}-of-others" not in made
    assert str(tmp_path) not in made
    assert "relative" not in made


def test_a_folder_that_is_there_is_not_made(tmp_path, made):
    made.folder(str(tmp_path))
    assert str(tmp_path) not in made


def test_a_file_is_made_where_it_was_not_or_is_emptied(tmp_path):
    made = Made()
    (tmp_path / "there").write_text("before")
    for name, flags in (("there", os.O_RDWR), ("read", os.O_RDONLY), ("new", os.O_WRONLY | os.O_CREAT)):
        made.opened(str(tmp_path / name), flags)
    assert [str(tmp_path / name) in made for name in ("there", "read", "new")] == [False, False, True]
    assert made.has_added_to(str(tmp_path / "there"))
    made.opened(str(tmp_path / "there"), os.O_WRONLY | os.O_TRUNC)
    assert str(tmp_path / "there") in made
