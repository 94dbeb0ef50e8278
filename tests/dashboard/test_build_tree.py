"""Which builds a folder has."""

import os
import shutil
import threading
import time
import weakref

import pytest

from brainsmith.build.workspace import Workspace, running_builds
from brainsmith.dashboard import build_tree
from brainsmith.dashboard.build_tree import BuildTree, FoundBuild
from brainsmith.dashboard.comparison_page import comparison_page
from brainsmith.dashboard.overview_page import overview_parts
from tests.web.pages import spoiled


def found(tree):
    return {one.path: one.state for one in BuildTree(tree).builds()}


def test_builds_are_found_in_all_folders_and_what_is_none_is_not(tree):
    ours = {"good": "done", "deep/er/other": "done", "bad/failed": "failed", "broken": "unreadable"}
    assert found(tree) == ours
    (tree / "loop").symlink_to(tree)
    (tree / "good" / "checkpoints" / "x").mkdir(parents=True)
    shutil.copy(tree / "good" / "report.json", tree / "good" / "checkpoints" / "x")
    assert found(tree) == ours


def test_the_last_one_comes_first_and_a_report_that_changed_is_read_again(tree):
    looked = BuildTree(tree)
    os.utime(tree / "deep" / "er" / "other" / "report.json", (1, 2_000_000_000))
    assert looked.builds()[0].path == "deep/er/other"
    assert looked.build("good").state == "done"
    (tree / "good" / "report.json").write_text('{"schema": "brainsmith.report/1", "error": {"message": "x"}}')
    assert looked.build("good").state == "failed"
    (tree / "good" / "report.json").unlink()
    assert looked.build("good") is None


def test_a_damaged_report_is_listed_with_what_is_wrong(tree):
    (broken,) = (one for one in BuildTree(tree).builds() if one.state == "unreadable")
    assert broken.path == "broken" and "broken/report.json" in broken.reason


def test_a_build_that_runs_is_listed_with_its_steps_until_it_ends(tree):
    workspace = Workspace(tree / "now")
    (workspace.staging / "checkpoints").mkdir()
    first = BuildTree(tree).builds()[0]
    assert (first.path, first.state, first.steps) == ("now", "running", ())
    for name in ("01_cleanup.onnx", "02_fold.onnx"):
        (workspace.staging / "checkpoints" / name).write_text("")
    assert BuildTree(tree).builds()[0].steps == ("01_cleanup", "02_fold")
    assert running_builds(tree / "now") == [workspace.staging]
    workspace.discard()
    assert "now" not in found(tree) and running_builds(tree / "now") == []


def test_a_report_is_forgotten_with_its_build(tree):
    looked = BuildTree(tree)
    looked.builds()
    gone, kept = (weakref.ref(looked.build(path)) for path in ("good", "broken"))
    shutil.rmtree(tree / "good")
    looked.builds()
    assert gone() is None and kept() is not None


@pytest.mark.slow
def test_builds_that_end_while_they_are_looked_at_are_no_error(tmp_path):
    until = time.monotonic() + 3

    def begin_and_end():
        while time.monotonic() < until:
            workspace = Workspace(tmp_path / "now")
            (workspace.staging / "checkpoints").mkdir()
            (workspace.staging / "checkpoints" / "01_cleanup.onnx").write_text("")
            workspace.discard()

    builds = threading.Thread(target=begin_and_end)
    builds.start()
    seen = set()
    while builds.is_alive():
        seen |= {one.state for one in BuildTree(tmp_path).builds()}
    assert seen == {"running"}


def test_what_a_killed_build_left_does_not_run(tree):
    workspace = Workspace(tree / "now")
    dead = workspace.staging.name.replace(f"-{os.getpid()}-", "-4194304-")
    workspace.staging.rename(workspace.staging.with_name(dead))
    assert "now" not in found(tree)


def test_a_tree_of_more_builds_or_folders_than_are_looked_at_says_so(tree, monkeypatch):
    looked = BuildTree(tree)
    assert len(looked.builds()) == 4 and not looked.is_cut
    for name, most in (("MOST", 2), ("MOST_FOLDERS", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(build_tree, name, most)
            assert len(looked.builds()) <= 2 and looked.is_cut
    assert (
        "There may be more builds: 2,000 of them, and 20,000 folders, are shown at most."
        in overview_parts([], 0, True)
    )
    assert "There may be more" not in overview_parts([], 0)


def test_no_path_leads_out_of_the_folder(tree, tmp_path):
    shutil.copytree(tree / "good", tmp_path / "outside")
    (tree / "link").symlink_to(tmp_path / "outside")
    looked = BuildTree(tree)
    for path in ("../outside", "good/../../outside", "/etc", "link", "", "good//", "nowhere", "good\0"):
        assert looked.build(path) is None, path
    assert looked.build("good").path == "good"
    assert BuildTree(tree / "good").build(".").state == "done"


@pytest.mark.slow
def test_a_field_of_another_kind_in_one_report_leaves_all_builds_on_the_pages(report):
    good = FoundBuild("good", "done", report, 0.0)
    for place, spoilt in spoiled(report):
        odd = FoundBuild("odd", "done", spoilt, 0.0)
        assert "Compare good" in str(overview_parts([odd, good], 1.0, False)), place
        assert "good" in comparison_page([odd, good]), place
