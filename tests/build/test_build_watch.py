"""Which files a build depends on."""

import numpy as np
import onnx
import pytest

from brainsmith.build import build
from brainsmith.build.build_watch import BuildWatch, saved_at
from brainsmith.errors import BlueprintError
from brainsmith.plugin import get_plugin_manager
from tests.build import graphs

READER = """from pathlib import Path
from brainsmith import step


@step
def reader(model, cfg):
    Path({path!r}).read_text()
    return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "base.yaml").write_text("hw_compiler: {steps: [reader]}\n")
    (tmp_path / "b.yaml").write_text("extends: base.yaml\n")
    (tmp_path / "read.txt").write_text("1")
    (tmp_path / "plugins" / "reader.py").write_text(READER.format(path=str(tmp_path / "read.txt")))
    model = graphs.quant_mlp().model
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(4000, np.float32), "spare"))
    onnx.save_model(model, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def watch(project):
    with BuildWatch("m.onnx", ["b.yaml"], output="out") as watch:
        yield watch


@pytest.mark.parametrize(
    "name", ["m.onnx", "m.data", "b.yaml", "base.yaml", "plugins/reader.py", "plugins/new.sv"]
)
def test_before_anything_is_built_what_is_given_is_watched(watch, project, name):
    assert watch.wait(0) == []
    (project / name).write_text("other")
    assert watch.wait(0) == [str(project / name)]


def test_the_settings_of_the_project_are_watched(watch, project):
    (project / ".brainsmith" / "config.yaml").write_text("plugin_system: {}\n")
    assert watch.wait(0) == [str(project / ".brainsmith/config.yaml")]


@pytest.mark.slow
def test_after_a_build_what_steps_read_is_watched_and_not_its_output(watch, project):
    (project / "read.txt").write_text("2")
    assert watch.wait(0) == []
    result = build("m.onnx", ["b.yaml"], "out", verify=False, report=False)
    watch.follow(result, None)
    assert watch.wait(0) == []
    (project / "read.txt").write_text("3")
    assert watch.wait(0) == [str(project / "read.txt")]
    (project / "out" / "model.onnx").write_text("")
    assert watch.wait(0) == []
    watch.follow(None, BlueprintError([]))
    (project / "read.txt").write_text("4")
    assert watch.wait(0) == [str(project / "read.txt")]


def test_a_plugin_whose_file_breaks_is_stale_as_long_as_it_is_watched(project):
    with BuildWatch("m.onnx", ["b.yaml"]) as watch:
        (project / "plugins" / "reader.py").write_text("def (")
        (info,) = watch.stale()
        assert (info.name, info.stale) == (
            "reader",
            f"{project / 'plugins/reader.py'}:1:5: the file is not Python, so its plugins are not found: invalid syntax",
        )
        with pytest.raises(BlueprintError) as caught:
            build("m.onnx", ["b.yaml"], "out", verify=False, report=False)
        assert str(caught.value) == (
            "base.yaml:1:23: step 'project:reader' is stale: its file is broken, and its last good version is not used\n"
            f"  {info.stale}"
        )
    assert "step:reader" not in get_plugin_manager().registry


def test_when_files_were_saved(tmp_path):
    path = tmp_path / "a"
    path.write_text("")
    assert saved_at([str(path), str(tmp_path / "none")]) == pytest.approx(path.stat().st_ctime)
    assert saved_at([str(tmp_path / "none")]) is None
    assert saved_at([]) is None
