"""Layers on trial: models of single nodes and what their kernels compute."""

import numpy as np
import pytest

from brainsmith.rtl.cores.trial import WHOLE, Case, golden_tensors, make_model, random_values

SPLIT = Case(
    "StreamingSplit_rtl",
    [((1, 6), "INT4")],
    {"ChannelsPerStream": [4, 2], "inputDataType": "INT4", "SIMD": 2, "numInputVectors": [1]},
    outputs=2,
)
ADD = Case(
    "ElementwiseAddInt_rtl",
    [((1, 3), "UINT4")],
    {
        "lhs_shape": [3], "rhs_shape": [1, 3], "out_shape": [1, 3], "lhs_style": "const", "lhs_dtype": "INT3",
        "rhs_dtype": "UINT4", "out_dtype": "INT6", "PE": 1,
    },
    constants=[([1, -4, 3], "INT3")],
    frames=[np.array([[[0, 1, 2]], [[15, 15, 15]]])],
    constants_first=True,
)  # fmt: skip


def test_cases_are_one_model_of_nodes_that_are_not_connected():
    model = make_model([SPLIT, ADD])
    assert [list(node.input) for node in model.graph.node] == [["c0_in0"], ["c1_in1", "c1_in0"]]
    assert model.get_tensor_shape("c0_out1") == [1, 2]
    assert model.get_tensor_datatype("c1_out0").name == "INT6"
    np.testing.assert_array_equal(model.get_initializer("c1_in1"), [1, -4, 3])


@pytest.mark.slow
def test_golden_tensors_are_what_the_kernels_compute():
    golden = golden_tensors(make_model([SPLIT, ADD]), [SPLIT, ADD], 2, seed=0)
    np.testing.assert_array_equal(golden["c0_out0"], golden["c0_in0"][..., :4])
    np.testing.assert_array_equal(golden["c0_out1"], golden["c0_in0"][..., 4:])
    np.testing.assert_array_equal(golden["c1_out0"], [[[1, -3, 5]], [[16, 11, 18]]])


@pytest.mark.parametrize(
    ("kind", "least", "greatest"),
    [("INT4", -8, 7), ("UINT1", 0, 1), ("BIPOLAR", -1, 1), ("INT32", -WHOLE, WHOLE), ("TERNARY", -1, 1)],
)
def test_random_values_reach_both_ends_of_a_datatype(kind, least, greatest):
    values = random_values(np.random.default_rng(0), kind, (20, 2))
    assert (values.min(), values.max(), values.shape) == (least, greatest, (20, 2))
    assert (values.astype(np.float32).astype(np.int64) == values).all()
