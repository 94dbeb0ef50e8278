"""Another model's entry, copied in the place of a model's own, is not believed by `brainsmith run`."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


def model(path, factor):
    node = helper.make_node("Mul", ["x", "factor"], ["y"])
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 4))] for name in "xy"]
    constant = numpy_helper.from_array(np.full((1, 4), factor, np.float32), "factor")
    graph = helper.make_graph([node], "scaled", *ends, [constant])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["numpy", "onnxruntime"])
def test_run_gives_a_models_own_result_whatever_lies_in_its_entrys_place(tmp_path, target):
    np.save(tmp_path / "x.npy", np.ones((1, 4), np.float32))
    for name, factor in (("one", 3.0), ("other", 5.0)):
        model(tmp_path / f"{name}.onnx", factor)

    def run(name):
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [
            str(Path(sys.executable).with_name("brainsmith")),
            "run",
            f"{name}.onnx",
            "--target",
            target,
        ]
        command += ["--input", "x.npy", "--output", "y.npy"]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        return np.load(tmp_path / "y.npy").tolist()

    folder = tmp_path / "cache" / "brainsmith" / {"numpy": "programs"}.get(target, target)
    assert run("one") == [[3.0] * 4]
    (own,) = folder.iterdir()
    assert run("other") == [[5.0] * 4]
    (another,) = set(folder.iterdir()) - {own}
    own.write_bytes(another.read_bytes())
    assert run("one") == [[3.0] * 4]
    assert run("other") == [[5.0] * 4]
