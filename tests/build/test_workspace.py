import json
import os
import subprocess
import sys

import pytest
from onnx import helper

from brainsmith.build.workspace import Workspace
from brainsmith.errors import OutputError
from tests.build import graphs


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def fill(workspace, **files):
    for name, text in files.items():
        path = workspace.staging / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_publish_swaps_the_files_in(tmp_path):
    workspace = Workspace(tmp_path / "a" / "out")
    fill(workspace, report_json="{}", checkpoints__one="1")
    workspace.publish()
    assert tree(tmp_path / "a" / "out") == [".build.json", "checkpoints", "checkpoints/one", "report.json"]


def test_a_second_build_replaces_the_first_and_touches_nothing_else(tmp_path):
    first = Workspace(tmp_path)
    fill(first, report_json="1", checkpoints__one="1", old="x")
    first.publish()
    (tmp_path / "mine.txt").write_text("keep me")
    second = Workspace(tmp_path)
    fill(second, report_json="2", checkpoints__two="2")
    assert (tmp_path / "report.json").read_text() == "1"
    second.publish()
    assert tree(tmp_path) == [".build.json", "checkpoints", "checkpoints/two", "mine.txt", "report.json"]
    assert (tmp_path / "report.json").read_text() == "2"


def test_a_failed_build_leaves_the_earlier_one_whole(tmp_path):
    first = Workspace(tmp_path)
    fill(first, report_json="1")
    first.publish()
    second = Workspace(tmp_path)
    fill(second, checkpoints__two="2")
    assert second.fail() == tmp_path / "failed"
    assert tree(tmp_path) == [
        ".build.json",
        "failed",
        "failed/checkpoints",
        "failed/checkpoints/two",
        "report.json",
    ]
    third = Workspace(tmp_path)
    fill(third, report_json="3")
    third.publish()
    assert tree(tmp_path) == [".build.json", "report.json"]


def test_discard_leaves_nothing_not_even_the_folders_it_made(tmp_path):
    workspace = Workspace(tmp_path / "a" / "b")
    fill(workspace, report_json="1")
    workspace.discard()
    assert tree(tmp_path) == []


def test_the_root_of_the_file_system_is_refused_by_whatever_name(tmp_path):
    before = os.listdir("/")
    (tmp_path / "link").symlink_to("/")
    for name in ("/", "//", "/tmp/..", tmp_path / "link"):
        with pytest.raises(OutputError) as caught:
            Workspace(name)
        assert str(caught.value) == (
            f"output folder {name} is the root of the file system; name another folder"
        )
    assert os.listdir("/") == before


def test_the_output_has_a_name_that_no_model_can_hold(tmp_path):
    with pytest.raises(OutputError) as caught:
        Workspace(tmp_path / "a\udcff")
    assert str(caught.value) == (
        f"output folder {str(tmp_path) + '/a' + chr(0xDCFF)!r} cannot be used, because its name holds '\\udcff', which is "
        "not UTF-8 in this locale, and models hold the names of their files\n  name another folder, or set "
        "LC_ALL=C.UTF-8 if the name is UTF-8"
    )
    assert tree(tmp_path) == []


def test_the_output_is_a_file(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match=f"^output {tmp_path}/out is a file; name a folder$"):
        Workspace(tmp_path / "out")


def test_an_unwritable_output(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        OutputError, match=f"^output folder {tmp_path}/file/out cannot be written: Not a directory$"
    ):
        Workspace(tmp_path / "file" / "out")
    with pytest.raises(OutputError, match=r"^output folder /proc/brainsmith/out cannot be written: "):
        Workspace("/proc/brainsmith/out")


def test_what_a_killed_build_left_is_swept(tmp_path):
    code = "from brainsmith.build.workspace import Workspace; import os; "
    code += f"Workspace({str(tmp_path)!r}); os._exit(9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(tree(tmp_path)) == 1
    mine = Workspace(tmp_path)
    other = Workspace(tmp_path)
    assert sorted(tree(tmp_path)) == sorted([mine.staging.name, other.staging.name])


def test_paths_into_the_staging_folder_are_rewritten(tmp_path):
    workspace = Workspace(tmp_path / "out")
    model = graphs.quant_mlp()
    model.graph.node[0].attribute.append(helper.make_attribute("model", f"{workspace.staging}/part.onnx"))
    model.save(str(workspace.staging / "parent.onnx"))
    fill(workspace, paths_json=json.dumps([f"{workspace.staging}/x"]))
    workspace.publish()
    from qonnx.core.modelwrapper import ModelWrapper

    again = ModelWrapper(str(tmp_path / "out" / "parent.onnx"))
    assert [a.s for a in again.graph.node[0].attribute if a.name == "model"] == [
        f"{tmp_path}/out/part.onnx".encode()
    ]
    assert json.loads((tmp_path / "out" / "paths.json").read_text()) == [f"{tmp_path}/out/x"]


@pytest.mark.parametrize(
    "name", ["model.onnx", "report", "rtl", "accelerator", "intermediate_models", "failed"]
)
def test_files_of_the_users_are_not_replaced(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(OutputError) as caught:
        Workspace(tmp_path)
    assert str(caught.value) == (
        f"output folder {tmp_path} holds {name}, which no build wrote and this one would replace; name another "
        "folder"
    )
    assert tree(tmp_path) == [name]


def test_nor_are_others_that_a_step_happens_to_write(tmp_path):
    (tmp_path / "notes").mkdir()
    workspace = Workspace(tmp_path)
    fill(workspace, notes__mine="1")
    with pytest.raises(OutputError, match=r" holds notes, which no build wrote and this one would replace; "):
        workspace.publish()
    workspace.discard()
    assert tree(tmp_path) == ["notes"]


def test_a_kill_between_two_renames_leaves_files_that_are_known(tmp_path, monkeypatch):
    monkeypatch.setattr("brainsmith.build.workspace._swap", lambda *paths: (_ for _ in ()).throw(MemoryError))
    workspace = Workspace(tmp_path)
    fill(workspace, report_json="1")
    with pytest.raises(MemoryError):
        workspace.publish()
    (tmp_path / "report.json").write_text("1")
    monkeypatch.undo()
    Workspace(tmp_path).discard()


def test_a_manifest_cannot_name_files_elsewhere(tmp_path):
    (tmp_path / "precious").write_text("")
    out = tmp_path / "out"
    out.mkdir()
    (out / ".build.json").write_text(json.dumps({"entries": ["../precious", 3, ""]}))
    workspace = Workspace(out)
    workspace.publish()
    assert (tmp_path / "precious").exists()
    assert os.listdir(out) == [".build.json"]


def test_a_name_that_is_too_long():
    with pytest.raises(OutputError, match=r"^output folder a{300} cannot be found: File name too long$"):
        Workspace("a" * 300)


def test_a_relative_folder_where_the_current_one_is_gone(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(OutputError, match=r"^output folder out cannot be found: No such file or directory$"):
        Workspace("out")
    monkeypatch.chdir(tmp_path)
