"""What a step loses of shapes and datatypes is inferred again, and the build says so."""

import pytest
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.build.lost_facts import KnownFacts
from tests.build import graphs


@pytest.fixture
def known():
    model = graphs.quant_mlp().transform(InferShapes()).transform(InferDataTypes())
    model.set_tensor_datatype("x", DataType["UINT4"])
    return model


def drop_shapes(model, cfg=None):
    del model.graph.value_info[:]
    return model


def drop_datatypes(model, cfg=None):
    del model.graph.quantization_annotation[:]
    return model


def facts(model):
    outputs = [name for node in model.graph.node for name in node.output]
    return {name: (model.get_tensor_shape(name), model.get_tensor_datatype(name)) for name in ["x", *outputs]}


def test_lost_shapes_are_inferred(known):
    before, expected = KnownFacts(known), facts(known)
    lines = before.restore(drop_shapes(known))
    assert lines == ["the shapes of 'a0', 'wq0', 'wq1', 'm0', 'a1' were lost, and were inferred again"]
    assert facts(known) == expected


def test_lost_datatypes_are_inferred_and_an_input_keeps_its_own(known):
    before, expected = KnownFacts(known), facts(known)
    lines = before.restore(drop_datatypes(known))
    told = [
        f"'{name}' ({datatype.name})"
        for name, (_, datatype) in expected.items()
        if datatype.name != "FLOAT32"
    ]
    assert len(lines) == 1
    assert sorted(lines[0].split("the datatypes of ")[1].split(" were lost")[0].split(", ")) == sorted(told)
    assert lines[0].endswith(" were lost, and were inferred again")
    assert facts(known) == expected


def test_what_was_never_known_is_not_lost():
    model = graphs.quant_mlp()
    drop_datatypes(drop_shapes(model))
    data = model.model.SerializeToString()
    assert KnownFacts(model).restore(model) == []
    assert model.model.SerializeToString() == data


def test_a_datatype_that_a_step_states_is_left(known):
    before = KnownFacts(known)
    known.set_tensor_datatype("m1", DataType["FLOAT32"])
    known.set_tensor_datatype("m0", DataType["INT30"])
    assert before.restore(known) == []
    assert known.get_tensor_datatype("m0") == DataType["INT30"]


def test_a_build_says_it(tmp_path, known):
    result = build(known, output=tmp_path / "out", steps=[drop_shapes], verify=False, use_cache=False)
    line = "the shapes of 'a0', 'wq0', 'wq1', 'm0', 'a1' were lost, and were inferred again"
    assert result.steps[0].messages == (line,)
    assert result.report["steps"][0]["messages"] == [line]
    assert facts(ModelWrapper(str(result.model))) == facts(known)
