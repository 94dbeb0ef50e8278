"""A rearrangement of FINN's that fails on an unexpected form of graph is left out, and said; nothing else is."""

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.pool import InferPool
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.base import Transformation

from brainsmith.build import build
from brainsmith.build.transform_watch import transforms_watched
from brainsmith.errors import BuildError
from tests.build import graphs


def pool_without_strides():
    """Return a MaxPool whose strides are left to their default, as ONNX allows; FINN's conversion reads them."""
    shape = [1, 2, 2, 2]
    graph = helper.make_graph(
        [helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[1, 1])],
        "pooled",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    return ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)]))


def test_it_fails_outside_of_a_build():
    with pytest.raises(AttributeError):
        pool_without_strides().transform(InferPool())


def test_in_a_build_the_model_stays_as_it_was_and_the_log_says_so(caplog):
    model = pool_without_strides()
    with transforms_watched():
        after = model.transform(InferPool())
    assert after.model.SerializeToString() == model.model.SerializeToString()
    assert after.model is not model.model
    assert caplog.messages == [
        "FINN's InferPool was left out, because it failed at node 'pool' (MaxPool): AttributeError: "
        "'NoneType' object has no attribute 'ints'"
    ]


def test_what_is_changed_in_place_is_not_believed():
    with transforms_watched(), pytest.raises(AttributeError):
        pool_without_strides().transform(InferPool(), make_deepcopy=False)


def test_a_transform_of_somebody_else_that_fails_ends_the_build(tmp_path):
    class Fails(Transformation):
        def apply(self, model):
            return model.nothing

    with pytest.raises(BuildError, match="AttributeError: 'ModelWrapper' object has no attribute 'nothing'"):
        build(graphs.quant_mlp(), output=tmp_path / "out", steps=[lambda m, cfg: m.transform(Fails())])


@pytest.mark.slow
def test_the_build_warns_of_what_was_left_out(tmp_path):
    def step(model, cfg):
        pool_without_strides().transform(InferPool())
        return model

    result = build(
        graphs.quant_mlp(), output=tmp_path / "out", steps=[step], verify_inputs=np.zeros((4, 6), np.float32)
    )
    (said,) = [message for each in result.steps for message in each.messages]
    assert said.startswith("FINN's InferPool was left out, because it failed")
    assert f"step 'step': {said}" in result.warnings
