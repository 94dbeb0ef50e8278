"""GroupedConvsToDense: the same convolution, without groups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.testing.small_models import make_model
from brainsmith.testing.transform_laws import apply_once, check_same_function
from brainsmith.transforms.grouped_convs_to_dense import GroupedConvsToDense


def grouped(groups, taken, made, kernel=(3, 2), seed=0):
    """A convolution of `groups` times `taken` channels into `groups` times `made`."""
    weights = np.random.default_rng(seed).integers(-3, 4, (groups * made, taken, *kernel)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", group=groups, kernel_shape=kernel)
    return make_model([node], {"x": (1, groups * taken, 5, 4)}, ["y"], {"w": weights})


def attribute(model, name):
    (node,) = model.get_nodes_by_op_type("Conv")
    return next(helper.get_attribute_value(found) for found in node.attribute if found.name == name)


@settings(max_examples=25, deadline=None)
@given(groups=st.integers(2, 4), taken=st.integers(1, 3), made=st.integers(1, 3), seed=st.integers(0, 99))
def test_it_computes_the_same(groups, taken, made, seed):
    model = grouped(groups, taken, made, seed=seed)
    x = np.random.default_rng(seed).integers(-8, 8, (1, groups * taken, 5, 4)).astype(np.float32)
    after, modified = check_same_function(GroupedConvsToDense(), model, {"x": x})
    assert modified == (taken * made > 1)
    assert attribute(after, "group") == (1 if modified else groups)


@pytest.mark.parametrize(("before", "then"), [("INT3", "INT3"), ("BIPOLAR", "TERNARY")])
def test_the_datatype_has_the_zeros_that_are_added(before, then):
    model = grouped(2, 2, 2)
    model.set_initializer("w", np.sign(model.get_initializer("w")) + (model.get_initializer("w") == 0))
    model.set_tensor_datatype("w", DataType[before])
    after, _ = apply_once(GroupedConvsToDense(), model)
    assert after.get_tensor_datatype(after.graph.node[0].input[1]) == DataType[then]


@pytest.mark.parametrize(
    ("before", "then", "changed"), [("INT3", "INT3", False), ("BIPOLAR", "TERNARY", True)]
)
def test_depthwise_weights_stay_and_their_datatype_has_the_zeros_that_lowering_adds(before, then, changed):
    model = grouped(3, 1, 1)
    model.set_initializer("w", np.where(model.get_initializer("w") < 0, -1.0, 1.0).astype(np.float32))
    model.set_tensor_datatype("w", DataType[before])
    after, modified = apply_once(GroupedConvsToDense(), model)
    assert (after.get_tensor_datatype("w"), modified) == (DataType[then], changed)
    assert attribute(after, "group") == 3


def test_one_group_stays():
    assert apply_once(GroupedConvsToDense(), grouped(1, 3, 2))[1] is False
