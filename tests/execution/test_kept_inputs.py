"""Inputs that builds make up are kept by the model's content."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType

from brainsmith.execution import generated_inputs, kept_inputs
from brainsmith.execution.execute import Executor
from brainsmith.execution.generated_inputs import generated_for_all
from tests.build import graphs


@pytest.fixture
def searched(monkeypatch):
    """Give the models that inputs were made for."""
    models = []
    monkeypatch.setattr(
        generated_inputs, "generated_for_all", lambda model: models.append(model) or generated_for_all(model)
    )
    return models


def two_inputs():
    model = graphs.quant_mlp()
    model.graph.input.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT, [1, 4]))
    model.set_tensor_datatype("mask", DataType["UINT2"])
    return model


def same(left, right):
    assert left[0][1:] == right[0][1:]
    np.testing.assert_array_equal(left[0].stack, right[0].stack)
    assert left[1].keys() == right[1].keys()
    for name, stack in left[1].items():
        np.testing.assert_array_equal(stack, right[1][name])


def test_an_earlier_build_has_searched_the_inputs_of_a_model(searched):
    model = two_inputs()
    first = kept_inputs.kept_for_all(model, "one", Executor(model))
    same(first, generated_for_all(model))
    same(first, kept_inputs.kept_for_all(model, "one", Executor(model)))
    assert len(searched) == 1
    kept_inputs.kept_for_all(model, "another", Executor(model))
    assert len(searched) == 2


def test_what_is_too_large_or_computed_by_no_file_is_made_again(searched, monkeypatch):
    model = two_inputs()
    executor = Executor(model)
    monkeypatch.setattr(kept_inputs, "MOST_BYTES", 8)
    for _ in range(2):
        kept_inputs.kept_for_all(model, "large", executor)
    monkeypatch.undo()
    executor.program.files = None
    same(kept_inputs.kept_for_all(model, "large", executor), generated_for_all(model))
    assert len(searched) == 2
