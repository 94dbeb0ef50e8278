"""A core whose results a float64 does not hold exactly is refused: its Python model would be wrong, not the core."""

import pytest
from qonnx.custom_op.registry import getCustomOp

from tests.backends.rtl import (
    test_binary_mvau_rtl,
    test_duplicate_streams_rtl,
    test_elementwise_backend,
    test_global_acc_pool_rtl,
    test_mat_mul_rtl,
    test_pool_rtl,
    test_shuffle_rtl,
)
from tests.backends.rtl.bench import make_model

INEXACT = {
    "sums of a window": (
        test_pool_rtl.case("AccPool", 1, 1, kind="INT53", given="INT55"),
        -(2**54),
        2**54 - 4,
    ),
    "sums of an image": (test_global_acc_pool_rtl.case(1, 1, (1, 2, 2), "UINT52"), 0, 2**54 - 4),
    "sums of two": (test_elementwise_backend.case((1, 4), "INT54", "INT4"), -(2**53) - 8, 2**53 + 6),
    "products": (test_mat_mul_rtl.case((1, 4), (4, 1), 1, 1, ("UINT27", "UINT26")), 0, 2**55 - 1),
}

EXACT = {
    "sums of two": test_elementwise_backend.case((1, 4), "INT53", "INT53"),
    "shifted sums": test_pool_rtl.case("QuantAvgPool", 1, 1, kind="UINT24", given="UINT24"),
    "products of bits": test_binary_mvau_rtl.case(4, 1, 1, 1, "INT24", output="INT32"),
    "greatest values": test_pool_rtl.case("MaxPool", 1, 1, kind="INT32"),
    "copies": test_duplicate_streams_rtl.case(4, 2, 2, "INT32"),
    "moves": test_shuffle_rtl.case((2, 3), (2, 3), (1, 0), kind="INT32"),
}


def supports(case):
    layer = getCustomOp(make_model([case]).graph.node[0])
    return type(layer).supports(layer)


@pytest.mark.parametrize("name", INEXACT)
def test_results_that_float64_rounds_are_refused(name):
    case, low, high = INEXACT[name]
    assert supports(case).reason == (
        f"its results are {low} to {high}, and its Python model, in float64, is exact to 9007199254740992 only"
    )


@pytest.mark.parametrize("name", EXACT)
def test_results_that_it_holds_and_values_that_only_move_are_not(name):
    assert supports(EXACT[name]), supports(EXACT[name]).reason
