"""A constant of the model that is one of its outputs."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.plugin.installed import run_python

CODE = """
import json, sys
import numpy as np
import pytest
from brainsmith.targets import ResourceManager
found = {}
with ResourceManager({"device": "numpy"}) as manager:
    for target in ("reference", "numpy", "onnxruntime"):
        prepared = manager.prepare_resource("model.onnx", device=target)
        results = manager.execute(prepared, {"x": np.array([[-1.0, 2.0], [5.0, -6.0]], np.float32)})
        found[target] = {name: array.tolist() for name, array in results.items()}
print(json.dumps(found))
"""


def model_with_a_constant_output() -> bytes:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])],
        "constant_output",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2))],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 2)) for name in ("y", "k")],
        initializer=[numpy_helper.from_array(np.array([[3.0, 4.0]], np.float32), "k")],
    )
    opsets = [helper.make_opsetid("", 13)]
    return bytes(helper.make_model(graph, ir_version=9, opset_imports=opsets).SerializeToString())


@pytest.mark.slow
def test_a_constant_output_is_given_for_each_sample_in_a_process_that_has_loaded_no_plugin(tmp_path):
    (tmp_path / "model.onnx").write_bytes(model_with_a_constant_output())
    expected = {"y": [[0.0, -2.0], [-5.0, 0.0]], "k": [[3.0, 4.0], [3.0, 4.0]]}
    assert run_python(CODE, cwd=tmp_path) == dict.fromkeys(("reference", "numpy", "onnxruntime"), expected)
