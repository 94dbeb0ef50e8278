"""Sums have types that hold them, whichever operands have a sign."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.sums import RangesOfSums
from brainsmith.transforms.specialize_kernels import SpecializeKernels


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


def chain(count, first, others):
    """Make sums of which each is the first operand of the next, with the types that FINN starts from."""
    nodes = [
        helper.make_node(
            "ElementwiseAdd", [f"s{at}", f"u{at}"], [f"s{at + 1}"], name=f"add{at}",
            domain="finn.custom_op.fpgadataflow", backend="fpgadataflow", lhs_dtype=first, rhs_dtype=others,
            out_dtype="INT5", lhs_shape=[1, 2], rhs_shape=[1, 2], out_shape=[1, 2], PE=1,
        )
        for at in range(count)
    ]  # fmt: skip
    names = ["s0", *(f"u{at}" for at in range(count)), *(f"s{at + 1}" for at in range(count))]
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in names}
    fed, result = names[: count + 1], names[-1]
    graph = helper.make_graph(nodes, "sums", [values[name] for name in fed], [values[result]])
    graph.value_info.extend(values[name] for name in names[count + 1 : -1])
    model = ModelWrapper(helper.make_model(graph))
    for name in fed:
        model.set_tensor_datatype(name, DataType[first if name == "s0" else others])
    return model


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(
    ("first", "others", "expected"),
    [
        ("INT4", "UINT4", ["INT6", "INT7", "INT8", "INT9"]),  # by the operands' datatypes, not their values
        ("INT4", "UINT8", ["INT10", "INT11", "INT12", "INT13"]),
    ],
)
def test_a_sum_behind_one_that_got_wider_holds_its_results_too(rounds, first, others, expected):
    model = chain(4, first, others)
    for _ in range(rounds):
        model = minimise_bit_widths(model, None)
    layers = [getCustomOp(node) for node in model.graph.node]
    datatypes = [model.get_tensor_datatype(node.output[0]) for node in model.graph.node]
    assert datatypes == [layer.out_dtype for layer in layers]
    low, high = int(DataType[first].min()), int(DataType[first].max())
    for datatype in datatypes:
        low, high = low + int(DataType[others].min()), high + int(DataType[others].max())
        assert datatype.min() <= low
        assert high <= datatype.max()
    assert [datatype.name for datatype in datatypes] == expected


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([-1, -1, -1, -1], "INT2"),  # x - 1
        ([0, -1, 0, -1], "INT2"),
        ([0, 0, 0, 0], "UINT1"),
        ([-1, 1, 1, -1], "INT2"),
        ([-8, 0, 1, 2], "INT4"),
    ],
)
def test_a_constant_has_a_type_with_a_zero_and_its_sum_is_rtl(values, kind):
    model = operation("Add", "INT4", "INT8", "INT9")
    for value in [value for value in model.graph.input if value.name == "b"]:
        model.graph.input.remove(value)
    model.set_initializer("b", np.array([values], np.float32))
    model = minimise_bit_widths(model, object())
    assert getCustomOp(model.graph.node[0]).get_nodeattr("rhs_dtype") == kind
    assert model.get_tensor_datatype("b") == DataType[kind]
    x = np.array([[-8, 7, 0, 3]], np.float32)
    assert np.array_equal(execute_onnx(model, {"a": x})["y"], x + values)
    chosen = SpecializeKernels("xczu7ev-ffvc1156-2-e", {"*": ["rtl"]})
    model = model.transform(chosen)
    assert [choice.backend for choice in chosen.choices] == ["brainsmith:ElementwiseAddRTL"]
    layer = getCustomOp(model.graph.node[0])
    layer.minimize_weight_bit_width(model)
    assert layer.get_nodeattr("rhs_dtype") == kind
    assert type(layer).supports(layer)
