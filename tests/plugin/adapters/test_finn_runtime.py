"""FINN imports without Vivado and without torch, and leaves the process as it was."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
needs_finn = pytest.mark.skipif(find_spec("finn") is None, reason="needs FINN: pip install finn-plus")
without_torch = pytest.mark.skipif(
    find_spec("torch") is not None, reason="needs an environment without torch"
)

BEGIN = """
import json, os, sys
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
"""


def run_python(code, tmp_path, **variables):
    """Run code in a fresh interpreter in an empty folder; return the JSON that it prints, and its streams."""
    folder = tmp_path / "cwd"
    folder.mkdir(exist_ok=True)
    unset = {"FINN_BUILD_DIR", "FINN_SETTINGS", "XILINX_VIVADO", "XDG_CACHE_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"} | variables
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return json.loads(done.stdout), done.stderr


@needs_finn
@pytest.mark.slow
def test_every_transformation_and_the_builder_import(tmp_path):
    code = """
prepare_finn()
import importlib, pkgutil
import finn.transformation
names = [m.name for m in pkgutil.walk_packages(finn.transformation.__path__, "finn.transformation.")]
for name in names:
    importlib.import_module(name)
from finn.builder import build_dataflow_steps
print(json.dumps([len(names), build_dataflow_steps.step_streamline.__name__]))
"""
    (count, step), errors = run_python(code, tmp_path)
    assert count > 100
    assert step == "step_streamline"
    assert errors == ""


@needs_finn
@without_torch
def test_what_needs_torch_says_so_when_it_is_used(tmp_path):
    code = """
prepare_finn()
import finn.custom_op.fpgadataflow.layernorm as layernorm
from brainsmith.errors import FrameworkUnavailableError
try:
    layernorm.F.layer_norm(1, 2)
except FrameworkUnavailableError as error:
    message = str(error)
print(json.dumps([message, [m for m in sys.modules if m.partition(".")[0] == "torch"],
                  type(layernorm.__loader__).__name__]))
"""
    (message, modules, loader), _ = run_python(code, tmp_path)
    assert message == (
        "torch.nn.functional.layer_norm needs torch, which is not installed: pip install torch "
        "(FINN uses it to execute its LayerNorm in Python; no other part of a build does)"
    )
    assert modules == []
    assert loader == "SourceFileLoader"


@needs_finn
@pytest.mark.slow
def test_kernels_load_no_libraries_that_they_do_not_use_yet(tmp_path):
    code = """
prepare_finn()
import numpy as np
import finn.transformation.fpgadataflow.specialize_layers
heavy = [name for name in ("sympy", "onnxscript", "scipy.special") if name in sys.modules]
import finn.custom_op.fpgadataflow.hwsoftmax as hwsoftmax
import finn.custom_op.fpgadataflow.rtl.elementwise_binary_rtl as elementwise
shares = hwsoftmax.softmax(np.zeros((1, 4)), axis=-1).tolist()
from finn.transformation.fpgadataflow.loop_rolling import LoopBodyInputType
same = elementwise.LoopBodyInputType.PARAMETER is LoopBodyInputType.PARAMETER
print(json.dumps([heavy, shares, same]))
"""
    result, _ = run_python(code, tmp_path)
    assert result == [[], [[0.25, 0.25, 0.25, 0.25]], True]


@needs_finn
def test_the_simulator_says_that_it_needs_vivado_when_it_is_called(tmp_path):
    code = """
prepare_finn()
from finn.xsi import SimEngine, load_sim_obj
messages = []
for name in (SimEngine, load_sim_obj):
    try:
        name()
    except ImportError as error:
        messages.append(str(error))
print(json.dumps(messages))
"""
    messages, _ = run_python(code, tmp_path)
    assert [message.split(":")[0] for message in messages] == [
        "finn.xsi.SimEngine needs the simulator of Vivado",
        "finn.xsi.load_sim_obj needs the simulator of Vivado",
    ]


SHOW = """
before = dict(os.environ)
prepare_finn(); prepare_finn()
from finn.util.settings import get_settings
from finn.util.basic import make_build_dir
made = make_build_dir("try_")
print(json.dumps([str(get_settings().finn_build_dir), os.path.dirname(made), os.getcwd(),
                  {k: v for k, v in os.environ.items() if before.get(k) != v}, len(sys.meta_path)]))
"""


@needs_finn
@pytest.mark.slow
def test_the_build_folder_is_in_the_cache_and_the_process_is_left_alone(tmp_path):
    (folder, made, cwd, changed, _), errors = run_python(SHOW, tmp_path)
    assert folder == made == str(tmp_path / ".cache" / "brainsmith" / "finn" / "FINN_TMP")
    assert cwd == str(tmp_path / "cwd")
    assert changed == {"FINN_BUILD_DIR": folder}
    assert errors == ""
    assert not (tmp_path / ".finn").exists()


@needs_finn
@pytest.mark.slow
def test_the_users_build_folder_is_kept(tmp_path):
    mine = str(tmp_path / "mine")
    (folder, made, _, changed, _), _ = run_python(SHOW, tmp_path, FINN_BUILD_DIR=mine)
    assert folder == made == mine
    assert changed == {}


@pytest.mark.slow
@needs_finn
def test_finns_own_settings_file_is_read(tmp_path):
    (tmp_path / "settings.yaml").write_text(f"FINN_BUILD_DIR: {tmp_path}/filed\n")
    settings = str(tmp_path / "settings.yaml")
    (folder, made, _, changed, _), _ = run_python(SHOW, tmp_path, FINN_SETTINGS=settings)
    assert folder == made == f"{tmp_path}/filed"
    assert changed == {"FINN_BUILD_DIR": folder}


@needs_finn
@pytest.mark.slow
def test_sixteen_threads_prepare_once(tmp_path):
    code = """
import threading
before = list(sys.meta_path)
def work():
    prepare_finn()
    import finn.xsi
threads = [threading.Thread(target=work) for _ in range(16)]
[t.start() for t in threads]; [t.join() for t in threads]
import finn.xsi
added = [finder for finder in sys.meta_path if finder not in before]
gone = [finder.__name__ for finder in before if finder not in sys.meta_path]
print(json.dumps([len(added), gone, "SimEngine" in vars(finn.xsi)]))
"""
    assert run_python(code, tmp_path)[0] == [2, ["FrameworkPreparer"], True]


@needs_finn
@pytest.mark.slow
def test_a_finn_that_was_imported_before_is_completed(tmp_path):
    code = """
import finn.xsi, finn.util.settings
prepare_finn()
print(json.dumps(["SimEngine" in vars(finn.xsi), str(finn.util.settings.get_settings().finn_build_dir)]))
"""
    result, _ = run_python(code, tmp_path)
    assert result == [True, str(tmp_path / ".cache" / "brainsmith" / "finn" / "FINN_TMP")]


def test_a_finn_without_settings_gets_its_build_folder(tmp_path):
    package = tmp_path / "site" / "finn"
    (package / "util").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "util" / "__init__.py").write_text("")
    (package / "util" / "basic.py").write_text('import os\nFOLDER = os.environ["FINN_BUILD_DIR"]\n')
    code = """
prepare_finn()
import finn.util.basic
print(json.dumps(finn.util.basic.FOLDER))
"""
    folder, _ = run_python(code, tmp_path, PYTHONPATH=f"{package.parent}{os.pathsep}{ROOT}")
    assert folder == str(tmp_path / ".cache" / "brainsmith" / "finn")
    assert Path(folder).is_dir()


def test_without_finn_nothing_happens(tmp_path):
    code = """
sys.path[:] = [entry for entry in sys.path if not entry.endswith("site-packages")]
before = list(sys.meta_path), dict(os.environ)
prepare_finn()
print(json.dumps(before == (list(sys.meta_path), dict(os.environ))))
"""
    assert run_python(code, tmp_path)[0] is True
