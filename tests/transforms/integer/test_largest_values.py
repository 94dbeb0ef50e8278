"""The places of the largest values: several of them, and equal ones in the order that ONNX states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto

from tests.transforms.integer.moving_networks import MovingNetwork
from tests.transforms.integer.test_structure_rules import check, layers


def network(count, classes=6, seed=0, **attributes):
    """Return a network of few levels, so that many are equal, whose output is the places of its largest values."""
    made = MovingNetwork(seed, (1, 4), "INT2")
    made.node("MatMul", (1, classes), made.weights((4, classes)))
    made.node("Clip", made.shape, made.constant(-1.0), made.constant(1.0))
    names = [made.constant(each) for each in (0.5, 0.0, 2.0)]
    made.node(
        "Quant",
        made.shape,
        *names,
        domain="qonnx.custom_op.general",
        signed=1,
        narrow=0,
        rounding_mode="ROUND",
    )
    made.node("TopK", (1, count), made.constant([count], np.int64), outputs=2, axis=1, **attributes)
    made.tail = made.nodes[-1].output[1]
    return made


def of_places(made):
    """Give a network an output of whole numbers."""
    plain = made.model

    def model():
        found = plain()
        found.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
        return found

    made.model = model
    return made


@pytest.mark.builds
@settings(deadline=None, max_examples=15)
@given(
    st.integers(0, 1 << 20),
    st.integers(1, 7).flatmap(lambda size: st.tuples(st.integers(1, size), st.just(size))),
)
def test_equal_values_come_in_the_order_of_their_places(seed, sizes):
    assert check(of_places(network(*sizes, seed=seed)))[-1] == "TopK"


@pytest.mark.parametrize(
    ("attributes", "datatype"), [({}, "INT2"), ({"sorted": 0}, "FLOAT32"), ({"largest": 0}, "FLOAT32")]
)
def test_the_smallest_and_those_in_any_order_stay_with_the_host(attributes, datatype):
    made = layers(of_places(network(2, **attributes)))
    (node,) = made.get_nodes_by_op_type("TopK")
    assert made.get_tensor_datatype(node.input[0]).name == datatype


def arg_max(keepdims, axis=1, last=0, seed=0):
    """Return a network whose output is the place of its largest value."""
    made = MovingNetwork(seed, (1, 4), "INT2")
    made.node("MatMul", (1, 6), made.weights((4, 6)))
    shape = (1, 1) if keepdims else (1,)
    made.node("ArgMax", shape, axis=axis, keepdims=keepdims, select_last_index=last)
    return of_places(made)


@pytest.mark.builds
@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1 << 20), st.sampled_from([1, -1]), st.booleans())
def test_an_arg_max_is_the_first_place_of_the_largest(seed, axis, keepdims):
    assert check(arg_max(int(keepdims), axis, seed=seed)) == [
        "MatMul",
        "TopK",
        *([] if keepdims else ["Reshape"]),
    ]


@pytest.mark.parametrize(("axis", "last"), [(1, 1), (0, 0)], ids=["the last of equal ones", "not of rows"])
def test_an_arg_max_that_no_layer_gives_stays_with_the_host(axis, last):
    made = arg_max(1, axis, last)
    if axis == 0:
        made.model = _with_shape(made.model, (1, 6))
    assert check(made)[-1] == "ArgMax"


def _with_shape(model, shape):
    def changed():
        found = model()
        found.set_tensor_shape(found.graph.output[0].name, shape)
        return of_int64(found)

    return changed


def of_int64(model):
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    return model
