"""LayerNormRTL against the LayerNorm kernel."""

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.layer_norm_rtl import LayerNormRTL
from brainsmith.kernels.integer_layer_norm import output_bits_for
from brainsmith.rtl.cores.estimated_backend import stated_resources
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import assert_beats_as_scheduled, law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

DOMAIN = "brainsmith.backends.rtl"


def case(size, simd, kind="INT8", fraction=8, epsilon=1e-3, rows=(3,), output_bits=0):
    attributes = {
        "ifm_dim": [*rows, size], "SIMD": simd, "epsilon": epsilon, "inputDataType": kind,
        "outputDataType": f"INT{output_bits or output_bits_for(size, fraction)}", "fraction_bits": fraction,
    }  # fmt: skip
    return Case("LayerNormRTL", [((*rows, size), kind)], attributes, domain=DOMAIN)


@st.composite
def cases(draw):
    simd, fraction = draw(st.integers(1, 4)), draw(st.integers(1, 10))
    size = simd * draw(st.integers(1, 40 // simd))
    output = draw(st.sampled_from([0, 0, fraction + 1, 16, 24]))  # what is needed; clipped; wider
    return case(
        size, simd, draw(st.sampled_from(["INT2", "UINT1", "INT4", "UINT4", "UINT8", "INT8", "INT12"])), fraction,
        draw(st.sampled_from([0.0, 1e-5, 0.5, 100.0, 1e6])), (1, draw(st.integers(1, 3))), output,
    )  # fmt: skip


def instance(chosen):
    return getCustomOp(make_model([chosen]).graph.node[0])


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(32, 1), case(8, 8, "UINT4", 4), case(48, 4, "INT6", 6, rows=(1, 2)), case(1, 1),
        case(16, 2, output_bits=9),
    ]  # fmt: skip
    check_cores(chosen, tmp_path)


@pytest.mark.slow
def test_outputs_wider_than_the_products_and_roots_of_0(tmp_path, simulations):
    chosen = [
        case(8, 2, "INT4", 4, output_bits=24), case(2, 1, "INT2", 1, output_bits=16),
        case(1, 1, "UINT1", 1, 1000.0), case(6, 3, "INT4", 2, 1e6, output_bits=24),
    ]  # fmt: skip
    assert [instance(one).core_parameters()["ROOT_BITS"] for one in chosen[2:]] == [1, 1]
    check_cores(chosen, tmp_path)


@pytest.mark.slow
def test_many_short_rows_are_under_way_at_once(tmp_path, simulations):
    chosen = [
        case(64, 64, "INT4", 1, 1e5, (1, 9)),
        case(128, 64, "UINT4", 1, 1e5, (1, 9)),
        case(64, 64, rows=(1, 9)),
    ]
    assert [instance(one).core_parameters()["ROWS"] for one in chosen] == [3, 3, 2]
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=4, least=4, most=8)


@st.composite
def long_rows(draw):
    """Cases whose rows have at least as many beats as their roots take cycles."""
    values = draw(cases()).attributes
    beats = instance(case(8, 1, fraction=values["fraction_bits"])).arithmetic().serial_cycles + draw(
        st.integers(0, 80)
    )
    chosen = case(
        values["SIMD"] * beats, values["SIMD"], values["inputDataType"], values["fraction_bits"], values["epsilon"],
        (1, draw(st.integers(1, 3))),
    )  # fmt: skip
    arithmetic, problem = instance(chosen).try_arithmetic()
    assume(not problem and arithmetic.serial_cycles <= beats)
    return chosen


@pytest.mark.slow
def test_rows_of_many_lanes_keep_the_full_rate(tmp_path, simulations):
    assert_beats_as_scheduled(
        [case(544, 16, rows=(1, 6)), case(2176, 64, "INT4", rows=(1, 6))], tmp_path, exact_stalls=False
    )


test_beats_move_when_the_schedule_says = law_of_schedules(
    long_rows(), draws=4, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize(
    "chosen",
    [
        case(1, 1, "UINT1", 1),
        case(2, 2, "INT2", 1),
        case(32, 4),
        case(768, 8, "INT12", 10),
        case(256, 1, "UINT8"),
        case(8, 2, "INT4", 4, output_bits=24),
        case(1, 1, "UINT1", 1, 1000.0),
    ],
    ids=lambda chosen: "{ifm_dim[1]}x{SIMD}-{outputDataType}".format(**chosen.attributes),
)
@pytest.mark.slow
def test_lint_is_silent(chosen):
    assert lint(LayerNormRTL, instance(chosen).core_parameters()) == ""


def test_lanes_are_offered_until_the_root_takes_longer():
    layer = instance(case(64, 1))
    assert layer.arithmetic().serial_cycles == layer.arithmetic().root_bits + 4 == 25
    assert layer.parallelism() == (Parallelism("SIMD", (1, 2, 4)),)
    assert [layer.get_exp_cycles(), instance(case(64, 4)).get_exp_cycles()] == [3 * 64, 3 * 25]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"outputDataType": "FLOAT32"}, "its output is FLOAT32, but its core computes with integers only"),
        ({"outputDataType": "UINT8"}, "its output must be INTn, not UINT8"),
        ({"inputDataType": "FLOAT32"}, "its input must be INTn or UINTn, not FLOAT32"),
        ({"inputDataType": "BIPOLAR"}, "its input must be INTn or UINTn, not BIPOLAR"),
        ({"inputDataType": "INT23"}, "its inner numbers have 68 bits, and 62 is the most"),
    ],
)
def test_what_it_refuses(attributes, reason):
    chosen = case(32, 1)
    layer = instance(chosen)
    for name, value in attributes.items():
        layer.set_nodeattr(name, value)
    found = LayerNormRTL.supports(layer)
    assert (bool(found), found.reason) == (False, reason)
    assert LayerNormRTL.supports(instance(chosen))


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [case(32, 1), case(32, 4), case(8, 8, "UINT4", 4), case(24, 3, "INT6", 6), case(256, 1, "UINT8"),
              case(8, 2, "INT4", 4, output_bits=24)]  # fmt: skip
    assert_as_stated(chosen, tmp_path)


@pytest.mark.slow
def test_slices_of_7_series_multiply_fewer_bits(tmp_path):
    chosen = [case(16, 2, "INT12"), case(16, 2, "INT16"), case(24, 1, "UINT13")]
    assert_as_stated(chosen, tmp_path, exact=("dsp",), part="xc7z020clg400-1")
    other = [stated_resources(instance(one), "xczu7ev-ffvc1156-2-e").dsp for one in chosen]
    assert other != [stated_resources(instance(one), "xc7z020clg400-1").dsp for one in chosen]
