"""CropRTL against the Crop kernel."""

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.crop_rtl import CropRTL
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.stated import assert_as_stated


def case(shape, starts, sizes, out_shape=None, simd=1, kind="INT4", within=()):
    attributes = {
        "in_shape": shape, "within_shape": within or shape, "starts": starts, "sizes": sizes,
        "out_shape": out_shape or sizes, "SIMD": simd, "inputDataType": kind,
    }  # fmt: skip
    return Case("CropRTL", [(tuple(shape), kind)], attributes, domain="brainsmith.backends.rtl")


def instance(one):
    return getCustomOp(make_model([one]).graph.node[0])


@st.composite
def cases(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    starts = [draw(st.integers(0, size - 1)) for size in shape]
    sizes = [draw(st.integers(1, size - start)) for start, size in zip(starts, shape, strict=True)]
    lanes = draw(st.integers(1, 3))
    last = [values.pop() * lanes for values in (shape, starts, sizes)]
    full = [[*values, end] for values, end in zip((shape, starts, sizes), last, strict=True)]
    kind = draw(st.sampled_from(["UINT4", "INT3", "UINT8", "BIPOLAR", "INT20"]))
    return case([2, *full[0]], [0, *full[1]], [2, *full[2]], None, lanes, kind)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case((8, 32), (3, 0), (1, 32), (32,), 4),
        case((4, 5, 6), (1, 2, 0), (2, 2, 6), simd=3),
        case((4, 5, 6), (1, 0, 2), (2, 5, 4), simd=2),
        case((7,), (2,), (3,), kind="BIPOLAR"),
        case((3, 2), (0, 0), (3, 2)),
        case((2, 4, 5, 6), (0, 1, 2, 3), (2, 2, 2, 2)),
        case((1, 6, 9, 4), [0] * 6, (1, 3, 1, 3, 2, 4), (1, 3, 6, 4), 2, within=(1, 3, 2, 3, 3, 4)),
        case((1, 7, 9, 3), [0] * 6, (1, 7, 1, 2, 1, 3), (1, 7, 2, 3), within=(1, 7, 1, 3, 3, 3)),
    ]
    check_cores(chosen, tmp_path, simulations)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=4, least=8, most=12)


@pytest.mark.parametrize(
    "parameters",
    [
        {"BITS": 1},
        {"SIZE4": 1, "FIRST4": 0, "LAST4": 0},
        {"SIZE0": 3, "FIRST0": 1, "LAST0": 1, "SIZE5": 5, "FIRST5": 0, "LAST5": 4},
        {"SIZE1": 7, "LAST1": 6, "SIZE3": 2, "LAST3": 0},
    ],
)
def test_lint_is_silent(parameters):
    assert lint(CropRTL, parameters) == ""


def test_axes_that_are_kept_whole_are_one_loop():
    found = instance(case((2, 3, 8, 4, 16), (0, 0, 3, 0, 0), (2, 3, 1, 4, 16), simd=4)).core_parameters()
    none = {f"SIZE{at}": 1 for at in range(4)} | {
        f"{end}{at}": 0 for at in range(4) for end in ("FIRST", "LAST")
    }
    assert {name: found[name] for name in found if name != "BITS"} == none | {
        "SIZE4": 8, "SIZE5": 16, "FIRST4": 3, "FIRST5": 0, "LAST4": 3, "LAST5": 15,
    }  # fmt: skip


def test_more_loops_than_the_core_has_are_refused():
    seven = instance(case((3,) * 7, (1,) * 7, (1,) * 7))
    assert CropRTL.supports(seven).reason == "its window needs 7 nested loops, and the core has 6"
    floats = instance(case((3, 2), (1, 0), (1, 2), kind="FLOAT32"))
    assert CropRTL.supports(floats).reason == "input 0 is FLOAT32, but its core computes with integers only"
    assert CropRTL.supports(instance(case((3, 2), (1, 0), (1, 2))))


def test_what_folding_may_raise():
    (lanes,) = instance(case((8, 32), (3, 8), (1, 24))).parallelism()
    assert (lanes.attribute, lanes.values) == ("SIMD", (1, 2, 4, 8))


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case((8, 32), (3, 0), (1, 32), (32,), 4),
        case((100, 200, 16), (10, 20, 0), (80, 160, 16)),
        case((10, 4, 20, 6), (2, 0, 1, 2), (5, 4, 12, 2)),
        case((8, 8, 16), (1, 1, 0), (6, 6, 16), simd=4, kind="INT8"),
        case((28, 28, 8), (2, 2, 0), (24, 24, 8), simd=8),
        case((3, 9), (1, 2), (1, 5)),
        case(
            (1, 28, 28, 16), [0] * 6, (1, 14, 1, 14, 1, 16), (1, 14, 14, 16), 4, within=(1, 14, 2, 14, 2, 16)
        ),
    ]
    assert_as_stated(chosen, tmp_path)
