"""Preparing and executing on one target: what is prepared anew, and what is said of inputs and outputs."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from brainsmith import ops
from brainsmith.errors import TargetError
from brainsmith.targets import ResourceManager

ROOT = Path(__file__).parents[2]

X = np.float32([[1, 2]])


def one_op(op_type):
    """Return the bytes of a model of one operator of ours, of (1, 2)."""
    node = helper.make_node(op_type, ["x"], ["y"], name="n", domain="brainsmith.ops")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("brainsmith.ops", 1)]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


@pytest.fixture
def shift():
    """Return a function that lets the op `shift_it` add a number."""
    there = []

    def define(number):
        while there:
            ops.unregister_custom_op(there.pop())
        ops.register_custom_op(
            ops.CustomOpBuilder("shift_it", 1).forward(lambda inputs: inputs[0] + number).build()
        )
        there.append("shift_it")

    yield define
    while there:
        ops.unregister_custom_op(there.pop())


@pytest.mark.parametrize("device", ["numpy", "reference"])
@pytest.mark.slow
def test_a_model_is_prepared_anew_once_its_op_is_another(shift, device):
    model = one_op("shift_it")
    with ResourceManager({"device": device}) as manager:
        shift(1)
        first = manager.prepare_resource(model)
        assert manager.execute(first, X)["y"].tolist() == [[2, 3]]
        assert manager.prepare_resource(model) is first
        shift(2)
        second = manager.prepare_resource(model)
        assert second is not first
        assert manager.execute(second, X)["y"].tolist() == [[3, 4]]


def test_keep_takes_one_name_too():
    model = ROOT / "examples" / "digits" / "mlp.onnx"
    with ResourceManager({"device": "numpy"}) as manager:
        prepared = manager.prepare_resource(model)
        zeros = np.zeros((1, 64), np.float32)
        assert list(manager.execute(prepared, zeros, keep="fc1")) == ["logits", "fc1"]
        assert list(prepared.target.execute(prepared, zeros, keep="fc1")) == ["logits", "fc1"]


def test_a_keyword_that_the_target_does_not_take_is_told(shift):
    shift(1)
    with ResourceManager({"device": "numpy"}) as manager:
        prepared = manager.prepare_resource(one_op("shift_it"))
        with pytest.raises(TargetError) as caught:
            manager.execute(prepared, X, kep=["y"])
        assert str(caught.value) == (
            "execute of target 'numpy' takes no keyword 'kep'. Did you mean 'keep'?\n  it takes keep"
        )
