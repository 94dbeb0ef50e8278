"""Sums have types that hold them, whichever operands have a sign."""

import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.steps.sums import RangesOfSums


def operation(kind, first, second, result):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("a", "b", "y")]
    node = helper.make_node(
        f"Elementwise{kind}", ["a", "b"], ["y"], domain="finn.custom_op.fpgadataflow", backend="fpgadataflow",
        lhs_shape=[1, 4], rhs_shape=[1, 4], out_shape=[1, 4], lhs_dtype=first, rhs_dtype=second, out_dtype=result,
        lhs_style="input", rhs_style="input",
    )  # fmt: skip
    model = ModelWrapper(helper.make_model(helper.make_graph([node], "sum", values[:2], values[2:])))
    for name, datatype in (("a", first), ("b", second), ("y", result)):
        model.set_tensor_datatype(name, DataType[datatype])
    return model


@pytest.mark.parametrize(
    ("kind", "first", "second", "before", "after"),
    [
        ("Add", "INT4", "UINT4", "INT5", "INT6"),  # -8 to 22
        ("Add", "UINT4", "INT4", "INT5", "INT6"),
        ("Add", "UINT4", "UINT4", "UINT5", "UINT5"),
        ("Add", "INT4", "INT4", "INT8", "INT8"),  # wider than it must be: left
        ("Sub", "UINT4", "INT4", "INT5", "INT6"),  # -7 to 23
        ("Sub", "UINT4", "UINT4", "UINT5", "INT5"),
        ("Add", "FLOAT32", "INT4", "FLOAT32", "FLOAT32"),
    ],
)
def test_a_type_that_is_too_small_is_widened(kind, first, second, before, after):
    model = operation(kind, first, second, before).transform(RangesOfSums())
    assert getCustomOp(model.graph.node[0]).get_nodeattr("out_dtype") == after
    assert model.get_tensor_datatype("y") == DataType[after]
