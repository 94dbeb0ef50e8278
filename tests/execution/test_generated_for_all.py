"""Inputs that are made up for a model with several: each has its own range, and all have as many runs."""

import numpy as np
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.execution.generated_inputs import generated_for_all, generated_inputs
from tests.build import graphs


def test_one_input_gets_what_it_always_got():
    model = graphs.quant_mlp()
    made, others = generated_for_all(model)
    assert others == {}
    np.testing.assert_array_equal(made.stack, generated_inputs(model, "x").stack)


def test_each_of_several_has_values_of_its_own_range():
    model = graphs.quant_mlp()
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, 4]))
    model.set_tensor_datatype("mask", DataType["UINT2"])
    made, others = generated_for_all(model)
    assert len(made.stack) == len(others["mask"]) > 40
    assert set(np.unique(others["mask"])) == {0, 1, 2, 3}
    pairs = {(x.tobytes(), mask.tobytes()) for x, mask in zip(made.stack, others["mask"], strict=True)}
    assert len(pairs) > len(made.stack) // 2
    assert "the model has 2 inputs" in made.coverage
