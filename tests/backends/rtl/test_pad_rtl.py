"""PadRTL against the Pad kernel."""

import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.pad_rtl import PadRTL
from brainsmith.rtl.cores.integers import padded_datatype
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(shape, before, after, value=0, simd=1, kind="INT4", within=(), out_shape=None, given=None):
    out = [low + size + high for low, size, high in zip(before, within or shape, after, strict=True)]
    attributes = {
        "in_shape": shape, "before": before, "after": after, "value": value, "within_shape": within or shape,
        "out_shape": out_shape or out, "SIMD": simd, "inputDataType": kind,
        "outputDataType": given or padded_datatype(DataType[kind], value).name,
    }  # fmt: skip
    return Case("PadRTL", [(tuple(shape), kind)], attributes, domain="brainsmith.backends.rtl")


def instance(one):
    return getCustomOp(make_model([one]).graph.node[0])


KINDS = {
    "UINT4": (0, 15),
    "INT3": (-4, 3),
    "UINT8": (-1, 300),
    "BIPOLAR": (-1, 1),
    "INT20": (-9, 0),
    "TERNARY": (-2, 1),
}
"""Datatypes, and values that some of them do not hold; BIPOLAR holds both of its own."""


@st.composite
def cases(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    before, after = ([draw(st.integers(0, 3)) for _ in shape] for _ in range(2))
    lanes = draw(st.integers(1, 3))
    for values in (shape, before, after):
        values[-1] *= lanes
    kind = draw(st.sampled_from(sorted(KINDS)))
    value = draw(st.sampled_from(KINDS[kind]))
    return case([2, *shape], [0, *before], [0, *after], value, lanes, kind)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case((1, 3, 4, 6), (0, 1, 1, 0), (0, 1, 1, 0), -8, 3),
        case((1, 3, 4, 6), (0, 2, 0, 0), (0, 0, 3, 0), -9),
        case((4, 6), (0, 2), (0, 4), 7, 2),
        case((7,), (2,), (0,), 1, kind="BIPOLAR"),
        case((7,), (0,), (2,), -1, kind="BIPOLAR"),
        case((3, 2), (0, 0), (0, 0)),
        case(
            (1, 3, 4, 2),
            [0] * 6,
            (0, 0, 1, 0, 2, 0),
            within=(1, 3, 1, 4, 1, 2),
            out_shape=(1, 6, 12, 2),
            simd=2,
        ),
        case((2, 2, 2, 2, 2), (1,) * 5, (1,) * 5, kind="UINT3"),
        case((1, 4), (0, 2), (0, 2), 40, kind="UINT3"),
        case((1, 4), (0, 2), (0, 2), -1, kind="UINT3"),
    ]
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=3, least=8, most=12)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


def test_a_beat_is_padded_with_the_code_of_the_value():
    found = instance(case((1, 8, 4, 4, 16), (0, 1, 0, 0, 0), (0, 2, 0, 0, 0), -5, simd=4)).core_parameters()
    numbers = {"SIMD": 4, "IN_BITS": 4, "OUT_BITS": 4, "SIGNED": 1, "VALUE": 11}
    assert {name: found[name] for name in numbers} == numbers


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (case((3, 2), (1, 0), (1, 2), -9, given="INT4"), "it pads with -9, which INT4 does not hold"),
        (case((3, 2), (1, 0), (1, 2), kind="BIPOLAR"), "it takes the bits of BIPOLAR, and gives INT2"),
        (case((3, 2), (1, 0), (1, 2), kind="FLOAT32"), "input 0 is FLOAT32, but its core computes with integers only"),
        (case((3, 3), (1, 0), (1, 2), simd=2), "its SIMD is 2, which does not divide 1"),
    ],
)  # fmt: skip
def test_what_it_does_not_compute_is_refused(one, reason):
    assert PadRTL.supports(instance(one)).reason == reason


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case((8, 32), (1, 0), (1, 0), 0, 4),
        case((28, 28, 8), (2, 2, 0), (2, 2, 0), -8, simd=8),
        case((1, 32, 32, 16), (0, 1, 1, 0), (0, 1, 1, 0), -128, simd=4, kind="INT8"),
        case(
            (1, 14, 14, 8), [0] * 6, (0, 0, 1, 0, 1, 0), within=(1, 14, 1, 14, 1, 8), out_shape=(1, 28, 28, 8)
        ),
        case((3, 9), (1, 2), (1, 5)),
        case((3, 9), (1, 2), (1, 5), -1, kind="UINT8"),
    ]
    assert_as_stated(chosen, tmp_path)
