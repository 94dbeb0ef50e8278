"""CropRTL against the Crop kernel."""

import pytest
from hypothesis import strategies as st

from tests.backends.rtl.bench import Case, check_cores, law_of_cores
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(shape, starts, sizes, out_shape=None, simd=1, kind="INT4", within=()):
    attributes = {
        "in_shape": shape, "within_shape": within or shape, "starts": starts, "sizes": sizes,
        "out_shape": out_shape or sizes, "SIMD": simd, "inputDataType": kind,
    }  # fmt: skip
    return Case("CropRTL", [(tuple(shape), kind)], attributes, domain="brainsmith.backends.rtl")


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
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=3, least=8, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


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
