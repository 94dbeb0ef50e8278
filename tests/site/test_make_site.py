"""The site on disk: a folder for each version, `latest`, the list of versions; and what is printed if it cannot be made."""

import importlib.util
import json
import shutil

import pytest

from tests.test_docs import ROOT, load


@pytest.fixture
def make_site(tool):
    return tool("make_site")


def pages(folder, text):
    """What is made of a version: one page."""
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(text)
    return folder


def listed(site):
    return [
        (each["version"], each["title"], each["aliases"])
        for each in json.loads((site / "versions.json").read_text())
    ]


@pytest.mark.parametrize(
    ("version", "folder"), [("0.1.0", "0.1"), ("0.1.12", "0.1"), ("1.10.3", "1.10"), ("2.0.0rc1", "2.0")]
)
def test_patches_share_the_folder_of_their_minor_version(make_site, version, folder):
    assert make_site.folder_of(version) == folder


def test_the_newest_version_is_the_latest_and_older_ones_stay(make_site, tmp_path):
    site = tmp_path / "site"
    for version in ("0.9.0", "0.10.0", "0.2.0"):  # 0.10 is newer than 0.9; 0.2 is built again, later
        make_site.publish(pages(tmp_path / "new" / version, version), version, site)
    assert listed(site) == [("0.10", "0.10", ["latest"]), ("0.9", "0.9", []), ("0.2", "0.2", [])]
    assert (site / "latest" / "index.html").read_text() == "0.10.0"
    assert (site / "0.9" / "index.html").read_text() == "0.9.0"
    assert 'content="0; url=latest/"' in (site / "index.html").read_text()


def test_a_version_that_is_made_again_replaces_all_of_the_old_one(make_site, tmp_path):
    site = tmp_path / "site"
    old = pages(tmp_path / "old", "0.1.0")
    (old / "gone.html").touch()
    make_site.publish(old, "0.1.0", site)
    make_site.publish(pages(tmp_path / "new", "0.1.1"), "0.1.1", site)
    assert listed(site) == [("0.1", "0.1", ["latest"])]
    for folder in ("0.1", "latest"):
        assert [path.name for path in (site / folder).iterdir()] == ["index.html"]
        assert (site / folder / "index.html").read_text() == "0.1.1"


def test_what_is_no_version_is_neither_listed_nor_touched(make_site, tmp_path):
    site = tmp_path / "site"
    for name in ("notes", "0.1.1", "1", ".new-x"):
        pages(site / name, name)
    (site / "0.3").mkdir()  # no page in it
    make_site.publish(pages(tmp_path / "new", "0.2.0"), "0.2.0", site)
    assert make_site.versions(site) == ["0.2"]
    assert (site / "0.1.1" / "index.html").read_text() == "0.1.1"


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    make_site, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert make_site.main(["--output", str(tmp_path / "site")]) == 1
    assert capsys.readouterr() == (
        "",
        "error: the site was not made: MkDocs is not installed. Run `make docs`, which installs requirements/docs.txt\n",
    )
    assert [*(tmp_path / "site").iterdir()] == []


def test_a_place_where_no_folder_can_be_is_an_error(make_site, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert make_site.main(["--output", str(tmp_path / "file")]) == 1
    expected = f"error: the site was not made: [Errno 17] File exists: '{tmp_path / 'file'}'\n"
    assert capsys.readouterr().err == expected


@pytest.mark.slow
def test_a_broken_link_or_anchor_or_a_page_that_is_not_in_the_navigation_is_an_error(
    built, make_site, tmp_path, monkeypatch, capsys
):
    """In a copy with one page more. The site that is there stays as it was."""
    copy = tmp_path / "copy"
    for name in load("tools/release.py").tracked(ROOT):
        if not name.startswith(("tests/", "benchmarks/")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    (copy / "docs" / "extra.md").write_text(
        "# Extra\n\n[a](gone.md) [b](cli.md#gone) [c](../blueprints/gone.yaml)\n"
    )
    monkeypatch.setattr(make_site, "ROOT", copy)
    site = tmp_path / "site"
    make_site.publish(pages(tmp_path / "made", "before"), "0.1.0", site)
    assert make_site.main(["--output", str(site)]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("error: the site was not made: MkDocs ended with exit code 1\n")
    assert 'not included in the "nav" configuration:\n  - extra.md\n' in printed
    assert "Doc file 'extra.md' contains a link 'gone.md', but the target is not found" in printed
    assert "contains a link 'cli.md#gone', but the doc 'cli.md' does not contain an anchor '#gone'" in printed
    assert "contains a link '../blueprints/gone.yaml', but the target is not found" in printed
    assert (site / "latest" / "index.html").read_text() == "before"
