"""An input of ONNX's integers that is cast to floats at once is one of floats, annotated with those integers."""

import numpy as np
import pytest
from onnx import TensorProto

from brainsmith.build import build
from brainsmith.plugins import steps
from tests.steps.conftest import Graph
from tests.transforms.test_integer_layers import layers, op_types, run

PIXELS = np.random.default_rng(0).integers(0, 256, (20, 1, 4))


def pixels(elem_type=TensorProto.UINT8, cast=True, datatype="FLOAT32"):
    graph = Graph(1, 4)
    if cast:
        graph.node("Cast", to=TensorProto.FLOAT)
    graph.node("Div", 255.0).quant(4, 0.125)
    model = graph.node("MatMul", graph.weights(np.eye(4))).quant(4).model(1, 4, datatype=datatype)
    model.graph.input[0].type.tensor_type.elem_type = elem_type
    return model


def given(model):
    (value,) = model.graph.input
    return value.type.tensor_type.elem_type, model.get_tensor_datatype(value.name).name


@pytest.mark.parametrize("datatype", ["FLOAT32", "UINT8"])
def test_pixels_that_are_cast_are_floats_of_uint8(datatype):
    model = steps.cleanup(pixels(datatype=datatype), None)
    assert given(model) == (TensorProto.FLOAT, "UINT8")
    assert "Cast" not in op_types(model)
    plain = pixels(TensorProto.FLOAT, cast=False)
    samples = PIXELS.astype(np.float32)
    np.testing.assert_array_equal(run(layers(pixels()), samples), run(plain, samples))


@pytest.mark.parametrize("elem_type", [TensorProto.INT32, TensorProto.INT64])
def test_integers_that_floats_do_not_hold_stay(elem_type):
    assert given(steps.cleanup(pixels(elem_type), None)) == (elem_type, "FLOAT32")


def test_what_is_read_as_integers_stays():
    model = pixels()
    model.graph.node[0].attribute[0].i = TensorProto.DOUBLE
    assert given(steps.cleanup(model, None))[0] == TensorProto.UINT8


@pytest.mark.slow
def test_such_a_network_is_built_from_its_own_integers(tmp_path):
    file = tmp_path / "pixels.onnx"
    pixels().save(str(file))
    inputs = PIXELS[:8].astype(np.uint8)
    result = build(file, None, tmp_path / "out", part="xczu7ev-ffvc1156-2-e", verify_inputs=inputs)
    assert (result.warnings, result.shortfalls) == ((), ())
