"""WidthConverterRTL against FINN's StreamingDataWidthConverter."""

from math import lcm

import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType

from brainsmith.backends.rtl.width_converter_rtl import WidthConverterRTL
from brainsmith.rtl.synthesis.synthesise import synthesise_layers
from brainsmith.rtl.timing.beat_schedule import AT_ONCE
from tests.backends.rtl.bench import PART, Case, bare_layer, check_cores, law_of_cores, lint, make_design
from tests.backends.rtl.scheduled import assert_beats_as_scheduled, law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

OWN, FINNS = "StreamingDataWidthConverterAny_rtl", "StreamingDataWidthConverter_rtl"


def case(taken, given, kind="INT3", times=1, rows=(1,), node=OWN, channels=0):
    """Return a converter from `taken` to `given` values a beat, whose frame is the least that both divide, some times."""
    shape = [*rows, channels or lcm(taken, given) * times]
    bits = DataType[kind].bitwidth()
    attributes = {
        "inShape": shape, "outShape": shape, "inWidth": taken * bits, "outWidth": given * bits, "dataType": kind,
    }  # fmt: skip
    return Case(node, [(tuple(shape), kind)], attributes)


@st.composite
def cases(draw):
    taken = draw(st.integers(1, 20))
    return case(
        taken,
        draw(st.integers(1, 20).filter(lambda given: given != taken)),
        draw(st.sampled_from(["UINT1", "BIPOLAR", "INT2", "TERNARY", "UINT5", "INT8"])),
        draw(st.integers(1, 3)),
        draw(st.sampled_from([(1,), (1, 2), (1, 3, 2)])),
    )


RATIOS = [
    (2, 9),
    (4, 9),
    (6, 9),
    (9, 2),
    (9, 4),
    (9, 6),
    (2, 3),
    (3, 2),
    (7, 12),
    (12, 7),
    (16, 15),
    (1, 2),
    (8, 1),
    (17, 40),
    (40, 17),
    (63, 40),
]


@pytest.mark.slow
def test_any_ratio_at_full_rate(tmp_path, simulations):
    across = case(6, 4, rows=(1, 2, 3), channels=8)  # beats that hold values of two pixels
    check_cores([*(case(*ratio) for ratio in RATIOS), across], tmp_path)


test_computes_what_finn_computes = law_of_cores(cases(), draws=6, least=8, most=16)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.slow
def test_a_beat_chosen_among_many_places_comes_a_cycle_later(tmp_path, simulations):
    chosen = [
        case(*ratio, "UINT2", 2) for ratio in ((16, 17), (17, 16), (17, 18), (18, 17), (63, 40), (40, 63))
    ]
    delays = [bare_layer(one).beat_schedule().given[0].delay for one in chosen]
    assert delays == [1, 1, 2, 2, 2, 2]
    assert_beats_as_scheduled(chosen, tmp_path)


def test_a_frame_takes_the_beats_of_the_narrower_side():
    assert {ratio: bare_layer(case(*ratio)).get_exp_cycles() for ratio in RATIOS[:4]} == {
        (2, 9): 9, (4, 9): 9, (6, 9): 3, (9, 2): 9,
    }  # fmt: skip


REFUSED = {
    "input 0 is FLOAT32, but its core computes with integers only": case(2, 3, "FLOAT32"),
    "its inWidth is 10, and its values have 4 bits": case(2, 3, "INT4"),
    "its outWidth holds 5 values, which do not divide the 12 of a frame": case(4, 5, channels=12),
    "its outShape holds 9 values, and its inShape 12": case(2, 3, channels=12),
    "both of its widths are 12, so there is nothing to convert": case(4, 4),
}
REFUSED["its inWidth is 10, and its values have 4 bits"].attributes["inWidth"] = 10
REFUSED["its outShape holds 9 values, and its inShape 12"].attributes["outShape"] = [1, 9]


@pytest.mark.parametrize("reason", REFUSED)
def test_refuses(reason):
    assert WidthConverterRTL.supports(bare_layer(REFUSED[reason])).reason == reason


def test_folding_raises_nothing():
    assert bare_layer(case(2, 3)).parallelism() == ()


@pytest.mark.parametrize(
    ("unit", "taken", "given"),
    [
        (1, 1, 2), (1, 2, 1), (1, 2, 3), (1, 3, 2), (4, 2, 9), (4, 9, 2), (3, 4, 9), (3, 9, 4), (1, 16, 1), (1, 1, 16),
        (1, 5, 12), (1, 12, 5), (8, 17, 16), (33, 7, 5), (2, 17, 18), (2, 18, 17), (8, 63, 40),
    ],
)  # fmt: skip
def test_lint_is_silent(unit, taken, given):
    sizes = {"UNIT": unit, "TAKEN": taken, "GIVEN": given, "STAGED": int(min(taken, given) > AT_ONCE)}
    assert lint(WidthConverterRTL, sizes) == ""


MEASURED = [
    *RATIOS[:8],
    (5, 12),
    (12, 5),
    (1, 2),
    (2, 1),
    (1, 8),
    (8, 1),
    (15, 16),
    (16, 15),
    (40, 63),
    (63, 40),
]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated([case(*ratio, "INT4") for ratio in MEASURED], tmp_path)


@pytest.mark.slow
def test_is_no_larger_than_finns(tmp_path):
    """It is the default for every ratio: within a tenth where beats of 2 become beats of 9, smaller elsewhere."""
    ratios = [(2, 3), (3, 2), (2, 9), (9, 2), (4, 9), (1, 4), (4, 1), (1, 2), (2, 1)]
    used = {}
    for node in (OWN, FINNS):
        _, design = make_design([case(*ratio, "INT4", node=node) for ratio in ratios], tmp_path / node)
        used[node] = [layer.used.lut for layer in synthesise_layers(design, PART)]
    assert [
        ratio for ratio, own, finns in zip(ratios, used[OWN], used[FINNS], strict=True) if own > 1.1 * finns
    ] == []
