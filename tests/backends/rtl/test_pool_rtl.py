"""PoolRTL against FINN's Pool."""

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.pool import InferPool
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.pool_rtl import PoolRTL
from brainsmith.execution.execute import Executor
from brainsmith.rtl.cores.parallelism import Parallelism
from brainsmith.steps.bit_widths import minimise_bit_widths
from tests.backends.rtl.bench import RTL, Case, check_cores, law_of_cores, lint, make_model, random_values
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(function, channels, pe, kernel=(2, 2), kind="INT4", given=None, size=(2, 3), batch=1, shift=2):
    attributes = {
        "Function": function, "Channels": channels, "PE": pe, "KernelSize": list(kernel), "OutImgDims": list(size),
        "InputDataType": kind, "OutputDataType": given or kind, "BatchSize": batch,
        "Size": shift if function == "QuantAvgPool" else 0,
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
    given, shift = None, draw(st.integers(0, 9))
    if function != "MaxPool":
        given = sum_of(kind, kernel[0] * kernel[1])
    if function == "QuantAvgPool" and shift >= 4:  # 9 values at most
        given = draw(st.sampled_from([kind, given]))
    size = (draw(st.integers(1, 3)), draw(st.integers(1, 4)))
    channels = pe * draw(st.integers(1, 4))
    return case(function, channels, pe, kernel, kind, given, size, draw(st.integers(1, 2)), shift)


def node_of(function, kind, given, kernel=(2, 2), shift=2):
    node = helper.make_node(
        "Pool_rtl", ["x"], ["y"], domain=RTL, Function=function, Channels=12, PE=1, KernelSize=kernel,
        OutImgDims=[2, 2], InputDataType=kind, OutputDataType=given, Size=shift,
    )  # fmt: skip
    return getCustomOp(node)


@pytest.mark.slow
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
        case("QuantAvgPool", 4, 4, (3, 3), kind="INT6", batch=2, shift=4),
        case("QuantAvgPool", 2, 2, (3, 3), kind="BIPOLAR", given="INT5", shift=0),
        case("QuantAvgPool", 2, 1, (3, 3), kind="TERNARY", given="INT4", shift=1),
        case("QuantAvgPool", 2, 1, (3, 3), kind="BINARY", given="UINT2"),
        case("QuantAvgPool", 2, 1, kind="INT2", given="INT2", shift=9),  # every sum is gone, but for its sign
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=6, least=6, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.parametrize(
    ("function", "kind", "given", "kernel"),
    [
        ("MaxPool", "BIPOLAR", "BIPOLAR", (2, 2)),
        ("MaxPool", "BINARY", "BINARY", (2, 2)),
        ("AccPool", "UINT4", "UINT6", (2, 2)),
        ("AccPool", "BIPOLAR", "INT4", (2, 2)),
        ("AvgPool", "INT4", "INT4", (1, 1)),
        ("QuantAvgPool", "INT4", "INT6", (3, 3)),
        ("QuantAvgPool", "BIPOLAR", "INT4", (3, 3)),
    ],
)
def test_what_it_computes_is_supported(function, kind, given, kernel):
    support = PoolRTL.supports(node_of(function, kind, given, kernel))
    assert support, support.reason


@pytest.mark.parametrize(
    ("function", "kind", "given", "kernel", "reason"),
    [
        ("MaxPool", "FLOAT32", "FLOAT32", (2, 2), "input 0 is FLOAT32, but its core computes with integers only"),
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
            "an AvgPool of 4 values gives fractions, but its core computes with integers only",
        ),
        ("QuantAvgPool", "BIPOLAR", "INT2", (3, 3), "its results are -3 to 2, which INT2 cannot hold"),
        ("AccPool", "UINT4", "UINT5", (2, 2), "its results are 0 to 60, which UINT5 cannot hold"),
        ("AccPool", "BIPOLAR", "UINT3", (2, 2), "its results are -4 to 4, which UINT3 cannot hold"),
        ("AccPool", "BIPOLAR", "BIPOLAR", (1, 1), "its results are -1 to 1, which BIPOLAR cannot hold"),
    ],
)  # fmt: skip
def test_what_it_does_not_compute_is_refused(function, kind, given, kernel, reason):
    assert PoolRTL.supports(node_of(function, kind, given, kernel)).reason == reason


@pytest.mark.parametrize("kind", ["TERNARY", "BIPOLAR", "INT4", "UINT4"])
@pytest.mark.parametrize("specialised", [False, True])
def test_sums_keep_a_datatype_that_holds_them(kind, specialised):
    one = case("AccPool", 2, 1, kind=kind, given="INT9")
    if not specialised:
        one.op_type, one.domain = "Pool", "finn.custom_op.fpgadataflow"
    model = minimise_bit_widths(make_model([one]), object())
    layer = getCustomOp(model.graph.node[0])
    assert PoolRTL.supports(layer), PoolRTL.supports(layer).reason
    assert layer.get_nodeattr("OutputDataType") == sum_of(kind, 4)
    assert model.get_tensor_datatype("c0_out0") == DataType[sum_of(kind, 4)]


def average_model(kind, ibits, signed=0):
    """Return a model of one QuantAvgPool2d of 2 x 2 pixels with stride 2, and an image."""
    value, given = helper.make_tensor_value_info, f"{'INT' if signed else 'UINT'}4"
    node = helper.make_node(
        "QuantAvgPool2d", ["x"], ["y"], domain="qonnx.custom_op.general", stride=2, kernel=2, ibits=ibits, obits=4,
        signed=signed, data_layout="NHWC",
    )  # fmt: skip
    ends = [value("x", 1, [1, 4, 4, 2])], [value("y", 1, [1, 2, 2, 2])]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("qonnx.custom_op.general", 1)]
    model = ModelWrapper(helper.make_model(helper.make_graph([node], "mean", *ends), opset_imports=opsets))
    model.set_tensor_datatype("x", DataType[kind])
    model.set_tensor_datatype("y", DataType[given])
    return model, random_values(np.random.default_rng(3), kind, (1, 4, 4, 2)).astype(np.float32)


AVERAGES = [("UINT4", 4, 0), ("UINT4", 8, 0), ("UINT3", 4, 0), ("INT4", 4, 1), ("INT3", 6, 1)]


@pytest.mark.parametrize(("kind", "ibits", "signed"), AVERAGES)
@pytest.mark.slow
def test_a_quantised_mean_is_that_of_the_onnx_operator(kind, ibits, signed):
    model, image = average_model(kind, ibits, signed)
    wanted = execute_onnx(model, {"x": image})["y"]
    inferred = model.transform(InferPool())
    assert_means(inferred, image, wanted)
    pool = next(node for node in inferred.graph.node if node.op_type == "Pool")
    pool.op_type, pool.domain = "Pool_rtl", RTL
    layer = getCustomOp(pool)
    assert PoolRTL.supports(layer), PoolRTL.supports(layer).reason
    taken = execute_onnx(inferred, {"x": image}, return_full_exec_context=True)
    assert np.array_equal(taken["y"], wanted)


def assert_means(model, image, wanted):
    """Assert what the executor computes, with all samples at once too."""
    found = Executor(model).run({"x": np.stack([image, image])})
    assert np.array_equal(found["y"], np.stack([wanted, wanted]))


@pytest.mark.slow
def test_a_narrower_input_changes_no_mean():
    model = make_model([case("QuantAvgPool", 2, 1, kind="INT9", given="INT8")])
    image = {"c0_in0": random_values(np.random.default_rng(1), "INT5", (1, 2, 3, 8)).astype(np.float32)}
    before = execute_onnx(model, image)["c0_out0"]
    model.set_tensor_datatype("c0_in0", DataType["INT5"])
    model = minimise_bit_widths(model, object())
    layer = getCustomOp(model.graph.node[0])
    assert (layer.get_input_datatype().name, layer.core_parameters()["ACC_BITS"]) == ("INT5", 7)
    assert np.array_equal(execute_onnx(model, image)["c0_out0"], before)


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
        case("QuantAvgPool", 16, 4, (7, 7), kind="UINT8", shift=6),
    ]
    assert_as_stated(chosen, tmp_path)
