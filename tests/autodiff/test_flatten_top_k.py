"""Rows of samples, and the greatest values of a row: as onnxruntime chooses them."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.op import attributes_of
from brainsmith.autodiff.primitives.gathers import TOP_K
from brainsmith.autodiff.primitives.movements import FLATTEN
from brainsmith.autodiff.primitives.onnx_form import OnnxCall
from brainsmith.errors import OpError


def gradients(op, x, upstream, **attributes):
    merged = attributes_of(op, attributes)
    return op.create_gradient_function([x], call_op(op, [x], attributes), **merged).gradients(upstream)


def test_flatten_makes_rows_and_its_gradient_is_not_changed():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(call_op(FLATTEN, [x]), x.reshape(2, 12))
    assert np.array_equal(gradients(FLATTEN, x, x.reshape(2, 12))[0], x)
    assert call_op(FLATTEN, [np.arange(3.0)]).shape == (3, 1)
    with pytest.raises(OpError, match=r"^flatten takes an array of samples \(N, \.\.\.\), not a number$"):
        call_op(FLATTEN, [np.float64(1)])


def with_onnxruntime(x, k):
    node = TOP_K.onnx.node(OnnxCall({"k": k}, (x.shape,), opset=17))
    (constant,) = node.constants
    graph = helper.make_graph(
        [helper.make_node(node.op_type, ["x", "k"], ["values", "indices"], **node.attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [
            helper.make_tensor_value_info("values", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("indices", TensorProto.INT64, None),
        ],
        [helper.make_tensor("k", TensorProto.INT64, constant.shape, constant)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.lists(st.integers(-2, 2), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(1, 5)
)
def test_the_greatest_are_those_of_onnxruntime_of_equals_too(rows, k):
    x = np.array(rows, np.float32)
    values, indices = call_op(TOP_K, [x], {"k": k})
    expected = with_onnxruntime(x, k)
    assert np.array_equal(values, expected[0])
    assert np.array_equal(indices, expected[1])
    assert indices.dtype == np.int64


def test_the_gradient_goes_to_the_values_that_were_chosen():
    x = np.array([[1.0, 5.0, 5.0], [7.0, 2.0, 4.0]])
    upstream = np.array([[1.0, 2.0], [3.0, 4.0]])
    (found,) = gradients(TOP_K, x, (upstream, np.zeros((2, 2), int)), k=2)
    assert found.tolist() == [[0.0, 1.0, 2.0], [3.0, 0.0, 4.0]]


@pytest.mark.parametrize("k", [0, 4])
def test_more_than_there_are_cannot_be_chosen(k):
    with pytest.raises(OpError) as caught:
        call_op(TOP_K, [np.zeros((2, 3))], {"k": k})
    assert str(caught.value) == f"top_k of rows of 3 values needs k from 1 to 3, not {k}"
