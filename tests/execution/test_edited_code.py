"""What is kept of a model holds constants of the code that made it; after an edit of that code it is not believed."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import brainsmith
from tests.execution.program.single_node import one_node

RUN = """
import sys
import numpy as np
from brainsmith.runtime.resource_manager import ResourceManager
import brainsmith
assert brainsmith.__file__.startswith(sys.argv[1]), brainsmith.__file__
with ResourceManager({"device": sys.argv[2]}) as manager:
    prepared = manager.prepare_resource(sys.argv[3])
    np.save(sys.argv[5], manager.execute(prepared, np.load(sys.argv[4]))["y"])
print("onnx" in sys.modules)
"""


@pytest.fixture
def copy(tmp_path):
    """Copy the package, so that it can be edited."""
    folder = tmp_path / "site" / "brainsmith"
    shutil.copytree(Path(brainsmith.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.slow
def test_an_edited_kernel_changes_what_every_target_computes(copy, tmp_path):
    softmax = one_node(
        "SoftmaxKernel", {"x": (1, 3, 8)}, {"y": (1, 3, 8)}, domain="brainsmith.kernels", SIMD=1, ifm_dim=[1, 3, 8],
        NumChannels=8, input_data_type="INT4", outputDataType="UINT8", fraction_bits=8, scale=0.3,
        datatypes={"x": "INT4", "y": "UINT8"},
    )  # fmt: skip
    softmax.save(str(tmp_path / "softmax.onnx"))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).integers(-8, 8, (4, 3, 8)).astype(np.float32))

    def run(target):
        """Return the outputs, and whether the model was read."""
        files = [tmp_path / name for name in ("softmax.onnx", "x.npy", "y.npy")]
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy.parent),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        command = [sys.executable, "-c", RUN, str(copy), target, *map(str, files)]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stderr
        return np.load(files[2]), done.stdout == "True\n"

    time.sleep(0.1)  # for the copy to be older than what is kept of it
    before = run("reference")[0]
    for target in ("numpy", "onnxruntime"):
        np.testing.assert_array_equal(run(target)[0], before)
        again, was_read = run(target)
        np.testing.assert_array_equal(again, before)
        assert not was_read
    kernel = copy / "kernels" / "integer_softmax.py"
    kernel.write_text(kernel.read_text().replace("+ 0.5)", "+ 40.5)"))
    after = run("reference")[0]
    assert np.any(after != before)
    for target in ("numpy", "onnxruntime"):
        np.testing.assert_array_equal(run(target)[0], after)
