"""A catalogue is put in its folder at once, and over nothing else."""

import json
import os
import threading
from pathlib import Path

import pytest

from brainsmith.errors import OutputError
from brainsmith.web.catalogue import publishing
from brainsmith.web.catalogue.publishing import CatalogueFolder

from .made import record, site_of


def publish(folder, *names):
    """Publish a catalogue of transforms; return the whole folder's content."""
    opened = CatalogueFolder(str(folder))
    files = site_of(*map(record, names), before=opened.before)
    opened.publish({path: text.encode() for path, text in files.items()})
    return content(folder)


def content(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def refused(folder):
    before = content(folder) if folder.is_dir() else None
    with pytest.raises(OutputError) as caught:
        CatalogueFolder(str(folder))
    assert before is None or content(folder) == before
    return str(caught.value)


def test_the_same_plugins_give_the_same_bytes_wherever_and_however_often(tmp_path):
    first = publish(tmp_path / "site", "A", "B")
    assert publish(tmp_path / "site", "A", "B") == first
    assert publish(tmp_path / "other" / "place", "A", "B") == first
    assert sorted(os.listdir(tmp_path)) == ["other", "site"]


def test_what_changed_is_kept_from_catalogue_to_catalogue(tmp_path):
    publish(tmp_path, "A", "B")
    second = publish(tmp_path, "B", "C")
    assert "transform/brainsmith.A.html" not in second
    publish(tmp_path, "B", "C")
    changes = json.loads(publish(tmp_path, "B")["catalogue.json"])["changes"]
    assert [[one["key"] for one in change["removed"]] for change in changes] == [
        ["transform:brainsmith:C"],
        ["transform:brainsmith:A"],
    ]


def test_an_empty_folder_may_be_used_and_a_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir(mode=0o750)
    (tmp_path / "site").symlink_to(tmp_path / "real")
    publish(tmp_path / "site", "A")
    publish(tmp_path / "site", "A", "B")
    assert (tmp_path / "site").is_symlink()
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "real" / "transform" / "brainsmith.B.html").is_file()


def test_a_folder_that_is_no_catalogue_is_refused(tmp_path):
    (tmp_path / "thesis.md").write_text("years")
    message = (
        f"output folder {tmp_path} is not empty, and holds no catalogue that this version can read\n"
        "  name another folder, or remove this one"
    )
    assert refused(tmp_path) == message
    for text in ("{", "[]", '{"schema": "brainsmith.catalogue/1"}', "[" * 100_000):
        (tmp_path / "catalogue.json").write_text(text)
        assert refused(tmp_path) == message


@pytest.mark.parametrize(
    "change",
    [
        {"plugins": {"a": {"type": "op"}}},
        {"plugins": {"a": []}},
        {"files": [1]},
        {"changes": [3]},
        {"changes": [{"added": [], "removed": [], "changed": [], "plugins": 3, "providers": {}}]},
    ],
)
def test_a_catalogue_that_was_tampered_with_is_refused(tmp_path, change):
    publish(tmp_path, "A")
    publish(tmp_path, "B")
    file = tmp_path / "catalogue.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    assert refused(tmp_path).startswith(f"output folder {tmp_path} is not empty, and holds no catalogue")


def test_files_that_someone_put_into_a_catalogue_are_not_lost(tmp_path):
    publish(tmp_path, "A")
    (tmp_path / "transform" / "notes.txt").write_text("mine")
    (tmp_path / "link").symlink_to("/")
    assert refused(tmp_path) == (
        f"output folder {tmp_path} holds link, transform/notes.txt, which no catalogue made and this one would remove\n"
        "  name another folder, or move them elsewhere"
    )


def test_a_file_the_root_and_the_current_folder_are_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    assert refused(tmp_path / "file") == f"output {tmp_path}/file is a file; name a folder"
    (tmp_path / "here" / "inside").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "inside")
    for folder in (".", "..", str(tmp_path / "here")):
        assert refused(Path(folder)) == (
            f"output folder {folder} is the current folder, or around it, and would be replaced; name another folder"
        )
    root = "output folder / is the root of the file system; name another folder"
    with pytest.raises(OutputError, match=root):
        CatalogueFolder("/")
    with pytest.raises(OutputError) as caught:
        CatalogueFolder("a\0b")
    assert str(caught.value) == "output folder 'a\\x00b' cannot be read: embedded null byte"


def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_is_left(tmp_path, monkeypatch):
    opened = CatalogueFolder(str(tmp_path / "site"))

    def fail(one, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publishing, "_write", fail)
    with pytest.raises(OutputError) as caught:
        opened.publish({})
    assert str(caught.value) == (
        f"output folder {tmp_path}/site cannot be written: No space left on device\n"
        "  the folder around it must be writable, since the catalogue is made there and then put in place"
    )
    assert os.listdir(tmp_path) == []


def test_where_folders_cannot_be_exchanged_the_old_one_comes_back_if_the_new_one_cannot(
    tmp_path, monkeypatch
):
    site = tmp_path / "site"
    publish(site, "A")
    monkeypatch.setattr(publishing, "_exchanged", lambda one, other: False)
    second = publish(site, "B")
    assert "transform/brainsmith.B.html" in second and os.listdir(tmp_path) == ["site"]
    rename = publishing.Path.rename

    def fail(path, target):
        if target == site and not path.name.endswith(".old"):
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(publishing.Path, "rename", fail)
    with pytest.raises(OutputError):
        publish(site, "C")
    assert content(site) == second and os.listdir(tmp_path) == ["site"]


def test_a_reader_always_finds_a_whole_catalogue(tmp_path):
    site = tmp_path / "site"
    publish(site, "A")
    missing, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                (site / "index.html").read_bytes()
            except FileNotFoundError as error:
                missing.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(10):
        publish(site, f"N{number}")
    done.set()
    reader.join()
    assert missing == []
