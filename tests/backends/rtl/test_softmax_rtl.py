"""SoftmaxRTL against the Softmax kernel."""

import pytest
from hypothesis import strategies as st
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.softmax_rtl import SoftmaxRTL
from brainsmith.rtl.cores.parallelism import Parallelism
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, lint, make_model
from tests.backends.rtl.scheduled import assert_beats_as_scheduled, law_of_schedules
from tests.backends.rtl.stated import assert_as_stated

DOMAIN = "brainsmith.backends.rtl"


def case(size, simd, kind="INT8", scale=0.05, fraction=8, rows=(3,), spare=0):
    attributes = {
        "ifm_dim": [*rows, size], "NumChannels": size, "SIMD": simd, "scale": scale, "input_data_type": kind,
        "outputDataType": f"UINT{fraction + spare}", "fraction_bits": fraction,
    }  # fmt: skip
    return Case("SoftmaxRTL", [((*rows, size), kind)], attributes, domain=DOMAIN)


@st.composite
def cases(draw):
    simd = draw(st.integers(1, 4))
    return case(
        simd * draw(st.integers(1, 40 // simd)), simd,
        draw(st.sampled_from(["INT2", "UINT1", "INT4", "UINT4", "UINT8", "INT8", "INT10"])),
        draw(st.floats(0.01, 2.0)), draw(st.integers(1, 10)), (1, draw(st.integers(1, 3))),
        draw(st.integers(0, 1)),
    )  # fmt: skip


def instance(chosen):
    return getCustomOp(make_model([chosen]).graph.node[0])


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [
        case(32, 1), case(8, 8, "UINT4", 0.3, 4), case(48, 4, "INT6", 0.1, 6, (1, 2), 1), case(1, 1),
        case(13, 1), case(12, 1, "UINT8", 0.5), case(7, 7, "INT5"), case(12, 6, "UINT8", 0.5),
    ]  # fmt: skip
    check_cores(chosen, tmp_path)


@pytest.mark.slow
def test_many_short_rows_are_under_way_at_once(tmp_path, simulations):
    chosen = [
        case(256, 256, "UINT4", 0.5, 1, (1, 9)), case(256, 128, "INT4", 0.5, 1, (1, 9)),
        case(64, 64, rows=(1, 9)),
    ]  # fmt: skip
    assert [instance(one).core_parameters()["ROWS"] for one in chosen] == [3, 3, 2]
    check_cores(chosen, tmp_path)


test_computes_what_the_kernel_computes = law_of_cores(cases(), draws=4, least=4, most=8)


@st.composite
def long_rows(draw):
    """Cases whose rows have at least as many beats as their divisions take cycles."""
    values = draw(cases()).attributes
    fraction = values["fraction_bits"]
    beats = fraction + 5 + draw(st.integers(0, 60))
    return case(
        values["SIMD"] * beats, values["SIMD"], values["input_data_type"], values["scale"], fraction,
        (1, draw(st.integers(1, 3))),
    )  # fmt: skip


@pytest.mark.slow
def test_rows_of_many_lanes_keep_the_full_rate(tmp_path, simulations):
    assert_beats_as_scheduled(
        [case(480, 16, rows=(1, 6)), case(448, 32, "UINT4", 0.3, rows=(1, 6))],
        tmp_path,
        exact_stalls=False,
    )


test_beats_move_when_the_schedule_says = law_of_schedules(
    long_rows(), draws=4, least=4, most=8, exact_stalls=False
)


@pytest.mark.parametrize(
    "chosen",
    [
        case(1, 1, "UINT1", 1.0, 1), case(2, 2, "INT2", 1.0, 1), case(32, 4), case(768, 8, "INT12", 0.01, 10),
        case(256, 1, "UINT8", 0.7, 8, spare=1),
    ],
    ids=lambda chosen: f"{chosen.attributes['ifm_dim'][-1]}x{chosen.attributes['SIMD']}",
)  # fmt: skip
@pytest.mark.slow
def test_lint_is_silent(chosen, tmp_path):
    parameters = dict(instance(chosen).core_parameters())
    table = tmp_path / "powers.dat"
    table.write_text(next(iter(instance(chosen).core_memories(None).values())), encoding="utf-8")
    assert lint(SoftmaxRTL, parameters | {"TABLE": str(table)}) == ""


def test_lanes_are_offered_until_the_division_takes_longer():
    layer = instance(case(64, 1))
    assert layer.arithmetic().serial_cycles == 8 + 3 + 2
    assert layer.parallelism() == (Parallelism("SIMD", (1, 2, 4, 8)),)
    assert [layer.get_exp_cycles(), instance(case(64, 8)).get_exp_cycles()] == [3 * 64, 3 * 13]


def test_the_table_is_a_memory():
    (name, text), *_ = instance(case(8, 1, "UINT4", 0.5)).core_memories(None).items()
    assert name == "SoftmaxRTL_0_powers.dat"
    assert text.split()[:4] == ["1000", "09b4", "05e3", "0392"]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"outputDataType": "FLOAT32"}, "its output is FLOAT32, but its core computes with integers only"),
        ({"outputDataType": "INT8"}, "its output is INT8, and probabilities are UINTn"),
        ({"input_data_type": "FLOAT32"}, "its input is FLOAT32, and it takes INTn and UINTn"),
        ({"input_data_type": "BIPOLAR"}, "its input is BIPOLAR, and it takes INTn and UINTn"),
        ({"outputDataType": "UINT4"}, "its output must have 8 to 24 bits, not 4"),
    ],
)
def test_what_it_refuses(attributes, reason):
    chosen = case(32, 1)
    layer = instance(chosen)
    for name, value in attributes.items():
        layer.set_nodeattr(name, value)
    found = SoftmaxRTL.supports(layer)
    assert (bool(found), found.reason) == (False, reason)
    assert SoftmaxRTL.supports(instance(chosen))


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    chosen = [
        case(8, 1), case(8, 4), case(64, 2, "UINT6", 0.2), case(256, 1, "INT8", 0.3),
        case(12, 3, "INT5", 0.3, 5, spare=1),
    ]  # fmt: skip
    assert_as_stated(chosen, tmp_path)
