"""An initializer that is listed as a graph input too is no input, wherever inputs are listed."""

from onnx import helper

from brainsmith.build.artifact import Artifact
from brainsmith.build.graphs import graph_data
from brainsmith.build.model import described
from brainsmith.execution.execute import Executor
from brainsmith.execution.model_signature import signature_of
from brainsmith.graph.ends import input_values
from brainsmith.plugins import steps
from tests.steps.conftest import digits_model


def with_constants_as_inputs():
    """The digits network as exporters wrote it up to IR version 3, its constants first."""
    model = digits_model("mlp")
    values = [
        helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in model.graph.initializer
    ]
    declared = [value for value in model.graph.value_info if value.name not in {v.name for v in values}]
    del model.graph.value_info[:]
    model.graph.value_info.extend(declared)
    values += list(model.graph.input)
    del model.graph.input[:]
    model.graph.input.extend(values)
    return model


def test_it_is_no_input():
    model = with_constants_as_inputs()
    assert len(model.graph.input) > 1
    assert [value.name for value in input_values(model.graph)] == ["image"]
    assert [spec.name for spec in signature_of(model).inputs] == ["image"]
    assert list(described("", Artifact.of(model))["inputs"]) == ["image"]
    assert [node["name"] for node in graph_data(model)["nodes"] if node["op_type"] == "Input"] == ["image"]
    assert Executor(model).inputs == ("image",)


def test_the_first_step_makes_a_constant_of_it(tmp_path):
    model = steps.cleanup(with_constants_as_inputs(), None)
    assert [value.name for value in model.graph.input] == ["image"]
