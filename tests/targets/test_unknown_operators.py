"""Operators that nothing here knows: told when a model is prepared, by name and by `auto`; tried again once registered."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from brainsmith import ops
from brainsmith.errors import UnsupportedResourceError
from brainsmith.targets import ResourceManager
from tests.runtime.toys import toy

X = np.float32([[1, 2]])
NAMED = ("numpy", "onnxruntime", "reference")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def shift():
    """Return a function that lets the op `shift_later` add a number."""
    there = []

    def define(number):
        while there:
            ops.unregister_custom_op(there.pop())
        op = ops.CustomOpBuilder("shift_later", 1).forward(lambda inputs: inputs[0] + number)
        ops.register_custom_op(op.build())
        there.append("shift_later")

    yield define
    while there:
        ops.unregister_custom_op(there.pop())


def model(op_type, domain, of="x"):
    """Return the bytes of a model that adds x to what an operator makes of x, or of the constant `w`."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    nodes = [
        helper.make_node(op_type, [of], ["h"], name="n", domain=domain),
        helper.make_node("Add", ["x", "h"], ["y"], name="a"),
    ]
    graph = helper.make_graph(nodes, "two", ends[:1], ends[1:], [numpy_helper.from_array(X * 10, "w")])
    opsets = [helper.make_opsetid("", 13)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


UNKNOWN = (
    "node 'n' (Nope) cannot be executed: operator 'Nope' of domain 'acme.ops' is defined by neither QONNX, FINN nor a "
    "plugin that was found; ONNX Runtime refuses it: [ONNXRuntimeError] : 1 : FAIL : Fatal error: acme.ops:Nope(-1) is "
    "not a registered function/op"
)
NO_PLAN = (
    "node 'n' (Nope) cannot be written with standard ONNX operators: operator Nope of domain acme.ops has no form in "
    "standard ONNX"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_a_target_that_is_named_tells_it_at_prepare(name):
    resource = model("Nope", "acme.ops")
    reason = NO_PLAN if name == "onnxruntime" else UNKNOWN
    with ResourceManager({"device": name}) as manager:
        for _ in range(2):
            with pytest.raises(UnsupportedResourceError) as error:
                manager.prepare_resource(resource)
            assert str(error.value) == f"target '{name}' cannot execute {len(resource)} bytes: {reason}"
        assert manager.active.supports(resource) == reason


@pytest.mark.parametrize("device", ["auto", "cpu"])
@pytest.mark.slow
def test_auto_passes_over_all_that_do_not_know_it(device):
    resource = model("Nope", "acme.ops")
    with ResourceManager({"device": device}) as manager:
        with pytest.raises(UnsupportedResourceError) as error:
            manager.prepare_resource(resource)
        lines = str(error.value).splitlines()
        for line in (f"  numpy, reference: {UNKNOWN}", f"  onnxruntime: {NO_PLAN}"):
            assert line in lines
        toy("Knows", priority=1, device_types=("cpu",))
        assert type(manager.prepare_resource(resource).target).__name__ == "Knows"
        assert manager.execute(manager.prepare_resource(resource), X)["y"].tolist() == [[2, 4]]


@pytest.mark.slow
def test_an_operator_of_onnx_that_is_too_new_is_told_too():
    resource = model("Mish", "")  # of opset 18
    with (
        ResourceManager({"device": "reference"}) as manager,
        pytest.raises(UnsupportedResourceError) as error,
    ):
        manager.prepare_resource(resource)
    assert str(error.value).startswith(
        f"target 'reference' cannot execute {len(resource)} bytes: node 'n' (Mish) cannot be executed: opset 13 of domain "
        "'ai.onnx' has no operator 'Mish'; ONNX Runtime refuses it: "
    )


@pytest.mark.parametrize("name", ["numpy", "auto", pytest.param("reference", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_an_operator_that_is_registered_later_is_tried_again(shift, name):
    resource = model("shift_later", "brainsmith.ops")
    with ResourceManager({"device": name}) as manager:
        with pytest.raises(UnsupportedResourceError):
            manager.prepare_resource(resource)
        for number in (1, 5):
            shift(number)
            found = manager.execute(manager.prepare_resource(resource), X)["y"]
            assert found.tolist() == [[2 + number, 4 + number]]


@pytest.mark.parametrize(
    "name", [NAMED[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMED[1:])]
)
@pytest.mark.slow
def test_an_operator_on_constants_that_is_registered_later_is_tried_again(shift, name):
    resource = model("shift_later", "brainsmith.ops", of="w")
    with ResourceManager({"device": name}) as manager:
        for _ in range(2):
            with pytest.raises(UnsupportedResourceError):
                manager.prepare_resource(resource)
        for number in (1, 5):
            shift(number)
            found = manager.execute(manager.prepare_resource(resource), X)["y"]
            assert found.tolist() == [[11 + number, 22 + number]]
