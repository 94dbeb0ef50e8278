"""Sums and products of integers are annotated with the smallest datatype that holds all of their results."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.steps.integer_ranges import annotate_integer_ranges


def operation(op_type, shapes, datatypes, constant=None):
    """Make a node that reads a and b; b is a constant if one is given."""
    result = shapes["a"][:-1] + [constant.shape[-1]] if op_type == "MatMul" else shapes["a"]
    info = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()
    }
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, result)
    node = helper.make_node(op_type, ["a", "b"], ["y"])
    model = ModelWrapper(helper.make_model(helper.make_graph([node], "test", list(info.values()), [y])))
    for name, datatype in datatypes.items():
        model.set_tensor_datatype(name, DataType[datatype])
    if constant is not None:
        model.set_initializer("b", constant.astype(np.float32))
    return model


def found(model):
    return annotate_integer_ranges(model).get_tensor_datatype("y").name


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("INT6", "INT6", "INT7"),
        ("UINT4", "UINT4", "UINT5"),
        ("INT4", "UINT4", "INT6"),
        ("BIPOLAR", "BIPOLAR", "INT3"),
        ("FLOAT32", "INT4", "FLOAT32"),
    ],
)
def test_a_residual_sum(a, b, expected):
    assert found(operation("Add", {"a": [1, 4], "b": [1, 4]}, {"a": a, "b": b})) == expected


def test_a_sum_with_a_constant():
    assert found(operation("Add", {"a": [1, 2]}, {"a": "UINT4"}, np.asarray([[-8, -1]]))) == "INT5"
    assert found(operation("Add", {"a": [1, 2]}, {"a": "UINT4"}, np.asarray([[0.5, 1]]))) == "FLOAT32"


def test_a_product_has_the_range_of_its_columns():
    weights = np.asarray([[1, -7], [1, 7]])
    model = operation("MatMul", {"a": [1, 2]}, {"a": "UINT2"}, weights)
    assert found(model) == "INT6"  # -21 to 21 in the second column, 0 to 6 in the first
    assert found(operation("MatMul", {"a": [1, 2]}, {"a": "FLOAT32"}, weights)) == "FLOAT32"
    assert found(operation("MatMul", {"a": [1, 2]}, {"a": "UINT2"}, weights * 0.5)) == "FLOAT32"
