import numpy as np
import pytest
from onnx import TensorProto
from qonnx.core.datatype import DataType

from brainsmith.blueprint.schema import InputDatatypes, Position
from brainsmith.build import build
from brainsmith.build.artifact import Artifact
from brainsmith.build.declared_inputs import with_input_datatypes
from brainsmith.errors import BlueprintError, BuildError
from tests.build import graphs


def source(datatype="", element=TensorProto.FLOAT):
    model = graphs.quant_mlp()
    if datatype:
        model.set_tensor_datatype("x", DataType[datatype])
    model.graph.input[0].type.tensor_type.elem_type = element
    return Artifact.of(model)


def test_a_datatype_is_entered_into_the_model_and_the_given_one_stays_as_it_is():
    given = source()
    found = with_input_datatypes(given, InputDatatypes("UINT8"), "net.onnx")
    assert found.peek().get_tensor_datatype("x").name == "UINT8"
    assert given.peek().get_tensor_datatype("x").name == "FLOAT32"
    assert with_input_datatypes(given, InputDatatypes(), "net.onnx") is given


def test_what_the_model_declares_itself_may_be_stated_again():
    for given in (source("UINT8"), source(element=TensorProto.UINT8)):
        found = with_input_datatypes(given, InputDatatypes("", {"x": "UINT8"}), "net.onnx")
        assert found.peek().get_tensor_datatype("x").name == "UINT8"


@pytest.mark.parametrize(
    ("given", "stated", "message"),
    [
        (source(), {"xx": "UINT8"}, "net.onnx has no input 'xx'. Did you mean 'x'?"),
        (source(), {"image": "UINT8"}, "net.onnx has no input 'image'; it has x."),
        (source("INT4"), {"x": "UINT8"}, "input 'x' of net.onnx is declared as INT4 in the model, not UINT8"),
        (
            source(element=TensorProto.UINT8),
            {"x": "UINT4"},
            "input 'x' of net.onnx is declared as UINT8 in the model, not UINT4",
        ),
    ],
)
def test_what_does_not_fit_the_model_is_refused_at_its_place(given, stated, message):
    places = {name: Position("b.yaml", 3, 12) for name in stated}
    with pytest.raises(BlueprintError) as caught:
        with_input_datatypes(given, InputDatatypes("", stated, places), "net.onnx")
    assert str(caught.value) == f"b.yaml:3:12: inputs: {message}"
    with pytest.raises(BuildError) as refused:
        with_input_datatypes(given, InputDatatypes("", stated), "net.onnx")
    assert str(refused.value) == f"input_datatype: {message}"


def test_a_datatype_for_all_is_refused_where_it_stands():
    stated = InputDatatypes("UINT8", {}, {"": Position("b.yaml", 2, 22)})
    with pytest.raises(BlueprintError) as caught:
        with_input_datatypes(source("INT4"), stated, "net.onnx")
    assert (
        str(caught.value)
        == "b.yaml:2:22: inputs: input 'x' of net.onnx is declared as INT4 in the model, not UINT8"
    )


def test_golden_inputs_must_be_what_the_blueprint_says(tmp_path):
    with pytest.raises(BuildError) as caught:
        build(
            graphs.quant_mlp(), output=tmp_path / "out", steps=["cleanup"], input_datatype="UINT8",
            verify_inputs=np.full((2, 6), 0.5, np.float32),
        )  # fmt: skip
    assert str(caught.value) == (
        "the given array: input 'x' must hold values of its datatype UINT8, whole numbers from 0 to 255, not 0.5 at "
        "[0, 0]"
    )


def test_a_build_takes_the_datatype_from_its_argument_and_reports_it(tmp_path):
    result = build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=["cleanup"], input_datatype="x=INT3", report=False
    )
    assert result.report["model"]["datatypes"] == {"x": "INT3"}
