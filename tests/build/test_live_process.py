"""One process builds, sources change, and it builds again: what runs is what the sources say."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.build import build
from brainsmith.errors import PluginLoadError
from brainsmith.plugin import reset_plugin_system
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX, plugin_mounts, unmount
from brainsmith.plugins import steps
from tests.build import graphs

PLUGIN = """from brainsmith.plugin.core import step
from .factor import FACTOR


@step
def scale(model, cfg):
    model.set_initializer("w0", model.get_initializer("w0") * (FACTOR * 1.0))
    return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Stand in a project with a plugin and a module that it imports."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "scale.py").write_text(PLUGIN)
    (tmp_path / "plugins" / "factor.py").write_text("FACTOR = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def built(step="scale"):
    """Build, and return by how much the first weight was scaled, and what was said of the step."""
    from qonnx.core.modelwrapper import ModelWrapper

    result = build(graphs.quant_mlp(), output="out", steps=[step], verify=False, report=False)
    start = graphs.quant_mlp().get_initializer("w0").flat[0]
    (done,) = result.steps
    return round(
        float(ModelWrapper(str(result.model)).get_initializer("w0").flat[0] / start), 4
    ), done.cache.partition(";")[0]


def built_elsewhere():
    """Build in a process of its own."""
    code = "import json; from tests.build.test_live_process import built; print(json.dumps(built()))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", code]
    return tuple(
        json.loads(
            subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
        )
    )


REUSED = "nothing that it depends on changed"


@pytest.mark.parametrize("file", [pytest.param("scale.py", marks=pytest.mark.slow), "factor.py"])
def test_an_edit_in_a_plugin_folder_runs_in_the_same_process_and_is_kept_under_its_own_source(project, file):
    """Same size, and within a tick of the file system's clock."""
    path = project / "plugins" / file
    texts = [path.read_text().replace("1", digit) for digit in "123"]
    assert built()[0] == 1.0
    for text, factor in zip(texts, (1.0, 2.0, 3.0), strict=True):
        path.write_text(text.replace(f"{int(factor)}.0", f"{int(factor)}.0"))
        assert built()[0] == factor
    for text, factor in zip(texts, (1.0, 2.0, 3.0), strict=True):
        path.write_text(text)
        assert built() == (factor, REUSED)
    assert built_elsewhere() == (3.0, REUSED)


def test_a_reused_step_imports_nothing(project):
    assert built()[0] == 1.0
    reset_plugin_system()
    for name in plugin_mounts():
        unmount(name)
    assert built() == (1.0, REUSED)
    assert [name for name in sys.modules if name.startswith(FOLDER_PREFIX)] == []


def test_an_edit_below_a_folder_without_init_runs_in_the_same_process(project):
    """Python asks the package above where the modules of such a folder are."""
    (project / "plugins" / "inner").mkdir()
    constant = project / "plugins" / "inner" / "constant.py"
    constant.write_text("FACTOR = 2\n")
    (project / "plugins" / "factor.py").write_text("from .inner.constant import FACTOR\n")
    assert built()[0] == 2.0
    constant.write_text("FACTOR = 3\n")
    assert built()[0] == 3.0


@pytest.mark.slow
def test_who_holds_an_old_function_goes_on_using_it(project):
    old = steps.scale
    (project / "plugins" / "factor.py").write_text("FACTOR = 2\n")
    assert built()[0] == 2.0
    assert steps.scale is not old
    assert old.__globals__["FACTOR"] == 1
    assert built(old)[0] == 1.0


@pytest.mark.slow
def test_another_folder_that_holds_something_of_a_changed_one_is_loaded_anew_too(project, monkeypatch):
    other = project / "other"
    other.mkdir()
    (other / "twice.py").write_text(
        "from brainsmith.plugin.core import step\nfrom brainsmith.plugins import steps\nONCE = steps.scale\n\n\n"
        "@step\ndef twice(model, cfg):\n    return ONCE(ONCE(model, cfg), cfg)\n"
    )
    (project / ".brainsmith" / "config.yaml").write_text(f"plugin_system:\n  plugin_folders: [{other}]\n")
    (project / "plugins" / "factor.py").write_text("FACTOR = 2\n")
    assert built("twice")[0] == 4.0
    (project / "plugins" / "factor.py").write_text("FACTOR = 3\n")
    assert built("twice")[0] == 9.0


def test_a_module_elsewhere_that_a_plugin_imports_is_an_error_that_says_to_restart(project, monkeypatch):
    helper = project / "elsewhere" / "a_helper_of_mine.py"
    helper.parent.mkdir()
    helper.write_text("FACTOR = 2\n")
    monkeypatch.syspath_prepend(str(helper.parent))
    (project / "plugins" / "factor.py").write_text("from a_helper_of_mine import FACTOR\n")
    try:
        assert built()[0] == 2.0
        helper.write_text("FACTOR = 3\n")
        with pytest.raises(PluginLoadError) as caught:
            built()
        assert str(caught.value) == (
            f"{helper} changed since this process imported it, and may be in use: restart Python"
        )
        monkeypatch.setenv("PYTHONPATH", str(helper.parent))
        helper.write_text("FACTOR = 2\n")
        assert built() == (2.0, REUSED)
    finally:
        sys.modules.pop("a_helper_of_mine", None)


REMEMBERING = """import importlib
from brainsmith.plugin.core import step


@step
def scale(model, cfg):
    factor = importlib.import_module("a_" + "remembering_module").factor()
    model.set_initializer("w0", model.get_initializer("w0") * (factor * 1.0))
    return model
"""
MODULE = """from functools import cache
from pathlib import Path


@cache
def factor():
    return float(Path(__file__).with_name("factor.txt").read_text())
"""


@pytest.fixture
def remembering(project, monkeypatch):
    """Have a module elsewhere, imported by a name that stands in no source, that reads a file once in a process."""
    (project / "plugins" / "scale.py").write_text(REMEMBERING)
    folder = project / "elsewhere"
    folder.mkdir()
    (folder / "a_remembering_module.py").write_text(MODULE)
    (folder / "factor.txt").write_text("1")
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("a_remembering_module", None)


@pytest.mark.slow
def test_what_a_module_elsewhere_remembers_of_a_file_is_not_kept_under_the_new_file(remembering):
    assert built()[0] == 1.0
    assert built() == (1.0, REUSED)
    (remembering / "factor.txt").write_text("2")
    for _ in range(2):  # this process remembers the old one; no entry says that it is of the new one
        factor, said = built()
        assert (factor, said) == (1.0, f"{remembering / 'factor.txt'} changed")
    (remembering / "factor.txt").write_text("1")
    assert built() == (1.0, REUSED)


def test_a_module_that_no_source_names_is_an_error_that_says_to_restart_too(remembering):
    assert built()[0] == 1.0
    path = remembering / "a_remembering_module.py"
    path.write_text(MODULE.replace("factor.txt", "other.txt"))
    with pytest.raises(PluginLoadError) as caught:
        built()
    assert str(caught.value) == (
        f"{path} changed since this process imported it, and may be in use: restart Python"
    )
