"""Cores whose values are beyond 2^24, up to 48 bits, against their kernels' models in float64."""

import numpy as np
import pytest
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from tests.backends.rtl import (
    test_duplicate_streams_rtl,
    test_elementwise_backend,
    test_embedded_mvau_rtl,
    test_embedded_vvau_rtl,
    test_global_acc_pool_rtl,
    test_mat_mul_rtl,
    test_pool_rtl,
)
from tests.backends.rtl.bench import check_cores, golden_tensors, make_model

elementwise = test_elementwise_backend.case
CASES = [
    elementwise((1, 2, 6), "INT47", "INT16", 2),
    elementwise((1, 2, 6), "UINT40", "INT47", 3, operation="Sub"),
    elementwise((1, 2, 6), "INT48", "UINT47", 1, operation="Max"),
    elementwise((1, 2, 6), "INT24", "UINT24", 2, operation="Mul"),
    elementwise((1, 2, 6), "INT46", "INT24", 2, constant=(6,)),
    elementwise((1, 2, 6), "UINT33", "INT9", 2, constant=(1,), operation="Mul"),
    test_embedded_mvau_rtl.case(6, 4, 3, 2, "INT24", "INT20", output="INT48"),
    test_embedded_vvau_rtl.case(4, (3, 3), 3, 2, "UINT24", "INT16", output="INT48"),
    test_pool_rtl.case("AccPool", 4, 2, kind="INT44", given="INT46"),
    test_pool_rtl.case("MaxPool", 4, 2, kind="INT48"),
    test_global_acc_pool_rtl.case(4, 2, (1, 3, 5), "INT44"),
    test_duplicate_streams_rtl.case(4, 2, 2, "INT48"),
    test_mat_mul_rtl.case((2, 5), (5, 4), 2, 5, ("INT24", "UINT20")),
]


@pytest.mark.slow
def test_models_give_what_float32_does_not_hold():
    model = make_model(CASES)
    golden = golden_tensors(model, CASES, 3, 0)
    for node in model.graph.node:
        for name in node.output:
            values = golden[name]
            assert values.dtype == np.float64, name
            assert (values.astype(np.float32) != values).any(), name
    left, right = (golden[f"c0_in{at}"].astype(int) for at in range(2))
    np.testing.assert_array_equal(golden["c0_out0"].astype(int), left + right)
    rows, columns = (golden[f"c{len(CASES) - 1}_in{at}"].astype(object) for at in range(2))
    np.testing.assert_array_equal(golden[f"c{len(CASES) - 1}_out0"].astype(int), np.matmul(rows, columns))


@pytest.mark.slow
def test_circuits_give_the_same(tmp_path, simulations):
    check_cores(CASES, tmp_path)


def test_a_layer_alone_is_not_simulated_by_finn_which_packs_float32():
    model = make_model([elementwise((1, 4), "INT30", "INT4")])
    layer = getCustomOp(model.graph.node[0])
    layer.set_nodeattr("exec_mode", "rtlsim")
    with pytest.raises(BuildError) as caught:
        layer.execute_node({}, model.graph)
    assert str(caught.value) == (
        "layer 'ElementwiseAddInt_rtl_0' cannot be executed with exec_mode 'rtlsim': FINN packs streams in float32, which "
        "does not hold all of INT30\n  simulate it as part of a stitched design"
    )
