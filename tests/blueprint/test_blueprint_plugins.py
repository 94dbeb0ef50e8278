import os
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.blueprint.blueprint_plugins import select_blueprint
from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.errors import BlueprintError, PluginNotFoundError
from brainsmith.plugin import get_plugin_manager, reset_plugin_system
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugins import load_blueprint_plugins

TEXT = """\
hw_compiler:
  kernels: [matmul, {kernel: softmax, backends: [hls]}]
  transforms: [ExpandNorms, ~nope]
  steps: [cleanup, transforms]
"""


def test_only_what_the_blueprint_names_is_there(files):
    path = files.write(TEXT)
    plugins = load_blueprint_plugins(path)
    assert [info.name for info in plugins["transforms"]] == ["ExpandNorms"]
    assert sorted(info.name for info in plugins["kernels"]) == ["MatMul", "Softmax"]
    assert {info.kernel for info in plugins["backends"]} == {"MatMul", "Softmax"}
    assert [info.name for info in plugins["steps"]] == ["cleanup"]
    assert plugins["skipped"] == [
        f"{path}:3:29: optional transform 'nope' is left out: no transform or group named 'nope'."
    ]
    with pytest.raises(PluginNotFoundError) as caught:
        plugins["transforms"].MergeOpChains
    assert str(caught.value) == (
        "no transform named 'MergeOpChains'\n"
        f"  there are only the plugins that {path} names: "
        "MatMul, MatMulRTL, MatMulHLS, Softmax, SoftmaxHLS, ExpandNorms, cleanup\n"
        "  1 is registered: brainsmith plugins list --type transform"
    )


def test_a_changed_blueprint_is_read_again(files):
    assert len(load_blueprint_plugins(files.write(TEXT))["kernels"]) == 2
    path = files.write(TEXT.replace("matmul, ", ""))
    assert len(load_blueprint_plugins(path)["kernels"]) == 1


def test_wrong_forms_and_wrong_names_come_together(files):
    path = files.write(TEXT.replace("matmul", "matmull").replace("steps", "stepz"))
    with pytest.raises(BlueprintError) as caught:
        load_blueprint_plugins(path)
    assert [(problem.line, problem.column) for problem in caught.value.problems] == [(2, 13), (4, 3)]


def test_golden_data_need_not_be_there_to_load_plugins(files):
    path = files.write(TEXT + "  verify: {inputs: elsewhere.npy}\n")
    assert len(load_blueprint_plugins(path)["kernels"]) == 2


PROGRAM = """\
import sys
from brainsmith.plugins import load_blueprint_plugins
plugins = load_blueprint_plugins(sys.argv[1])
print(sorted(info.name for info in plugins["kernels"]), plugins["skipped"])
print([name for name in ("yaml", "ast", "dataclasses", "qonnx", "finn", "onnx", "numpy") if name in sys.modules])
"""


def test_the_second_process_reads_no_yaml_and_says_the_same(files):
    # Only what is older than the file system's clock tick is trusted, and so kept.
    path = files.write(TEXT)
    os.utime(path, (1e9, 1e9))
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM, path], check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    first, second = (run.stdout.splitlines() for run in runs)
    assert first[0] == second[0]
    assert "'yaml'" in first[1]
    assert second[1] == "[]"


def test_a_kept_selection_is_the_one_that_was_read(files):
    path = files.write(TEXT + "  verify: {inputs: elsewhere.npy, tolerance: {cleanup: 0.5}}\n")
    read = select_blueprint(path, files=False)
    reset_plugin_system()
    kept = select_blueprint(path, files=False)
    assert kept == read
    assert kept == check_blueprint(path, get_plugin_manager().registry, files=False)
    assert repr(kept) == repr(read)
    with pytest.raises(BlueprintError) as caught:
        select_blueprint(path)
    missing = f"verify.inputs names a file that does not exist: {files.folder}/elsewhere.npy"
    assert str(caught.value) == f"{path}:5:12: {missing}"


@pytest.mark.slow
def test_what_is_kept_knows_no_plugin_made_at_run_time(files):
    path = files.write(TEXT)
    assert select_blueprint(path)[1].transforms[0].record.framework == "brainsmith"
    record = PluginInfo(name="ExpandNorms", type="transform", framework="project", reference="shell:Mine")
    get_plugin_manager().registry.register(record)
    assert select_blueprint(path)[1].transforms[0].record == record
    assert load_blueprint_plugins(path)["transforms"].list_plugins()[0] == record


@pytest.mark.slow
def test_edits_of_the_same_size_within_a_tick_of_the_clock_are_all_seen(files):
    for number in range(14):
        path = files.write(TEXT + f"  verify: {{inputs: elsewhere{number % 7}.npy}}\n")
        blueprint, _ = select_blueprint(path, files=False)
        assert Path(blueprint.verify.inputs).name == f"elsewhere{number % 7}.npy"


def test_a_change_of_a_file_that_is_extended_is_seen(files):
    files.write(TEXT, "base.yaml")
    path = files.write("extends: base.yaml\nhw_compiler: {output: rtl}\n")
    assert len(select_blueprint(path)[1].kernels) == 2
    assert select_blueprint(path)[0].output == "rtl"
    files.write(TEXT.replace("matmul, ", ""), "base.yaml")
    assert len(select_blueprint(path)[1].kernels) == 1
    (files.folder / "base.yaml").unlink()
    with pytest.raises(BlueprintError) as caught:
        select_blueprint(path)
    assert f"{path}:1:10: extends: {files.folder}/base.yaml: there is no such file" in str(caught.value)
