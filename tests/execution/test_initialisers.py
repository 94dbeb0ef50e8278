"""What is read of a model's tensors before it is lowered."""

import re

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError
from brainsmith.execution.initialisers import initialisers


def product(weights, datatype):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 2))],
        initializer=[numpy_helper.from_array(np.array(weights, np.float32), "w")],
    )
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)])
    wrapper = ModelWrapper(model)
    wrapper.set_tensor_datatype("w", DataType[datatype])
    return wrapper


@pytest.mark.parametrize(
    ("weights", "datatype", "message"),
    [
        ([[5.0, 1.0]], "INT2", "tensor 'w' is annotated as INT2, but holds 5"),
        ([[1.0, 0.0]], "BIPOLAR", "tensor 'w' is annotated as BIPOLAR, but holds 0"),
        (
            [[0.5, 1.0]],
            "BINARY",
            "tensor 'w' is annotated as BINARY, but holds a value that is 0.5 from the nearest whole number",
        ),
    ],
)
def test_weights_that_are_not_what_they_are_annotated_as_are_refused(weights, datatype, message):
    with pytest.raises(BuildError, match=f"^{re.escape(message)}$"):
        initialisers(product(weights, datatype))


def test_float_errors_of_whole_weights_are_rounded_away():
    weights = initialisers(product([[1.0000001, -2.0]], "INT3"))["w"]
    assert weights.tolist() == [[1.0, -2.0]]
