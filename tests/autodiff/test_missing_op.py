"""QONNX says which op of a model is missing, and what to do; once it is registered the same model runs."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import get_ops_in_domain
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith import ops
from brainsmith.autodiff.graphs.missing_op import EXAMPLES
from brainsmith.errors import BuildError, MissingOpError
from brainsmith.execution.execute import Executor

DOMAIN = "brainsmith.ops"
X = np.float32([[1, -2, 3, 0]])
MISSING = (
    "node 'halve_0' uses the operation 'halve', which is not registered\n"
    "  register it: ops.register_custom_op(op), @op in the project's plugins, or load_plugin(path)"
)


def model_of(name):
    made = helper.make_node(name, ["x"], ["y"], name=f"{name}_0", domain=DOMAIN)
    tensors = [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, 4]) for tensor in "xy"]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return ModelWrapper(
        helper.make_model(helper.make_graph([made], "g", tensors[:1], tensors[1:]), opset_imports=imports)
    )


def missing(use, model):
    with pytest.raises(MissingOpError) as raised:
        use(model)
    return str(raised.value)


@pytest.fixture
def halve():
    yield ops.CustomOpBuilder("halve", 1).forward(lambda inputs: inputs[0] / 2).build()
    if ops.is_custom_op_registered("halve"):
        ops.unregister_custom_op("halve")


@pytest.mark.parametrize(
    "use",
    [
        lambda model: execute_onnx(model, {"x": X}),
        lambda model: model.transform(InferShapes()),
        lambda model: model.transform(InferDataTypes()),
    ],
    ids=["execute_onnx", "InferShapes", "InferDataTypes"],
)
def test_qonnx_says_which_op_is_missing_and_uses_it_once_it_is_there(halve, use):
    model = model_of("halve")
    assert missing(use, model) == MISSING
    ops.register_custom_op(halve)
    use(model)
    np.testing.assert_array_equal(execute_onnx(model, {"x": X})["y"], X / 2)
    ops.unregister_custom_op("halve")
    assert missing(use, model) == MISSING


def test_a_build_s_execution_says_it_too():
    with pytest.raises(BuildError) as raised:
        Executor(model_of("halve")).run({"x": X[None]})
    assert str(raised.value) == f"node 'halve_0' (halve) cannot be executed: {MISSING}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_that_is_missing_says_how_the_examples_are_registered(name):
    model = model_of(name)
    assert missing(lambda model: execute_onnx(model, {"x": X}), model) == (
        f"node '{name}_0' uses the operation '{name}', which is not registered\n"
        "  it is one of the examples that ship with brainsmith: ops.register_example_custom_ops()"
    )


def test_the_examples_are_known_by_name():
    before = set(ops.list_custom_ops())
    ops.register_example_custom_ops()
    try:
        assert set(ops.list_custom_ops()) - before == set(EXAMPLES)
    finally:
        for name in EXAMPLES:
            ops.unregister_custom_op(name)


def test_the_domain_lists_the_ops_that_are_there_alone():
    missing(lambda model: execute_onnx(model, {"x": X}), model_of("halve"))
    listed = {name for name, _ in get_ops_in_domain(DOMAIN)}
    assert {"int_quant", "multi_threshold"} <= listed
    assert not {"halve", "MissingOpNode", ""} & listed
