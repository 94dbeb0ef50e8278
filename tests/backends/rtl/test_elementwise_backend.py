"""ElementwiseAddRTL, ElementwiseMaxRTL, ElementwiseMulRTL and ElementwiseSubRTL against FINN's kernels."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.elementwise_add_rtl import ElementwiseAddRTL
from brainsmith.backends.rtl.elementwise_max_rtl import ElementwiseMaxRTL
from brainsmith.backends.rtl.elementwise_mul_rtl import ElementwiseMulRTL
from brainsmith.backends.rtl.elementwise_sub_rtl import ElementwiseSubRTL
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.verification.design_runs import run_design
from tests.backends.rtl.bench import (
    Case,
    bare_layer,
    check_cores,
    law_of_cores,
    lint,
    make_design,
    make_model,
    random_values,
)
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

BACKENDS = {
    "Add": ElementwiseAddRTL,
    "Max": ElementwiseMaxRTL,
    "Mul": ElementwiseMulRTL,
    "Sub": ElementwiseSubRTL,
}
FUNCTIONS = {"Add": np.add, "Max": np.maximum, "Mul": np.multiply, "Sub": np.subtract}
KINDS = ["BIPOLAR", "UINT1", "INT2", "UINT4", "TERNARY", "INT9", "UINT12", "INT12"]


def result_kind(lhs, rhs, operation):
    """Return the narrowest datatype of all results."""
    ends = [int(FUNCTIONS[operation](one, other)) for one in span(lhs) for other in span(rhs)]
    low, high = min(ends), max(ends)
    bits = next(n for n in range(1, 99) if high < (1 << n - (low < 0)) and low >= -(1 << n - 1))
    return f"{'INT' if low < 0 else 'UINT'}{bits}"


def span(kind):
    return int(DataType[kind].min()), int(DataType[kind].max())


def case(shape, lhs, rhs, pe=1, constant=None, first=False, out="", operation="Add", **attributes):
    """Return a case; `constant` is the shape of the constant, which is the first operand if `first`."""
    shapes, styles, kinds = (
        [shape, constant or shape],
        ["input", "const" if constant else "input"],
        [lhs, rhs],
    )
    if first:
        shapes, styles, kinds = shapes[::-1], styles[::-1], kinds[::-1]
    stated = {
        "lhs_shape": shapes[0], "rhs_shape": shapes[1], "out_shape": shape, "lhs_style": styles[0],
        "rhs_style": styles[1], "lhs_dtype": kinds[0], "rhs_dtype": kinds[1],
        "out_dtype": out or result_kind(*kinds, operation),
        "PE": pe, **attributes,
    }  # fmt: skip
    if not constant:
        return Case(f"Elementwise{operation}Int_rtl", [(shape, lhs), (shape, rhs)], stated)
    values = random_values(np.random.default_rng(sum(shape)), rhs, constant)
    fed = [(shape, lhs)]
    return Case(
        f"Elementwise{operation}Int_rtl", fed, stated, constants=[(values, rhs)], constants_first=first
    )


@st.composite
def cases(draw):
    pe = draw(st.integers(1, 4))
    shape = (1, *draw(st.lists(st.integers(1, 4), max_size=2)), pe * draw(st.integers(1, 5)))
    constant = None
    if draw(st.booleans()):
        kept = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
        constant = tuple(size if keep else 1 for size, keep in zip(shape, kept, strict=True))
        constant = constant[draw(st.integers(0, kept.index(True))) :] if any(kept) else (1,)
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=2))
    style = draw(st.sampled_from(["auto", "block", "distributed"]))
    first = bool(constant) and draw(st.booleans())
    return case(
        shape, *kinds, pe, constant, first, operation=draw(st.sampled_from(list(BACKENDS))), ram_style=style
    )


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case((1, 2, 2, 6), "INT4", "UINT4", pe=3),
        case((1, 6), "UINT1", "INT9", pe=1, out="INT32"),
        case((1, 3, 4), "INT8", "INT8", pe=2, constant=(4,)),
        case((1, 3, 4), "INT8", "UINT3", pe=2, constant=(1,), first=True),
        case((1, 2, 3, 4), "UINT8", "INT5", pe=1, constant=(1, 2, 3, 4), ram_style="block"),
        case((1, 2, 3, 4), "UINT8", "INT5", pe=4, constant=(1, 1, 3, 1), first=True),
        case((1, 3, 4), "UINT8", "UINT3", pe=2, constant=(4,), first=True, operation="Sub"),
        case((1, 3, 4), "UINT8", "UINT8", operation="Sub"),
        case((1, 3, 4), "INT8", "UINT4", pe=2, operation="Max"),
        case((1, 3, 4), "INT3", "UINT4", pe=4, constant=(4,), first=True, operation="Max"),
        case((1, 3, 4), "BIPOLAR", "BIPOLAR", operation="Max"),
        case((1, 3, 4), "UINT8", "BIPOLAR", pe=2, constant=(4,), operation="Mul"),
        case((1, 3, 4), "INT12", "UINT12", pe=2, operation="Mul"),
        case((1, 3, 4), "BIPOLAR", "BIPOLAR", pe=4, operation="Mul"),
        case((1, 3, 4), "UINT6", "UINT6", pe=4, operation="Mul"),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=4, least=10, most=20)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.slow
@pytest.mark.parametrize("late", [0, 1])
def test_waits_for_the_operand_that_comes_late(tmp_path, simulations, late):
    from brainsmith.rtl.simulation.simulator_build import build_simulator
    from brainsmith.rtl.stitching.top_module import plan_design

    model, design = make_design([case((1, 2, 4), "INT4", "INT4", pe=2)], tmp_path)
    rng = np.random.default_rng(late)
    fed = {f"c0_in{at}": random_values(rng, "INT4", (6, 1, 2, 4)) for at in (0, 1)}
    stalls = {f"s_axis_{late}": Stalls.random(3, 0.9)}
    run = run_design(build_simulator(plan_design(design), quick=True), design, fed, stalls=stalls)
    np.testing.assert_array_equal(run.outputs["c0_out0"], fed["c0_in0"] + fed["c0_in1"])
    assert model.graph.node[0].op_type == "ElementwiseAddInt_rtl"


REFUSED = {
    "input 0 is FLOAT32, but its core computes with integers only":
        case((1, 4), "INT4", "INT4", out="INT8", lhs_dtype="FLOAT32"),
    "its output is INT4, and sums of INT4 and UINT4 are -8 to 22": case((1, 4), "INT4", "UINT4", out="INT4"),
    "its output is INT7, and products of INT4 and UINT4 are -120 to 105":
        case((1, 4), "INT4", "UINT4", out="INT7", operation="Mul"),
    "its output is UINT4, and differences of UINT4 and UINT4 are -15 to 15":
        case((1, 4), "UINT4", "UINT4", out="UINT4", operation="Sub"),
    "its output is UINT4, and maxima of INT6 and UINT4 are 0 to 31":
        case((1, 4), "INT6", "UINT4", out="UINT4", operation="Max"),
    "its output is BIPOLAR, and products of BIPOLAR and BIPOLAR are -1 to 1":
        case((1, 4), "BIPOLAR", "BIPOLAR", out="BIPOLAR", operation="Mul"),
    "its results are -18014398375264256 to 18014398241046529, and its Python model, in float64, is exact to "
    "9007199254740992 only": case((1, 4), "INT28", "UINT27", operation="Mul"),
    "input 1 is a stream of shape [1, 1, 4] and its output [1, 3, 4]: a stream is not broadcast":
        case((1, 3, 4), "INT4", "INT4", rhs_shape=[1, 1, 4]),
    "its PE is 3, which does not divide 4": case((1, 4), "INT4", "INT4", pe=3),
    "both of its inputs are constants": case((1, 4), "INT4", "INT4", constant=(4,), lhs_style="const"),
    "its constant comes in a stream, but its core holds it: set mem_mode to internal_embedded":
        case((1, 4), "INT4", "INT4", constant=(4,), mem_mode="internal_decoupled"),
    "its ram_style is ultra, and UltraRAM cannot hold a constant from the start":
        case((1, 4), "INT4", "INT4", constant=(4,), ram_style="ultra"),
}  # fmt: skip


@pytest.mark.parametrize("reason", REFUSED)
def test_refuses(reason):
    layer = bare_layer(REFUSED[reason])
    assert type(layer).supports(layer).reason == reason


def test_supports_what_finn_infers():
    node = make_model([case((1, 4), "INT4", "INT4", out="INT32")]).graph.node[0]
    assert ElementwiseAddRTL.supports(getCustomOp(node))


def test_finn_minimises_its_output():
    model = make_model([case((1, 4), "INT4", "UINT4", out="INT32")])
    layer = getCustomOp(model.graph.node[0])
    assert layer.minimize_accumulator_width(model).name == "INT6"
    assert layer.cpp_op == "({0} + {1})"
    layer.infer_node_datatype(model)
    assert model.get_tensor_datatype("c0_out0").name == "INT6"


def test_folding_divides_the_last_axis():
    layer = getCustomOp(make_model([case((1, 2, 6), "INT4", "INT4")]).graph.node[0])
    (one,) = layer.parallelism()
    assert (one.attribute, one.values, one.window) == ("PE", (1, 2, 3, 6), "")


PARAMETERS = [
    {
        "OPERATION": "MUL",
        "PE": 2,
        "FED": 2,
        "A_BITS": 4,
        "A_KIND": 0,
        "B_BITS": 9,
        "B_KIND": 0,
        "OUT_BITS": 13,
    },
    {
        "OPERATION": "MUL",
        "PE": 1,
        "FED": 2,
        "A_BITS": 1,
        "A_KIND": 2,
        "B_BITS": 9,
        "B_KIND": 0,
        "OUT_BITS": 10,
    },
    {
        "OPERATION": "RSB",
        "PE": 2,
        "FED": 1,
        "A_BITS": 4,
        "B_BITS": 4,
        "OUT_BITS": 5,
        "DEPTH": 3,
        "TABLE": "x.dat",
    },
    {
        "OPERATION": "SUB",
        "PE": 2,
        "FED": 2,
        "A_BITS": 4,
        "A_KIND": 0,
        "B_BITS": 4,
        "B_KIND": 0,
        "OUT_BITS": 5,
    },
    {"OPERATION": "MAX", "PE": 2, "FED": 2, "A_BITS": 8, "B_BITS": 4, "B_KIND": 0, "OUT_BITS": 7},
    {"PE": 1, "FED": 2, "A_BITS": 1, "B_BITS": 1, "OUT_BITS": 2},
    {"PE": 3, "FED": 2, "A_BITS": 4, "A_KIND": 0, "B_BITS": 9, "OUT_BITS": 32},
    {"PE": 2, "FED": 1, "A_BITS": 4, "B_BITS": 4, "B_KIND": 0, "OUT_BITS": 6, "DEPTH": 1, "TABLE": "x.dat"},
    {"PE": 1, "FED": 1, "A_BITS": 4, "B_BITS": 4, "OUT_BITS": 5, "DEPTH": 2, "TABLE": "x.dat"},
    {
        "PE": 4,
        "FED": 1,
        "A_BITS": 4,
        "B_BITS": 4,
        "OUT_BITS": 5,
        "DEPTH": 37,
        "TABLE": "x.dat",
        "STYLE": "block",
    },
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_lint_is_silent(parameters):
    assert lint(ElementwiseAddRTL, parameters) == ""


MEASURED = [
    case((1, 4, 8), "INT4", "INT4", pe=4),
    case((1, 4, 8), "UINT8", "INT12", pe=8),
    case((1, 4, 64), "INT8", "INT8", pe=4, constant=(64,)),
    case((1, 4, 64), "INT8", "INT8", pe=4, constant=(1,)),
    case((1, 64, 64), "INT8", "INT16", pe=2, constant=(1, 64, 64)),
    case((1, 4, 32), "INT8", "INT8", pe=1, constant=(32,)),
    case((1, 4, 8), "INT8", "UINT4", pe=4),
    case((1, 4, 8), "UINT4", "INT4", pe=4, out="INT32"),
    case((1, 4, 64), "INT8", "INT4", pe=16, constant=(64,)),
    case((1, 4, 64), "INT8", "INT4", pe=32, constant=(64,)),
    case((1, 4, 96), "INT8", "INT4", pe=32, constant=(96,)),
    case((1, 4, 64), "UINT4", "UINT4", pe=16, constant=(64,)),
    case((1, 4, 8), "INT8", "INT8", pe=4, operation="Sub"),
    case((1, 4, 8), "INT8", "INT8", pe=4, operation="Mul"),
    case((1, 4, 8), "INT8", "INT8", pe=4, operation="Max"),
    case((1, 4, 8), "INT4", "INT4", pe=8, operation="Max"),
    case((1, 4, 8), "UINT4", "INT16", pe=4, operation="Max"),
    case((1, 4, 8), "UINT4", "INT4", pe=4, operation="Mul"),
    case((1, 4, 16), "INT3", "INT3", pe=8, operation="Mul"),
    case((1, 4, 16), "UINT3", "INT4", pe=8, operation="Mul"),
    case((1, 4, 16), "UINT2", "UINT3", pe=8, operation="Mul"),
    case((1, 4, 8), "UINT8", "BIPOLAR", pe=4, operation="Mul"),
    case((1, 4, 8), "UINT4", "INT3", pe=4, constant=(8,), operation="Mul"),
    case((1, 4, 64), "INT8", "UINT2", pe=4, constant=(64,), operation="Mul"),
    case((1, 4, 64), "UINT4", "INT4", pe=4, constant=(1,), operation="Mul"),
    case((1, 4, 64), "INT8", "INT8", pe=2, constant=(64,), operation="Mul"),
]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated(MEASURED, tmp_path)
