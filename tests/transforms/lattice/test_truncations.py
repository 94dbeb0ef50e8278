"""truncations: a Trunc as Brevitas exports it, in both of its versions, gives the same bits as a layer of thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from tests.steps.conftest import QONNX, Graph
from tests.transforms.test_integer_layers import layers, op_types, same

MODES = ("ROUND", "CEIL", "FLOOR", "UP", "DOWN", "HALF_UP", "HALF_DOWN")
INTEGERS = np.arange(-32, 32, dtype=np.float32).reshape(-1, 1, 1)


def truncated(*parameters, factor=3, mode="FLOOR", **attributes):
    """Return a network that truncates some times its input; six parameters are those of the second version."""
    graph = Graph(1, 1)
    graph.node("MatMul", graph.weights(np.full((1, 1), float(factor)), bits=4))
    graph.node("Trunc", *parameters, domain=QONNX, rounding_mode=mode, **attributes)
    model = graph.model(1, 1, datatype="INT6")
    if len(parameters) == 5:
        next(each for each in model.model.opset_import if each.domain == QONNX).version = 2
    return model


@pytest.mark.builds
@settings(deadline=None, max_examples=60)
@given(
    st.integers(-3, 2), st.integers(-2, 4), st.integers(1, 7), st.sampled_from(MODES), st.booleans(), st.booleans(),
    st.sampled_from((-5, -1, 2, 7)),
)  # fmt: skip
def test_each_mode_scale_and_number_of_bits(scale, shift, bits, mode, signed, narrow, factor):
    narrow = narrow and signed and bits > 1
    parameters = (2.0**scale, 0.0, 9.0, 2.0 ** (scale + shift), float(bits))
    same(truncated(*parameters, mode=mode, signed=int(signed), narrow=int(narrow), factor=factor), INTEGERS)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 3), st.integers(2, 6), st.sampled_from(MODES))
def test_the_first_version_clips_nothing(scale, bits, mode):
    same(truncated(2.0**scale, 0.0, 7.0, float(bits), mode=mode), INTEGERS)


def test_it_is_one_layer():
    assert op_types(layers(truncated(1.0, 0.0, 8.0, 4.0, 6.0))) == ["MatMul", "MultiThreshold", "Mul"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((-1.0, 0.0, 8.0, 4.0, 6.0), "it has a scale that is not above 0 and finite"),
        ((1.0, 2.0, 8.0, 4.0, 6.0), "it has the zero point 2: with 0 it has whole levels"),
        ((1.0, 0.0, 8.0, 4.0, 6.5), "it gives 6.5 bits: a whole number from 1 to 32 is needed"),
        (
            ([1.0, 2.0], 0.0, 8.0, 4.0, 6.0),
            "it has parameters that are not one constant number each",
        ),
    ],
)
def test_what_integers_cannot_give_is_refused(parameters, message):
    with pytest.raises(ModelError, match=message):
        layers(truncated(*parameters))
