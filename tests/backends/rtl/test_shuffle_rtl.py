"""ShuffleRTL against the Shuffle kernel."""

from math import prod

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.shuffle_rtl import ShuffleRTL
from brainsmith.kernels.axes import Loop
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import assert_beats_as_scheduled, law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(in_shape, shape, perm, out_shape=None, simd=1, kind="INT4"):
    attributes = {
        "in_shape": in_shape, "transpose_in_shape": shape, "perm": perm, "SIMD": simd, "inputDataType": kind,
        "out_shape": out_shape or [shape[axis] for axis in perm],
    }  # fmt: skip
    return Case("ShuffleRTL", [(tuple(in_shape), kind)], attributes, domain="brainsmith.backends.rtl")


def instance(one):
    return getCustomOp(make_model([one]).graph.node[0])


IN_BANKS = {
    "two words in the last": case((41, 25), (41, 25), (1, 0), kind="INT18"),
    "three of 4096 words": case((12, 6, 6, 12), (12, 6, 6, 12), (1, 3, 0, 2), kind="INT8"),
}
"""Words that are chosen from several block RAMs."""


@st.composite
def cases(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    perm = draw(st.permutations(range(len(shape))))
    if prod(shape) < 2:
        shape = [3, *shape[1:]]
    kind = draw(st.sampled_from(["UINT1", "INT3", "UINT8", "BIPOLAR", "INT20"]))
    flat = draw(st.booleans())
    drawn = case([prod(shape)] if flat else shape, shape, perm, [prod(shape)] if flat else None, 1, kind)
    limit = instance(drawn).lanes_limit()
    drawn.attributes["SIMD"] = draw(st.sampled_from([one for one in range(1, limit + 1) if limit % one == 0]))
    return drawn


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case((8, 32), (8, 2, 16), (1, 0, 2), simd=4),
        case((8, 32), (8, 2, 16), (1, 2, 0)),
        case((2, 8, 16), (2, 8, 16), (1, 0, 2), (8, 32), 16, "UINT8"),
        case((2, 3, 4), (2, 3, 4), (0, 2, 1)),
        case((2, 3), (2, 3), (0, 1), kind="BIPOLAR"),
        case((4, 6, 2), (2, 2, 2, 3, 2), (0, 2, 1, 3, 4), simd=2),
        case((2, 2, 2, 2, 2), (2, 2, 2, 2, 2), (4, 3, 2, 1, 0)),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=3, least=8, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=4, least=4, most=8)


@pytest.mark.slow
@pytest.mark.compiles(tried=1)
def test_pages_in_block_ram_move_when_the_schedule_says(tmp_path, simulations):
    chosen = [
        case((8, 32), (8, 2, 16), (1, 2, 0)), case((5, 28), (5, 28), (1, 0), kind="INT20"), *IN_BANKS.values()
    ]  # fmt: skip
    assert [instance(one).in_blocks() for one in chosen] == [True] * 4
    assert [instance(one).in_banks() for one in chosen] == [False, False, True, True]
    assert_beats_as_scheduled(chosen, tmp_path)


@pytest.mark.slow
def test_pages_in_several_block_rams(tmp_path, simulations):
    check_cores(list(IN_BANKS.values()), tmp_path)


NONE = {f"SIZE{at}": 1 for at in range(5)} | {f"STRIDE{at}": 0 for at in range(5)}


@pytest.mark.parametrize(
    "parameters",
    [
        {**NONE, "BITS": 1, "WORDS": 1},
        {**NONE, "WORDS": 2, "SIZE4": 2, "STRIDE4": 1},
        {"BITS": 33, "BLOCK": 1},
        {"BITS": 33, "BLOCK": 1, "BANK": 4},
        {
            **NONE,
            "WORDS": 32,
            **{f"SIZE{at}": 2 for at in range(5)},
            **{f"STRIDE{at}": 1 << at for at in range(5)},
        },
    ],
)
def test_lint_is_silent(parameters):
    assert lint(ShuffleRTL, parameters) == ""


def test_a_page_is_what_moves():
    whole = instance(case((8, 2, 16), (8, 2, 16), (1, 0, 2), simd=2))
    assert whole.page() == (128, (Loop(2, 8), Loop(8, 16), Loop(8, 1)))
    assert instance(case((3, 2, 8), (3, 2, 8), (0, 2, 1))).page() == (16, (Loop(8, 1), Loop(2, 8)))
    assert instance(case((2, 3), (2, 3), (0, 1))).page() == (1, ())
    assert instance(case((8, 2, 16), (8, 2, 16), (1, 0, 2), simd=16)).page() == (16, (Loop(2, 1), Loop(8, 2)))


def test_more_loops_than_the_core_has_are_refused():
    six = instance(case([2] * 6, [2] * 6, [5, 4, 3, 2, 1, 0]))
    assert ShuffleRTL.supports(six).reason == "its transpose needs 6 nested loops, and the core has 5"
    floats = instance(case((2, 3), (2, 3), (1, 0), kind="FLOAT32"))
    assert (
        ShuffleRTL.supports(floats).reason == "input 0 is FLOAT32, but its core computes with integers only"
    )
    assert ShuffleRTL.supports(instance(case((2, 3), (2, 3), (1, 0))))


def test_what_folding_may_raise():
    (lanes,) = instance(case((8, 32), (8, 2, 16), (1, 0, 2))).parallelism()
    assert (lanes.attribute, lanes.values) == ("SIMD", (1, 2, 4, 8, 16))
    (one,) = instance(case((8, 32), (8, 2, 16), (1, 2, 0))).parallelism()
    assert one.values == (1,)


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case((8, 32), (8, 2, 16), (1, 0, 2), simd=4, kind="INT8"),
        case((8, 32), (8, 2, 16), (1, 2, 0), kind="INT8"),
        case((2,) * 5, (2,) * 5, (4, 3, 2, 1, 0), kind="INT5"),
        *IN_BANKS.values(),
    ]
    assert_as_stated(chosen, tmp_path, exact=["bram18"])
