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
