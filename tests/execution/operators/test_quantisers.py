"""QONNX's quantisers: what the table of layers does not say."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.operators.layer_cases import numbers
from tests.execution.operators.test_layers import finite
from tests.execution.program.single_node import is_foreign, one_node


def quant(inputs=None, shape=(1, 4), constants=None, datatypes=None, **stated):
    stated = {"signed": 1, "narrow": 0, "rounding_mode": "ROUND", **stated}
    constants = numbers(s=1, z=0, b=3) if constants is None else constants
    return one_node("Quant", inputs or {"x": shape}, {"y": shape}, constants, datatypes=datatypes, **stated)


@pytest.mark.parametrize(("signed", "datatype"), [(1, "INT3"), (0, "UINT3")])
def test_quant_of_whole_numbers_is_proved(signed, datatype):
    model = quant(signed=signed, datatypes={"x": "INT8", "y": datatype})
    checked = [
        made.outputs for made in lower(runnable_copy(model)).instructions if "annotated" in made.function
    ]
    assert checked == [("x",)]


def test_a_computed_scale_is_left_to_qonnx_and_taken_as_it_comes_in_standard_onnx():
    model = quant({"x": (1, 4), "s": (1, 4)}, constants=numbers(z=0, b=4))
    assert is_foreign(lower(runnable_copy(model)))
    random = np.random.default_rng(0)
    x, scale = random.normal(0, 6, (3, 1, 4)), random.uniform(0.1, 1, (3, 1, 4))
    assert_rewritten_right(model, x=finite(x.astype(np.float32)), s=scale.astype(np.float32))


def test_a_number_without_an_axis_takes_one_run_at_a_time():
    model = quant(shape=(), constants=numbers(s=0.5, z=0, b=4))
    assert rewrite(model).mixed == "node 'node' (Quant): a result has no axis"
    assert_rewritten_right(model, mixed=True, x=np.array([1.2, -9.9], np.float32))


REFUSALS = [
    ({"rounding_mode": "NEAREST"}, {}, "its rounding mode must be one of CEIL, DOWN, FLOOR, HALF_DOWN, HALF_EVEN, "
     "HALF_UP, ROUND, UP, not 'NEAREST'"),
    ({}, {"s": np.array(0.5, np.float64)}, "its scale must be of float32, not float64"),
    ({}, {"b": np.array([3, 4], np.float32)}, "its bit width must be one number, not 2"),
]  # fmt: skip


@pytest.mark.parametrize(("attributes", "constants", "reason"), REFUSALS)
def test_what_is_refused(attributes, constants, reason):
    with pytest.raises(ModelError) as caught:
        rewrite(quant(shape=(1, 2), constants={**numbers(s=1, z=0, b=3), **constants}, **attributes))
    assert str(caught.value) == (
        f"node 'node' (Quant) cannot be written with standard ONNX operators: {reason}"
    )
