"""FINN's own HLS layers compiled with open headers: which can be, and that they compute what their Python models do."""

import re

import numpy as np
import pytest

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.errors import BuildError  # noqa: E402
from brainsmith.execution.execute import Executor  # noqa: E402
from brainsmith.hls.layer import make_layer  # noqa: E402
from tests.hls import finn_models as models  # noqa: E402

FLOATS = ("FLOAT32", "FLOAT32", "FLOAT32")

COMPILED = {
    **{name: lambda name=name: models.elementwise(name) for name in models.ELEMENTWISE},
    "Add a constant": lambda: models.elementwise("Add", constant=np.arange(-6, 6).reshape(models.SHAPE)),
    "Mul by one constant": lambda: models.elementwise("Mul", rhs_shape=(1,), constant=[-3]),
    "Add rows to one row": lambda: models.elementwise("Add", rhs_shape=(1, 1, 4)),
    "Mul floats": lambda: models.elementwise("Mul", FLOATS),
    "Mul integers by floats": lambda: models.elementwise("Mul", ("INT4", "FLOAT32", "FLOAT32")),
    "Lookup": models.lookup,
    "ReplicateStream": models.replicate,
    "Requant": models.requant,
    "Squeeze": models.squeeze,
    "Unsqueeze": models.unsqueeze,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_the_cpp_computes_what_the_python_model_does(name):
    model = COMPILED[name]()
    layer, reason = make_layer(model.graph.node[0], model)
    assert reason == ""
    feed = models.samples(model, 20)
    expected = Executor(model).run(feed)
    found = layer.run(feed)
    assert set(found) == set(expected)
    for tensor, values in found.items():
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, expected[tensor])


@pytest.mark.slow
def test_a_shift_to_the_left_keeps_the_width_of_its_input_in_cpp_alone():
    model = models.elementwise("BitShift", ("UINT3", "UINT1", "UINT4"), direction="LEFT")
    layer, _ = make_layer(model.graph.node[0], model)
    feed = {"x": np.full((1, *models.SHAPE), 5, np.float32), "k": np.ones((1, *models.SHAPE), np.float32)}
    assert np.unique(Executor(model).run(feed)["y"]).tolist() == [10]
    assert np.unique(layer.run(feed)["y"]).tolist() == [10 % 8]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (models.label_select, "its C++ needs maxpool.h of FINN's HLS library, which is in no package"),
        (
            lambda: models.layer("Thresholding_hls", {"x": (1, 4)}, {"y": (1, 4)}),
            "FINN generates no C++ of it: ",
        ),
        (
            lambda: models.elementwise("Add", constant=np.zeros(models.SHAPE), mem_mode="internal_decoupled"),
            "its constants come in a stream (mem_mode internal_decoupled)",
        ),
    ],
)
def test_what_cannot_be_compiled_is_said(model, message):
    model = model()
    layer, reason = make_layer(model.graph.node[0], model)
    assert layer is None
    assert reason.startswith(message)


@pytest.mark.parametrize(
    ("model", "feed", "message"),
    [
        (lambda: models.lookup(10), {"x": np.full((1, 1, 6), 10)}, "an index is outside of the 10 entries"),
        (
            lambda: models.elementwise("Div", ("INT4", "INT4", "INT4")),
            {"x": np.ones((1, *models.SHAPE)), "k": np.zeros((1, *models.SHAPE))},
            "whole numbers are divided by 0",
        ),
        (
            lambda: models.elementwise("Add"),
            {"x": np.full((1, *models.SHAPE), 0.5), "k": np.ones((1, *models.SHAPE))},
            "values must be whole numbers",
        ),
    ],
)
def test_values_for_which_cpp_has_no_result_are_refused(model, feed, message):
    model = model()
    layer, _ = make_layer(model.graph.node[0], model)
    node = model.graph.node[0]
    text = f"node '{node.name}' ({node.op_type}) cannot be executed: {message}"
    with pytest.raises(BuildError, match=f"^{re.escape(text)}$"):
        layer.run(feed)
