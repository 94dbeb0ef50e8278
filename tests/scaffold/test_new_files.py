"""Files from templates: all or none, and never over what is there."""

import os
import re
import stat

import pytest

from brainsmith.errors import OutputError, ProjectError
from brainsmith.scaffold.new_files import TEMPLATES, filled, write_new

TEXTS = {"a/one.txt": "1", "a/b/two.txt": "2", "three.txt": "3"}


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_all_files_and_folders_are_made(tmp_path):
    paths = write_new(tmp_path / "new", TEXTS)
    assert [path.read_text() for path in paths] == ["1", "2", "3"]
    assert files(tmp_path / "new") == ["a", "a/b", "a/b/two.txt", "a/one.txt", "three.txt"]


def test_a_file_that_is_there_stays_and_nothing_is_written(tmp_path):
    (tmp_path / "three.txt").write_text("mine")
    with pytest.raises(ProjectError) as caught:
        write_new(tmp_path, TEXTS)
    assert (
        str(caught.value) == f"{tmp_path / 'three.txt'} exists, and is not overwritten; nothing was written"
    )
    assert files(tmp_path) == ["three.txt"]
    assert (tmp_path / "three.txt").read_text() == "mine"


def test_all_files_that_are_there_are_named_links_to_nothing_too(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.txt").symlink_to("nowhere")
    (tmp_path / "three.txt").mkdir()
    with pytest.raises(ProjectError) as caught:
        write_new(tmp_path, TEXTS)
    assert str(caught.value) == (
        f"{tmp_path / 'a' / 'one.txt'}, {tmp_path / 'three.txt'} exist, and are not overwritten; nothing was written"
    )


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("a file where a folder should be")
    with pytest.raises(OutputError) as caught:
        write_new(tmp_path, TEXTS)
    assert str(caught.value) == f"{tmp_path / 'a' / 'b' / 'two.txt'}: cannot be written: Not a directory"
    assert files(tmp_path) == ["a", "a/b"]


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(folder, made):
        if folder.name == "b":
            raise KeyboardInterrupt
        original(folder, made)

    from brainsmith.scaffold import new_files

    original = new_files._make_folders
    monkeypatch.setattr(new_files, "_make_folders", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_new(tmp_path, TEXTS)
    assert files(tmp_path) == []


def test_files_have_the_mode_that_the_user_s_umask_gives(tmp_path):
    (path, *_) = write_new(tmp_path, TEXTS)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_places_of_templates_are_filled_and_a_value_that_is_missing_is_a_bug():
    assert "class Foo(Transformation):" in filled("transform.py", {"Name": "Foo"})
    with pytest.raises(KeyError):
        filled("transform.py", {})


def test_templates_are_text_that_ends_with_a_line_and_have_no_other_braces():
    names = sorted(path.name for path in TEMPLATES.iterdir())
    assert len(names) == 25
    for name in names:
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        assert name.endswith(".template") and text.endswith("\n") and not text.endswith("\n\n")
        assert "{{" not in re.sub(r"\{\{\w+\}\}", "", text)
        assert max(map(len, text.splitlines())) <= 124
