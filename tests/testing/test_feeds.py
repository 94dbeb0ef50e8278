"""Inputs for small models: as many runs for each, of the model's types, within datatypes, the same for the same seed."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.plugins import transforms as tfm
from brainsmith.testing import check_transform, make_model, op_types
from brainsmith.testing.feeds import ENDS, feeds_of


def one(kind="Relu", **options):
    return make_model([helper.make_node(kind, ["x"], ["y"])], {"x": (1, 3)}, ["y"], **options)


def test_floats_have_ends_and_random_values_of_the_seed():
    found = feeds_of(one())["x"]
    assert found.dtype == np.float32 and found.shape[1:] == (1, 3)
    assert {float(np.float32(end)) for end in ENDS} <= {float(value) for value in found[:, 0, 0]}
    assert any(np.signbit(run).all() and not run.any() for run in found)  # -0 everywhere
    assert np.array_equal(found, feeds_of(one())["x"])
    assert not np.array_equal(found, feeds_of(one(), seed=1)["x"])


@pytest.mark.parametrize("datatype", ["UINT3", "INT5", "BIPOLAR"])
def test_a_datatype_is_kept_and_its_ends_are_reached(datatype):
    model, kind = one(), DataType[datatype]
    model.set_tensor_datatype("x", kind)
    found = feeds_of(model)["x"]
    assert all(kind.allowed(value) for value in np.unique(found))
    assert (found.min(), found.max()) == (kind.min(), kind.max())


def test_several_inputs_have_as_many_runs_and_integers_may_be_indices():
    nodes = [
        helper.make_node("Gather", ["x", "at"], ["g"], axis=1),
        helper.make_node("Identity", ["g"], ["i"]),
    ]
    nodes.append(helper.make_node("Add", ["i", "z"], ["y"]))
    kinds = {
        "x": (TensorProto.FLOAT, (1, 2)),
        "at": (TensorProto.INT64, (3,)),
        "z": (TensorProto.FLOAT, (1, 3)),
    }
    inputs = [helper.make_tensor_value_info(name, *kind) for name, kind in kinds.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 3))]
    graph = helper.make_graph(nodes, "test", inputs, outputs)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    model = ModelWrapper(proto).transform(InferShapes())
    feeds = feeds_of(model)
    assert len({len(runs) for runs in feeds.values()}) == 1
    assert feeds["at"].dtype == np.int64 and set(np.unique(feeds["at"])) == {0, 1}
    (after,) = check_transform(tfm.RemoveIdentityOps, [model])
    assert op_types(after) == ["Gather", "Add"]
