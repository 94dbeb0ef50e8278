"""BipolarThresholdingRTL against FINN's Thresholding."""

import numpy as np
import pytest
from hypothesis import strategies as st
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp

from brainsmith.backends.rtl.bipolar_thresholding_rtl import BipolarThresholdingRTL
from brainsmith.errors import BuildError
from tests.backends.rtl.bench import Case, check_cores, law_of_cores, make_model
from tests.backends.rtl.scheduled import law_of_schedules
from tests.backends.rtl.stated import assert_as_stated


def case(channels, pe, steps=3, given="UINT2", start=0, vectors=(1,), seed=0, **attributes):
    """Return a node whose thresholds are from -2 to 2, below and above both inputs too."""
    thresholds = np.sort(np.random.default_rng(seed).integers(-2, 3, (channels, steps)), axis=1)
    stated = {
        "NumChannels": channels, "PE": pe, "numSteps": steps, "inputDataType": "BIPOLAR", "weightDataType": "INT3",
        "outputDataType": given, "ActVal": start, "numInputVectors": list(vectors), **attributes,
    }  # fmt: skip
    fed = [((*vectors, channels), "BIPOLAR")]
    return Case("BipolarThresholding_rtl", fed, stated, constants=[(thresholds, "INT3")])


@st.composite
def cases(draw):
    pe = draw(st.integers(1, 5))
    steps, given, start = draw(
        st.sampled_from(
            [(1, "BINARY", 0), (1, "BIPOLAR", 0), (3, "UINT2", 0), (7, "INT4", -4), (5, "INT9", 200)]
        )
    )
    vectors = (1, *draw(st.lists(st.integers(1, 3), max_size=2)))
    return case(pe * draw(st.integers(1, 40)), pe, steps, given, start, vectors, draw(st.integers(0, 99)))


test_computes_what_finn_computes = law_of_cores(cases(), draws=3, least=8, most=14)


test_beats_move_when_the_schedule_says = law_of_schedules(cases(), draws=3, least=4, most=8)


@pytest.mark.slow
def test_cases_by_hand(tmp_path, simulations):
    chosen = [case(1, 1), case(4, 4, 1, "BIPOLAR"), case(120, 3, 15, "UINT4"), case(6, 2, 3, "INT3", -2)]
    check_cores(chosen, tmp_path)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"inputDataType": "INT2"}, "its inputs are INT2, but its core takes BIPOLAR ones"),
        (
            {"runtime_writeable_weights": 1},
            "its thresholds can change (runtime_writeable_weights), but its core holds constants",
        ),
        ({"mlo_max_iter": 2}, "its thresholds can change (mlo_max_iter), but its core holds constants"),
        ({"PE": 3}, "its PE is 3, which does not divide 4"),
    ],
)
def test_refuses_what_it_does_not_compute(attributes, reason):
    layer = getCustomOp(make_model([case(4, 2)]).graph.node[0])
    for name, value in attributes.items():
        layer.set_nodeattr(name, value)
    assert BipolarThresholdingRTL.supports(layer).reason == reason


def test_levels_lie_side_by_side_that_of_minus_one_first():
    one = case(2, 1)
    one.constants = [(np.array([[-1, 0, 2], [0, 1, 1]]), "INT3")]
    model = make_model([one])
    layer = getCustomOp(model.graph.node[0])
    assert layer.core_memories(model) == {"BipolarThresholding_rtl_0_levels.dat": "9\nc\n"}  # 1, 2; then 0, 3
    layer.set_nodeattr("outputDataType", "BINARY")
    with pytest.raises(BuildError) as raised:
        layer.core_memories(model)
    assert str(raised.value) == "layer 'BipolarThresholding_rtl_0': a level of BINARY cannot hold 2"
    assert layer.get_output_datatype() == DataType["BINARY"]


@pytest.mark.slow
def test_resources_are_as_stated(tmp_path):
    assert_as_stated([case(64, 2, 15, "UINT4"), case(32, 2), case(8, 8, 15, "UINT4")], tmp_path)
