"""Models that leave their batch open run on every target; one sample is one run."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError
from brainsmith.execution.runnable import runnable_copy
from brainsmith.targets.numpy import NumpyExecution
from brainsmith.targets.onnxruntime import OnnxRuntime
from brainsmith.targets.reference import Reference


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def open_model(x=("N", 2, 2), y=("N", 4), middle=("N", 4)):
    """Return a model as PyTorch exports it: (batch, 2, 2) is flattened and doubled."""
    nodes = [
        helper.make_node("Reshape", ["x", "shape"], ["flat"], name="flatten"),
        helper.make_node("Add", ["flat", "flat"], ["y"], name="double"),
    ]
    graph = helper.make_graph(
        nodes,
        "open",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        [onnx.numpy_helper.from_array(np.asarray([-1, 4], np.int64), "shape")],
        value_info=[helper.make_tensor_value_info("flat", TensorProto.FLOAT, middle)],
    )
    return ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


@pytest.mark.parametrize("target", [Reference, NumpyExecution, OnnxRuntime])
@pytest.mark.parametrize(
    ("x", "y", "middle"),
    [
        (("N", 2, 2), ("N", 4), ("N", 4)),
        pytest.param((None, 2, 2), (None, 4), ("M", 4), marks=pytest.mark.slow),
        pytest.param(("N", 2, 2), ("K", "L"), ("K", "L"), marks=pytest.mark.slow),
        ((0, 2, 2), (0, 4), (0, 4)),  # as some exporters write it
    ],
)
@pytest.mark.slow
def test_an_open_batch_takes_any_number_of_samples(target, x, y, middle):
    made = target()
    made.initialize()
    prepared = made.prepare_resource(open_model(x, y, middle))
    assert [spec.shape for spec in prepared.signature.inputs] == [(1, 2, 2)]
    assert [spec.shape for spec in prepared.signature.outputs] == [(1, 4)]
    values = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    assert made.execute(prepared, values)["y"].tolist() == (2 * values.reshape(3, 4)).tolist()
    made.cleanup()


def test_the_model_stays_as_it_is_and_its_copy_is_closed():
    model = open_model()
    before = model.model.SerializeToString()
    copy = runnable_copy(model)
    assert model.model.SerializeToString() == before
    assert [tuple(copy.get_tensor_shape(name)) for name in ("x", "flat", "y")] == [(1, 2, 2), (1, 4), (1, 4)]


def test_another_open_axis_is_refused():
    with pytest.raises(BuildError) as caught:
        runnable_copy(open_model(("N", "rows", 2)))
    assert str(caught.value) == (
        "its shapes cannot be inferred: input 'x' must have a stated size in every axis but the first, "
        "not (1, rows, 2); state them when the model is exported"
    )
