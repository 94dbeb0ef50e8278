"""FINN's elementwise layers, HWWhere, Requant and LabelSelect: their programs against the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.program.single_node import (
    FINN,
    assert_lowered_right,
    one_node,
    run_program,
    run_reference,
    whole_numbers,
)

prepare_finn()
SEEDS = st.integers(0, 1000)
NAMES = [
    "AbsDiff", "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual",
    "Less", "LessOrEqual", "Max", "Mul", "Or", "Sub", "Xor",
]  # fmt: skip
WHOLE = ["INT4", "UINT3", "INT20", "INT30"]


def draw(random, kind, shape):
    if kind == "FLOAT32":
        values = random.normal(0, 5, (3, *shape)).astype(np.float32)
        values.reshape(-1)[:4] = [0, np.inf, -np.inf, np.nan]
        return values
    datatype = DataType[kind]
    return whole_numbers(random, int(datatype.min()), int(datatype.max()), (3, *shape))


def elementwise(name, shapes, kinds, constant=None, **attributes):
    given = dict(zip("ab", shapes, strict=True))
    if constant is not None:
        del given["b"]
    out = np.broadcast_shapes(*shapes)
    return one_node(
        f"Elementwise{name}", given, {"y": out}, {} if constant is None else {"b": constant}, domain=FINN,
        lhs_shape=shapes[0], rhs_shape=shapes[1], out_shape=out, lhs_dtype=kinds[0], rhs_dtype=kinds[1],
        out_dtype="FLOAT32", lhs_style="input", rhs_style="input" if constant is None else "const", PE=1,
        datatypes=dict(zip("ab", kinds, strict=True)), **attributes,
    )  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from(NAMES), st.sampled_from(WHOLE), st.sampled_from(WHOLE), st.booleans())
def test_whole_numbers(seed, name, left, right, constant):
    random = np.random.default_rng(seed)
    a, b = draw(random, left, (1, 3, 4)), draw(random, right, (4,))
    model = elementwise(name, [(1, 3, 4), (4,)], (left, right), b[0] if constant else None)
    assert_lowered_right(model, a=a, **({} if constant else {"b": b}))


@settings(max_examples=40, deadline=None)
@given(
    SEEDS,
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Max", "AbsDiff", "Less"]),
    st.sampled_from(["INT4", "FLOAT32"]),
)
def test_floats(seed, name, left):
    random = np.random.default_rng(seed)
    model = elementwise(name, [(1, 3, 4), (1, 3, 4)], (left, "FLOAT32"))
    assert_lowered_right(model, a=draw(random, left, (1, 3, 4)), b=draw(random, "FLOAT32", (1, 3, 4)))


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts(direction):
    random = np.random.default_rng(0)
    model = elementwise("BitShift", [(1, 3, 4), (1, 3, 4)], ("INT8", "UINT3"), direction=direction)
    assert_lowered_right(model, a=draw(random, "INT8", (1, 3, 4)), b=draw(random, "UINT3", (1, 3, 4)))


@pytest.mark.parametrize(
    ("kinds", "types"), [(("INT4", "INT4"), ("float32", "float32")), (("INT30", "INT4"), ("int64", "int64"))]
)
def test_sums_are_of_single_precision_where_that_is_exact(kinds, types):
    program = lower(runnable_copy(elementwise("Add", [(1, 4), (1, 4)], kinds)))
    (made,) = [made for made in program.instructions if made.function == "whole_elementwise.combine"]
    assert made.parameters["types"] == types


def test_where():
    random = np.random.default_rng(0)
    model = one_node(
        "HWWhere", {"c": (1, 3, 4), "a": (1, 3, 4), "b": (1, 3, 4)}, {"y": (1, 3, 4)}, domain=FINN,
        Shape=[1, 3, 4], conditionDataType="BINARY", inputDataType="INT4", outputDataType="INT4",
        datatypes={"c": "BINARY", "a": "INT4", "b": "INT4"},
    )  # fmt: skip
    stacks = {
        name: draw(random, kind, (1, 3, 4)) for name, kind in (("c", "BINARY"), ("a", "INT4"), ("b", "INT4"))
    }
    assert_lowered_right(model, **stacks)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(["INT4", "UINT8"]), st.booleans(), st.booleans())
def test_requant(seed, output, narrow, by_channel):
    random = np.random.default_rng(seed)
    size = (4,) if by_channel else (1,)
    constants = {"s": random.uniform(0.01, 0.3, size), "b": random.integers(-3, 3, size)}
    constants = {name: value.astype(np.float32) for name, value in constants.items()}
    model = one_node(
        "Requant", {"x": (1, 3, 4)}, {"y": (1, 3, 4)}, constants, domain=FINN, inputDataType="INT8", NumChannels=4, PE=1,
        outputDataType=output, narrow=int(narrow), numInputVectors=[1, 3], datatypes={"x": "INT8"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(random, "INT8", (1, 3, 4)))


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_labels(seed, count):
    model = one_node(
        "LabelSelect", {"x": (1, 6)}, {"y": (1, count)}, domain=FINN, Labels=6, PE=1, K=count, inputDataType="INT2",
        outputDataType="UINT3", numInputVectors=[1], datatypes={"x": "INT2", "y": "UINT3"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw(np.random.default_rng(seed), "INT2", (1, 6)))


def test_our_backend_of_sums_is_lowered_as_its_kernel():
    random = np.random.default_rng(0)
    model = elementwise("Add", [(1, 3, 4), (1, 3, 4)], ("INT4", "INT4"))
    stacks = {name: draw(random, "INT4", (1, 3, 4)) for name in "ab"}
    wanted = run_reference(model, stacks)["y"]
    (node,) = model.graph.node
    node.op_type, node.domain = "ElementwiseAddInt_rtl", f"{FINN}.rtl"
    model.model.opset_import.append(helper.make_opsetid(node.domain, 1))
    np.testing.assert_array_equal(run_program(model, stacks)["y"], wanted)
