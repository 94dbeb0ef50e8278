"""What a step loses of shapes and datatypes is inferred again, and the build says so."""

import numpy as np
import pytest
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation
from qonnx.transformation.general import GiveReadableTensorNames, GiveUniqueNodeNames
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.build.artifact import Artifact
from brainsmith.build.lost_facts import KnownFacts
from brainsmith.plugin.adapters.graph_edits import rename_tensors
from tests.build import graphs


@pytest.fixture
def known():
    model = graphs.quant_mlp()
    for name in ("act0_s", "weight0_s", "act1_s", "weight1_s"):  # so that quantisers give integers
        model.set_initializer(name, np.asarray(1.0, np.float32))
    model = model.transform(InferShapes()).transform(InferDataTypes())
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
    before, expected = KnownFacts(Artifact.of(known)), facts(known)
    lines = before.restore(drop_shapes(known))
    assert lines == ["the shapes of 'a0', 'wq0', 'wq1', 'm0', 'a1' were lost, and were inferred again"]
    assert facts(known) == expected


def test_lost_datatypes_are_inferred_and_an_input_keeps_its_own(known):
    before, expected = KnownFacts(Artifact.of(known)), facts(known)
    lines = before.restore(drop_datatypes(known))
    assert lines == [
        "the datatypes of 'x' (UINT4), 'a0' (INT4), 'wq0' (INT4), 'wq1' (INT4), 'm0' (INT32) and 2 more were lost, and "
        "were inferred again"
    ]
    assert facts(known) == expected


def test_what_was_never_known_is_not_lost():
    model = graphs.quant_mlp()
    drop_datatypes(drop_shapes(model))
    data = model.model.SerializeToString()
    assert KnownFacts(Artifact.of(model)).restore(model) == []
    assert model.model.SerializeToString() == data


def test_a_datatype_that_a_step_states_is_left(known):
    before = KnownFacts(Artifact.of(known))
    known.set_tensor_datatype("x", DataType["INT2"])
    known.set_tensor_datatype("m0", DataType["INT30"])
    assert before.restore(known) == []
    assert known.get_tensor_datatype("m0") == DataType["INT30"]


def test_a_build_says_it(tmp_path, known):
    result = build(known, output=tmp_path / "out", steps=[drop_shapes], verify=False, use_cache=False)
    line = "the shapes of 'a0', 'wq0', 'wq1', 'm0', 'a1' were lost, and were inferred again"
    assert result.steps[0].messages == (line,)
    assert result.report["steps"][0]["messages"] == [line]
    assert f"step 'drop_shapes': {line}" in result.warnings
    assert facts(ModelWrapper(str(result.model))) == facts(known)


class LoseAndRename(Transformation):
    """Gives tensors readable names, and loses the datatypes of some."""

    def __init__(self, *lost):
        self.lost = lost

    def apply(self, model):
        for each in [each for each in model.graph.quantization_annotation if each.tensor_name in self.lost]:
            model.graph.quantization_annotation.remove(each)
        return model.transform(GiveReadableTensorNames()), False


def test_a_transform_that_renames_what_it_loses_is_named(tmp_path, known):
    def own(model, cfg):
        model = model.transform(GiveUniqueNodeNames())
        model = model.transform(LoseAndRename("a1", "m0"))
        model.transform(InferDataTypes())  # of a model that the step looks at, and leaves
        return model.transform(GiveReadableTensorNames())

    result = build(known, output=tmp_path / "out", steps=[own], verify=False, report=False, use_cache=False)
    assert result.steps[0].messages == (
        "the datatypes of 'MatMul_0_out0' (INT32), 'Quant_3_out0' (INT4) were lost by transform 'LoseAndRename', and were "
        "inferred again",
    )


def test_a_node_in_the_place_of_others_has_the_datatype_that_follows(known):
    before = KnownFacts(Artifact.of(known))
    quantiser = known.graph.node[0]
    quantiser.name, quantiser.output[0] = "fused", "fused_out"
    known.graph.node[2].input[0] = "fused_out"
    found = before.restore(known)
    assert found == [
        "the shapes of 'fused_out' were lost, and were inferred again",
        "the datatypes of 'fused_out' (INT4) were lost, and were inferred again",
    ]


def test_constants_and_inputs_are_known_by_their_values_and_readers(known):
    known.set_tensor_datatype("w0", DataType["INT4"])
    before = KnownFacts(Artifact.of(known))
    names = {name: f"{name}_new" for name in ("x", "w0", "a0")}
    rename_tensors(drop_datatypes(known).graph, names)
    (line,) = before.restore(known)
    assert line.startswith("the datatypes of 'x_new' (UINT4), 'w0_new' (INT4), ")
    assert known.get_tensor_datatype("x_new") == DataType["UINT4"]
    assert known.get_tensor_datatype("w0_new") == DataType["INT4"]


def test_what_has_no_rule_is_reported():
    model = graphs.quant_cnn().transform(InferShapes()).transform(InferDataTypes())
    model.set_tensor_datatype("c", DataType["INT9"])
    model.set_tensor_datatype("r", DataType["UINT8"])
    before = KnownFacts(Artifact.of(model))
    rename_tensors(model.graph, {"r": "s"})
    annotations = model.graph.quantization_annotation
    annotations.remove(next(each for each in annotations if each.tensor_name == "s"))
    assert before.restore(model) == [
        "the datatypes of 's' were lost, and cannot be inferred: these tensors count as floats"
    ]
