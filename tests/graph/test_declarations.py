"""Several declarations of a tensor that agree, as exporters write them, are one for all who open the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from brainsmith.build.model import read_for_build
from brainsmith.execution.execute import Executor
from brainsmith.execution.read_model import read_model
from brainsmith.graph.declarations import declaration_faults, declare_once
from tests.graph import hostile

REPEATED = [
    helper.make_tensor_value_info("x", 1, [1, 6]),
    helper.make_tensor_value_info("m1", 1, None),
    helper.make_tensor_value_info("act0", 1, ["n", "m"]),
    helper.make_tensor_value_info("act0", 1, [1, "m"]),
]


def repeated(values=REPEATED, datatypes=("INT4", "INT4")):
    made = hostile.with_datatypes(*datatypes)
    made.graph.value_info.extend(values)
    return made


def declared(graph):
    return [value.name for value in (*graph.input, *graph.output, *graph.value_info)]


@pytest.mark.parametrize("read", [read_model, lambda model: read_for_build(read_model(model)).peek()])
def test_a_model_that_declares_a_tensor_several_times_is_opened_and_computes_the_same(read):
    model = read(repeated())
    names = declared(model.graph)
    assert len(names) == len(set(names))
    x = np.arange(-3, 3, dtype=np.float32).reshape(1, 1, 6)
    expected = Executor(read_model(hostile.with_datatypes("INT4"))).run({"x": x})
    assert np.array_equal(Executor(model).run({"x": x})["m1"], expected["m1"])


@given(st.lists(st.sampled_from(REPEATED)), st.lists(st.sampled_from(["INT4"]), max_size=3))
def test_declaring_once_keeps_the_first_declaration_of_each_tensor_and_twice_is_once(values, datatypes):
    made = repeated(values, datatypes)
    before = declared(made.graph)
    assert list(declaration_faults(made.graph)) == []
    declare_once(made.graph)
    assert declared(made.graph) == list(dict.fromkeys(before))
    again = type(made)()
    again.CopyFrom(made)
    declare_once(again.graph)
    assert again == made


def test_the_annotations_of_a_tensor_are_put_together():
    made = hostile.with_datatypes("INT4", "INT4")
    made.graph.quantization_annotation[-1].quant_parameter_tensor_names.add(
        key="SCALE_TENSOR", value="act0_s"
    )
    declare_once(made.graph)
    (only,) = (each for each in made.graph.quantization_annotation if each.tensor_name == "act0")
    found = [(entry.key, entry.value) for entry in only.quant_parameter_tensor_names]
    assert found == [("finn_datatype", "INT4"), ("SCALE_TENSOR", "act0_s")]
