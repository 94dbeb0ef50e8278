"""PoolRTL against FINN's Pool."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.pool_rtl import PoolRTL
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import RTL, Case, check_cores, lint
from tests.backends.rtl.stated import assert_as_stated


def case(function, channels, pe, kernel=(2, 2), kind="INT4", given=None, size=(2, 3), batch=1):
    attributes = {
        "Function": function, "Channels": channels, "PE": pe, "KernelSize": list(kernel), "OutImgDims": list(size),
        "InputDataType": kind, "OutputDataType": given or kind, "BatchSize": batch,
    }  # fmt: skip
    return Case("Pool_rtl", [((batch, *size, kernel[0] * kernel[1] * channels), kind)], attributes)


def sum_of(kind, values):
    """Return the smallest datatype that holds a sum."""
    low, high = values * DataType[kind].min(), values * DataType[kind].max()
    bits = 1
    while not (low >= DataType[f"INT{bits + 1}"].min() and high <= DataType[f"INT{bits + 1}"].max()):
        bits += 1
    return f"INT{bits + 1}" if low < 0 else f"UINT{bits}"


@st.composite
def cases(draw):
    function = draw(st.sampled_from(["MaxPool", "AccPool", "QuantAvgPool"]))
    pe = draw(st.integers(1, 4))
    kernel = draw(st.sampled_from([(1, 1), (2, 2), (3, 3), (1, 2), (3, 1)]))
    kinds = ["INT2", "UINT4", "INT7", "UINT13"]
    kinds += [] if function == "QuantAvgPool" else ["BINARY", "BIPOLAR", "TERNARY"]
    kind = draw(st.sampled_from(kinds))
    given = None
    if function == "AccPool":
        given = sum_of(kind, kernel[0] * kernel[1])
    if function == "QuantAvgPool":
        given = draw(st.sampled_from([kind, sum_of(kind, 2 * kernel[0] * kernel[1])]))
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 4)))
    channels = pe * draw(st.integers(1, 4))
    return case(function, channels, pe, kernel, kind, given, size, draw(st.integers(1, 2)))


def node_of(function, kind, given, kernel=(2, 2)):
    node = helper.make_node(
        "Pool_rtl", ["x"], ["y"], domain=RTL, Function=function, Channels=12, PE=1, KernelSize=kernel,
        OutImgDims=[2, 2], InputDataType=kind, OutputDataType=given,
    )  # fmt: skip
    return getCustomOp(node)


def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case("MaxPool", 4, 2, kind="BIPOLAR"),
        case("MaxPool", 3, 1, (3, 3), kind="BINARY"),
        case("MaxPool", 6, 3, (1, 3), kind="INT5"),
        case("MaxPool", 2, 2, kind="UINT8"),
        case("MaxPool", 2, 1, (1, 1), kind="INT3"),
        case("AccPool", 4, 2, (3, 3), kind="INT4", given="INT9"),
        case("AccPool", 2, 1, kind="BIPOLAR", given="INT4"),
        case("AvgPool", 2, 1, (1, 1), kind="INT3"),
        case("QuantAvgPool", 4, 1, kind="UINT4"),
        case("QuantAvgPool", 4, 4, (3, 3), kind="INT6", batch=2),
        case("QuantAvgPool", 2, 2, (3, 3), kind="BIPOLAR", given="INT5"),
        case("QuantAvgPool", 2, 1, (3, 3), kind="TERNARY", given="INT4"),
        case("QuantAvgPool", 2, 1, (3, 3), kind="BINARY", given="UINT2"),
    ]
    check_cores(chosen, tmp_path, simulations)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(cases(), min_size=6, max_size=12), seed=st.integers(0, 1000))
def test_computes_what_finn_computes(tmp_path_factory, simulations, drawn, seed):
    check_cores(drawn, tmp_path_factory.mktemp("drawn"), simulations, seed=seed)


@pytest.mark.parametrize(
    ("function", "kind", "given", "kernel"),
    [
        ("MaxPool", "BIPOLAR", "BIPOLAR", (2, 2)),
        ("MaxPool", "BINARY", "BINARY", (2, 2)),
        ("AccPool", "UINT4", "UINT6", (2, 2)),
        ("AccPool", "BIPOLAR", "INT4", (2, 2)),
        ("AvgPool", "INT4", "INT4", (1, 1)),
        ("QuantAvgPool", "INT4", "INT4", (3, 3)),
        ("QuantAvgPool", "BIPOLAR", "INT5", (3, 3)),
    ],
)
def test_what_it_computes_is_supported(function, kind, given, kernel):
    support = PoolRTL.supports(node_of(function, kind, given, kernel))
    assert support, support.reason


@pytest.mark.parametrize(
    ("function", "kind", "given", "kernel", "reason"),
    [
        ("MaxPool", "FLOAT32", "FLOAT32", (2, 2), "input 0 is FLOAT32, and its core computes with integers"),
        (
            "MaxPool", "INT4", "INT5", (2, 2),
            "it takes INT4 and gives INT5, and a greatest value is one of those taken",
        ),
        (
            "QuantAvgPool", "INT4", "UINT4", (2, 2),
            "it takes INT4 and gives UINT4; both must have a sign, or none",
        ),
        (
            "AvgPool", "INT4", "INT4", (2, 2),
            "an AvgPool of 4 values gives fractions, and its core computes with integers",
        ),
        ("QuantAvgPool", "BIPOLAR", "INT3", (3, 3), "its results are -5 to 4, which INT3 cannot hold"),
        ("AccPool", "UINT4", "UINT5", (2, 2), "its results are 0 to 60, which UINT5 cannot hold"),
        ("AccPool", "BIPOLAR", "UINT3", (2, 2), "its results are -4 to 4, which UINT3 cannot hold"),
        ("AccPool", "BIPOLAR", "BIPOLAR", (1, 1), "its results are -1 to 1, which BIPOLAR cannot hold"),
    ],
)  # fmt: skip
def test_what_it_does_not_compute_is_refused(function, kind, given, kernel, reason):
    assert PoolRTL.supports(node_of(function, kind, given, kernel)).reason == reason


def test_the_window_in_front_has_as_many_lanes():
    values = (1, 2, 3, 4, 6, 12)
    assert node_of("MaxPool", "INT4", "INT4").parallelism() == (Parallelism("PE", values, "SIMD"),)
    assert node_of("MaxPool", "INT4", "INT4", (1, 1)).parallelism() == (Parallelism("PE", values),)


LEAST = {"PE": 1, "WINDOW": 1, "IN_BITS": 1, "ACC_BITS": 1, "OUT_BITS": 1}
SUMS = {"SUM": 1, "PE": 3, "WINDOW": 9, "IN_BITS": 4, "ACC_BITS": 8}


@pytest.mark.parametrize(
    "parameters",
    [
        LEAST,
        LEAST | {"SIGNED": 1},
        LEAST | {"BIPOLAR": 1},
        LEAST | {"SUM": 1},
        LEAST | {"SUM": 1, "SIGNED": 1, "BIPOLAR": 1, "WINDOW": 4, "ACC_BITS": 4, "OUT_BITS": 6},
        SUMS | {"OUT_BITS": 8},
        SUMS | {"OUT_BITS": 4, "SHIFT": 4},
        SUMS | {"OUT_BITS": 4, "SHIFT": 4, "SIGNED": 1},
        SUMS | {"OUT_BITS": 12, "SHIFT": 1, "SIGNED": 1},
        {"PE": 5, "WINDOW": 6, "SIGNED": 1},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(PoolRTL, parameters) == ""


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case("MaxPool", 8, 8, kind="UINT4"),
        case("MaxPool", 64, 64, kind="BIPOLAR"),
        case("MaxPool", 16, 16, (3, 3), kind="INT8"),
        case("MaxPool", 4, 1, kind="INT32"),
        case("MaxPool", 8, 8, (1, 1), kind="INT4"),
        case("AccPool", 8, 8, kind="BIPOLAR", given="INT4"),
        case("AccPool", 8, 8, (3, 3), kind="INT4", given="INT9"),
        case("QuantAvgPool", 16, 4, (7, 7), kind="UINT8"),
    ]
    assert_as_stated(chosen, tmp_path)
