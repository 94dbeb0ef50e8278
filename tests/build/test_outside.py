import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from brainsmith.build import build
from brainsmith.build.outside import rules
from brainsmith.store.imported_sources import note_imports
from tests.build import graphs

SCALE_BY = """
import os
from functools import cache
from pathlib import Path
import numpy as np
from qonnx.transformation.base import Transformation
from brainsmith.plugin.core import step, transform


def scaled(model, factor):
    model.set_initializer("w0", model.get_initializer("w0") * np.float32(factor))
    return model


@transform(stage="topology_opt")
class ScaleByFile(Transformation):
    def apply(self, model):
        return scaled(model, float(Path(__file__).with_name("data.txt").read_text())), False


@step
def scale_by_variable(model, cfg):
    return scaled(model, float(os.environ.get("SCALE_BY", "1")))


@step(inputs=["*.bin", "exact.txt"])
def scale_by_declared(model, cfg):
    folder = Path(__file__).parent
    return scaled(model, 1 + len(list(folder.glob("*.bin"))))


@step(cache=False)
def scale_by_clock(model, cfg):
    return scaled(model, 2)


@step
def scale_by_program(model, cfg):
    import subprocess

    return scaled(model, float(subprocess.run(["cat", "data.txt"], capture_output=True, check=True).stdout))


@step(cache=True)
def scale_by_known_program(model, cfg):
    import subprocess

    return scaled(model, float(subprocess.run(["echo", "2"], capture_output=True, check=True).stdout))


@cache
def remembered():
    return float(Path("data.txt").read_text())


@step
def remember_scale(model, cfg):
    remembered()
    return model


@step
def scale_by_remembered(model, cfg):
    return scaled(model, remembered())


@step
def tell_inputs(model, cfg):
    np.load(cfg.verify_input_npy)
    return model


@step
def scale_by_the_golden_file(model, cfg):
    return scaled(model, 1 + np.load("golden.npy").max())


@step
def read_checkpoint(model, cfg):
    Path(cfg.output_dir, "checkpoints", "01_cleanup.onnx").read_bytes()
    return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Stand in a project with plugins that read from outside."""
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "scale_by.py").write_text(SCALE_BY)
    (tmp_path / "plugins" / "data.txt").write_text("2")
    (tmp_path / "data.txt").write_text("2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCALE_BY", raising=False)
    return tmp_path


def built(*steps, **more):
    """Build, and return the first weight and what was said of the last step."""
    result = build(graphs.quant_mlp(), output="out", steps=list(steps), verify=False, report=False, **more)
    from qonnx.core.modelwrapper import ModelWrapper

    done = result.steps[-1]
    return ModelWrapper(str(result.model)).get_initializer("w0").flat[0], done.reused, done.cache


START = graphs.quant_mlp().get_initializer("w0").flat[0]


@pytest.mark.slow
def test_a_transform_that_reads_a_file_runs_again_when_that_changed(project):
    step = {"transform": "ScaleByFile"}
    data = project / "plugins" / "data.txt"
    assert built(step)[:2] == (START * 2, False)
    assert built(step)[:2] == (START * 2, True)
    data.write_text("3")
    assert built(step) == (START * 3, False, f"{data} changed")
    assert built(step)[:2] == (START * 3, True)
    data.write_text("2")
    assert built(step)[:2] == (START * 2, True)


@pytest.mark.slow
def test_a_step_that_reads_a_variable_runs_again_when_that_changed(project, monkeypatch):
    assert built("scale_by_variable")[:2] == (START, False)
    assert built("scale_by_variable")[:2] == (START, True)
    monkeypatch.setenv("SCALE_BY", "4")
    assert built("scale_by_variable") == (
        START * 4,
        False,
        "the variable SCALE_BY did not exist before",
    )
    assert built("scale_by_variable")[:2] == (START * 4, True)
    monkeypatch.setenv("SCALE_BY", "5")
    assert built("scale_by_variable") == (START * 5, False, "the variable SCALE_BY changed")
    monkeypatch.delenv("SCALE_BY")
    assert built("scale_by_variable")[:2] == (START, True)


@pytest.mark.slow
def test_a_function_that_reads_a_relative_path(project):
    def scale(model, cfg):
        factor = np.float32(Path("data.txt").read_text())
        model.set_initializer("w0", model.get_initializer("w0") * factor)
        return model

    assert built(scale)[:2] == (START * 2, False)
    assert built(scale)[:2] == (START * 2, True)
    Path("data.txt").write_text("3")
    assert built(scale) == (START * 3, False, "data.txt changed")


@pytest.mark.slow
def test_what_a_plugin_remembers_of_a_file_counts_for_each_step_that_uses_it(project):
    """In one process the plugin is loaded anew; the next process finds what depends on the file by the entry."""
    steps = ["remember_scale", "scale_by_remembered"]
    assert built(*steps)[:2] == (START * 2, False)
    assert built(*steps)[:2] == (START * 2, True)
    Path("data.txt").write_text("3")
    assert built(*steps)[:2] == (START * 3, False)
    assert built(*steps)[:2] == (START * 3, True)
    Path("data.txt").write_text("2")
    assert built(*steps)[:2] == (START * 2, True)


@pytest.mark.slow
def test_declared_inputs_are_part_of_the_key(project):
    assert built("scale_by_declared")[:2] == (START, False)
    assert built("scale_by_declared")[:2] == (START, True)
    (project / "plugins" / "a.bin").write_text("")
    assert built("scale_by_declared") == (
        START * 2,
        False,
        "a.bin was added",
    )
    (project / "plugins" / "exact.txt").write_text("")
    assert not built("scale_by_declared")[1]
    assert built("scale_by_declared")[1]


def test_declared_inputs_that_no_file_has_are_warnings(project):
    def warnings():
        result = build(
            graphs.quant_mlp(), output="out", steps=["scale_by_declared"], verify=False, report=False
        )
        return [text for text in result.warnings if "inputs=" in text]

    folder = project / "plugins"
    said = [
        f"step 'scale_by_declared': inputs=['{name}'] matches no file in {folder}; correct it, or take it out"
        for name in ("*.bin", "exact.txt")
    ]
    assert warnings() == said
    (folder / "exact.txt").write_text("")
    assert warnings() == said[:1]
    assert warnings() == said[:1]  # a step that is reused says it again
    (folder / "a.bin").write_text("")
    assert warnings() == []


@pytest.mark.slow
def test_what_is_declared_as_not_kept_runs_each_time(project):
    for _ in range(2):
        assert built("scale_by_clock") == (
            START * 2,
            False,
            "it is never reused: it is declared so, with cache=False",
        )


@pytest.mark.slow
def test_a_step_that_starts_a_program_is_kept_only_if_it_is_declared(project):
    for value in ("2", "3"):
        (project / "data.txt").write_text(value)
        assert built("scale_by_program") == (
            START * float(value),
            False,
            "it is never reused: it starts a program, and what that reads cannot be seen; "
            "declare it: inputs=[...] or cache=True",
        )
    assert [built("scale_by_known_program")[1] for _ in range(2)] == [False, True]


@pytest.mark.slow
def test_golden_inputs_may_be_read_and_checkpoints_make_a_result_that_is_not_kept(project):
    inputs = np.zeros((1, 6), np.float32)
    assert [built("tell_inputs", verify_inputs=inputs)[1] for _ in range(2)] == [False, True]
    assert not built("tell_inputs", verify_inputs=inputs + 1)[1]
    for _ in range(2):
        assert built("cleanup", "read_checkpoint")[1:] == (
            False,
            "it is never reused: it reads 01_cleanup.onnx, which is not an input of a step",
        )


@pytest.mark.slow
def test_golden_inputs_that_are_read_by_their_name_count(project):
    for value in (1, 2):
        np.save("golden.npy", np.full((1, 6), value, np.float32))
        for reused in (False, True):
            found = built("scale_by_the_golden_file", verify_inputs="golden.npy")
            assert found[:2] == (START * (1 + value), reused)


PROGRAM_AT_IMPORT = """
import subprocess
from brainsmith.plugin.core import step

FACTOR = float(subprocess.run(["cat", "data.txt"], capture_output=True, check=True).stdout)


@step{declared}
def scale_at_import(model, cfg):
    model.set_initializer("w0", model.get_initializer("w0") * FACTOR)
    return model
"""


def test_a_step_whose_module_starts_a_program_when_it_is_imported_is_kept_only_if_it_is_declared(project):
    file = project / "plugins" / "at_import.py"
    file.write_text(PROGRAM_AT_IMPORT.format(declared=""))
    for _ in range(2):
        assert built("scale_at_import") == (
            START * 2,
            False,
            "it is never reused: its module starts a program when imported, and what that reads cannot be seen; "
            "declare it: inputs=[...] or cache=True",
        )
    assert [built("scale_by_clock", "scale_by_variable")[1] for _ in range(2)] == [False, True]
    file.write_text(PROGRAM_AT_IMPORT.format(declared="(cache=True)"))
    assert [built("scale_at_import")[1] for _ in range(2)] == [False, True]


def test_of_a_plugin_that_is_one_file_that_file_is_the_source_and_none_beside_it(tmp_path):
    (tmp_path / "plugin.py").write_text("")
    found = rules(tmp_path / "out", [tmp_path / "plugin.py"])
    names = ("plugin", "beside", "plugin_more")
    assert [found.is_source(str(tmp_path / f"{name}.py")) for name in names] == [True, False, False]


@pytest.mark.slow
def test_a_decorated_function_says_the_same_when_it_is_given_from_python(project):
    from brainsmith.plugin.core import step

    @step(cache=False)
    def mine(model, cfg):
        return model

    assert built(mine)[1:] == (False, "it is never reused: it is declared so, with cache=False")


@pytest.mark.slow
def test_reads_at_import_count(project, monkeypatch):
    (project / "plugins" / "early.py").write_text(
        "import os\nfrom brainsmith.plugin.core import step\nFACTOR = float(os.environ.get('EARLY', '1'))\n\n\n"
        "@step\ndef early(model, cfg):\n"
        "    model.set_initializer('w0', model.get_initializer('w0') * FACTOR)\n    return model\n"
    )
    assert built("early")[:2] == (START, False)
    assert built("early")[:2] == (START, True)
    monkeypatch.setenv("EARLY", "2")
    assert built("early")[:2] == (START * 2, False)
    assert os.environ["EARLY"] == "2"


@pytest.mark.slow
def test_an_installed_package_that_a_function_s_module_imports_counts(project, monkeypatch):
    site = project / "site-packages"
    info = site / "counted_package-1.dist-info"
    info.mkdir(parents=True)
    (site / "counted_package.py").write_text("")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counted-package\nVersion: 1\n")
    (info / "top_level.txt").write_text("counted_package\n")
    (info / "RECORD").write_text(f"counted_package.py,,\n{info.name}/RECORD,,\n")
    (project / "my_steps.py").write_text(
        "import counted_package\n\n\ndef mine(model, cfg):\n    return model\n"
    )
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.syspath_prepend(str(project))
    note_imports()
    mine = importlib.import_module("my_steps").mine
    try:
        assert built(mine)[1:] == (False, "it was not built before")
        assert built(mine)[2].startswith("nothing")
        (info / "RECORD").write_text(f"counted_package.py,sha256=2,\n{info.name}/RECORD,,\n")
        assert built(mine)[1:] == (False, f"{info / 'RECORD'} changed")
    finally:
        del sys.modules["my_steps"], sys.modules["counted_package"]


@pytest.mark.slow
def test_what_the_hub_looks_at_for_a_step_is_no_input_of_the_step(project, tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("on_the_path")
    monkeypatch.syspath_prepend(str(place))
    used = project / "plugins" / "uses_the_door.py"
    used.write_text(
        "from brainsmith.plugin.core import step\n\n\n@step\ndef uses_the_door(model, cfg):\n"
        "    from brainsmith.plugins import transforms as tfm\n\n"
        "    tfm.list_plugins()\n    return model.transform(tfm.qonnx.InferShapes())\n"
    )
    built("uses_the_door")
    (place / "another_file.txt").write_text("")
    assert built("uses_the_door")[1]


def test_a_framework_s_step_whose_plugin_starts_a_program_is_not_kept():
    import subprocess

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.build.outside import why_not_kept
    from brainsmith.plugin.read_rules import read_rules
    from brainsmith.store.read_recorder import Recorder

    step = BuildStep("rtl_codegen", "brainsmith", "step")
    with Recorder(read_rules()) as recorder:
        pass
    assert why_not_kept(step, recorder) == ""
    with Recorder(read_rules()) as recorder:
        subprocess.run(["true"], check=True)
    assert why_not_kept(step, recorder) == (
        "a plugin that it uses starts a program, and what that reads cannot be seen"
    )


def test_where_a_cache_folder_really_lies_does_not_count_as_read(tmp_path, monkeypatch):
    """Compilers name the files that they read by where they are, whatever link led there."""
    from brainsmith.plugin.read_rules import read_rules

    real, cache, disk, other = (tmp_path / name for name in ("real", "cache", "disk", "other"))
    (real / "brainsmith").mkdir(parents=True)
    disk.mkdir()
    cache.symlink_to(real)
    (real / "brainsmith" / "rtl").symlink_to(disk)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    rules = read_rules((str(other / "out"),))
    for folder in (cache / "brainsmith" / "rtl", real / "brainsmith" / "rtl", disk, other / "out"):
        assert rules.leave_out(str(folder / "Vtop.h"))
    assert not rules.leave_out(str(other / "Vtop.h"))
