"""An op is a node of a graph: its shapes and datatypes are inferred, it runs, and QONNX knows its name whole."""

import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.base import CustomOp
from qonnx.custom_op.registry import get_ops_in_domain, get_supported_versions, getCustomOp
from qonnx.transformation.infer_datatypes import InferDataTypes
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith import ops
from brainsmith.autodiff.graphs.node_attributes import to_node
from brainsmith.autodiff.graphs.op_node import node_class
from brainsmith.bundles.bundle_builder import BundleBuilder
from brainsmith.bundles.bundle_registry import BundleRegistry
from brainsmith.errors import BuildError, MissingOpError, OpError
from brainsmith.execution.execute import Executor
from brainsmith.plugin.core import op as op_decorator

DOMAIN = "brainsmith.ops"


class Windowed(ops.Op):
    """Sums of neighbours and their positions: two outputs, of other shapes and dtypes, and attributes of all kinds."""

    name, num_inputs, num_outputs = "windowed", 1, 2
    attributes = {"size": 2, "gain": 0.1, "mode": "sum", "centred": False, "shifts": (0, 0), "factors": [1.0]}

    def forward(self, x, *, size, gain, mode, centred, shifts, factors):
        found = np.stack([x[:, at : at + size].sum(1) for at in range(x.shape[1] - size + 1)], axis=1)
        return (found * gain + shifts[0]).astype(x.dtype), np.arange(found.shape[1])

    def output_shape(self, shapes, *, size, **attributes):
        width = shapes[0][1] - size + 1
        return (shapes[0][0], width), (width,)

    def output_dtype(self, dtypes, **attributes):
        return dtypes[0], np.dtype(np.int64)

    def output_datatype(self, datatypes, **attributes):
        return "INT8" if datatypes == ["INT4"] else "FLOAT32", "INT32"


def scaled(name="scale_v2", factor=2.0):
    return ops.CustomOpBuilder(name, 1).forward(lambda inputs: inputs[0] * np.float32(factor)).build()


@pytest.fixture
def register():
    """Register ops until the end of the test."""
    names = []

    def enter(op):
        ops.register_custom_op(op)
        names.append(op.name)
        return op

    yield enter
    for name in names:
        if ops.is_custom_op_registered(name):
            ops.unregister_custom_op(name)


def node(op_type, inputs, outputs, **attributes):
    return helper.make_node(op_type, inputs, outputs, name=f"{op_type}_0", domain=DOMAIN, **attributes)


def model_of(nodes, shape=(1, 4), outputs=("y",)):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets))


X = np.array([[1, 2, 3, 4]], np.float32)


def test_it_runs_alone_and_in_a_stack(register):
    register(scaled())
    model = model_of([node("scale_v2", ["x"], ["y"])]).transform(InferShapes())
    np.testing.assert_array_equal(execute_onnx(model, {"x": X})["y"], 2 * X)
    stack = np.stack([X, X + 1, X + 2])
    np.testing.assert_array_equal(Executor(model).run({"x": stack})["y"], 2 * stack)


def test_several_outputs_attributes_shapes_and_datatypes(register, tmp_path):
    register(Windowed())
    made = node("windowed", ["x"], ["y", "at"], size=3, gain=0.5, shifts=[2, 0])
    model = model_of([made], outputs=("y", "at"))
    model.set_tensor_datatype("x", DataType["INT4"])
    model = model.transform(InferShapes()).transform(InferDataTypes())
    model.save(str(tmp_path / "m.onnx"))
    model = ModelWrapper(str(tmp_path / "m.onnx"))
    assert (model.get_tensor_shape("y"), model.get_tensor_shape("at")) == ([1, 2], [2])
    assert [model.get_tensor_datatype(name).name for name in ("y", "at")] == ["INT8", "INT32"]
    model.set_tensor_datatype("y", DataType["FLOAT32"])
    found = execute_onnx(model, {"x": X})
    np.testing.assert_array_equal(found["y"], [[5, 6.5]])
    np.testing.assert_array_equal(found["at"], [0, 1])
    assert found["at"].dtype == np.int64


def test_shapes_are_inferred_behind_standard_nodes_and_behind_each_other(register):
    register(Windowed())
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]),
        node("windowed", ["t"], ["w", "at"]),
        helper.make_node("Relu", ["w"], ["r"]),
        node("windowed", ["r"], ["y", "at2"]),
    ]
    model = model_of(nodes, shape=(4, 1)).transform(InferShapes())
    assert model.get_tensor_shape("y") == [1, 2]
    assert model.check_all_tensor_shapes_specified()


def test_a_shape_that_is_not_known_is_said(register):
    register(Windowed())
    model = model_of([node("unknown", ["x"], ["h"]), node("windowed", ["h"], ["y", "at"])])
    del model.graph.node[0]
    with pytest.raises(OpError) as raised:
        model.transform(InferShapes())
    assert str(raised.value) == "node 'windowed_0' (windowed): the shape of its input 'h' is not known"


def test_attributes_have_the_op_s_defaults_and_kinds():
    operation = node_class(Windowed())(
        node("windowed", ["x"], ["y", "at"], gain=0.7, centred=1, factors=[0.1, 2.0])
    )
    assert operation.get_nodeattr("size") == 2
    assert operation.get_nodeattr("mode") == "sum"
    assert operation.get_nodeattr("shifts") == [0, 0]
    seen = {}
    operation.op.forward = lambda x, **attributes: seen.update(attributes) or (x, x)
    with pytest.raises(OpError):
        operation.execute_node({"x": X}, None)
    assert seen == {
        "size": 2, "gain": 0.7, "mode": "sum", "centred": True, "shifts": (0, 0), "factors": [0.1, 2.0],
    }  # fmt: skip


def expect_missing(made):
    with pytest.raises(
        MissingOpError, match=f"'{made.name}' uses the operation '{made.op_type}', which is not"
    ):
        getCustomOp(made)


def test_an_unknown_attribute_is_refused(register):
    register(Windowed())
    made = node("windowed", ["x"], ["y", "at"], sise=3)
    message = (
        "operation 'windowed' has no attribute 'sise'; it has size, gain, mode, centred, shifts, factors"
    )
    with pytest.raises(OpError) as raised:
        model_of([made]).transform(InferShapes())
    assert str(raised.value) == f"node 'windowed_0' (windowed): {message}"
    made.input.append("z")
    assert getCustomOp(made).verify_node() == [message, "operation 'windowed' has 1 input, the node 2"]


@pytest.mark.slow
def test_pitfall_35_a_name_that_qonnx_would_cut_is_whole(register):
    register(scaled("scale", 10))
    register(scaled("scale_v2", 2))
    register(scaled("scale_v3", 3))
    for name, factor in (("scale_v3", 3), ("scale", 10), ("scale_v2", 2)):
        model = model_of([node(name, ["x"], ["y"])]).transform(InferShapes())
        np.testing.assert_array_equal(execute_onnx(model, {"x": X})["y"], factor * X)
        assert get_supported_versions(DOMAIN, name) == [1]
    assert {"scale", "scale_v2", "scale_v3"} <= {name for name, _ in get_ops_in_domain(DOMAIN)}


def test_pitfall_35_a_key_error_inside_is_the_op_s_own(register):
    def fails(inputs):
        return {}["gamma"]

    register(ops.CustomOpBuilder("faulty", 1).forward(fails).build())
    model = model_of([node("faulty", ["x"], ["y"])]).transform(InferShapes())
    message = "node 'faulty_0' (faulty): Operation 'faulty' failed on shapes (1, 4): KeyError: 'gamma'"
    with pytest.raises(OpError) as raised:
        execute_onnx(model, {"x": X})
    assert str(raised.value) == message
    with pytest.raises(BuildError) as refused:
        Executor(model).run({"x": X[None]})
    assert str(refused.value) == f"node 'faulty_0' (faulty) cannot be executed: {message}"


def test_a_key_error_in_a_rule_is_the_op_s_own(register):
    faulty = ops.CustomOpBuilder("faulty", 1).forward(lambda inputs: inputs[0])
    register(faulty.output_shape(lambda shapes: {}["width"]).build())
    with pytest.raises(OpError) as raised:
        model_of([node("faulty", ["x"], ["y"])]).transform(InferShapes())
    assert str(raised.value) == "node 'faulty_0' (faulty): KeyError: 'width'"


def test_a_datatype_that_does_not_exist_is_the_op_s_own(register):
    op = register(scaled())
    op.output_datatype = lambda datatypes, **attributes: "WHOLE"
    with pytest.raises(OpError, match=r"^node 'scale_v2_0' \(scale_v2\): KeyError: "):
        model_of([node("scale_v2", ["x"], ["y"])]).transform(InferDataTypes())


def test_pitfall_35_what_is_unregistered_is_forgotten_and_what_is_registered_anew_is_used(register):
    register(scaled(factor=2))
    model = model_of([node("scale_v2", ["x"], ["y"])]).transform(InferShapes())
    assert execute_onnx(model, {"x": X})["y"][0, 0] == 2
    ops.unregister_custom_op("scale_v2")
    expect_missing(model.graph.node[0])
    with pytest.raises(
        BuildError,
        match=r"^node 'scale_v2_0' \(scale_v2\) cannot be executed: node 'scale_v2_0' uses the operation",
    ):
        Executor(model).run({"x": X[None]})
    ops.register_custom_op(scaled(factor=7))
    assert execute_onnx(model, {"x": X})["y"][0, 0] == 7


@pytest.mark.parametrize("name", ["Op", "registry", "CustomOpBuilder", "list_custom_ops"])
def test_an_op_may_be_called_like_something_that_the_package_offers(register, name):
    register(scaled(name, 3))
    assert not hasattr(getattr(ops, name, None), "get_nodeattr")
    model = model_of([node(name, ["x"], ["y"])]).transform(InferShapes())
    np.testing.assert_array_equal(execute_onnx(model, {"x": X})["y"], 3 * X)
    expect_missing(node("execute_custom_op", ["x"], ["y"]))


def test_a_class_of_qonnx_s_own_kind_may_be_an_op_of_the_domain():
    @op_decorator(name="whole_v2")
    class Whole_v2(CustomOp):
        def get_nodeattr_types(self):
            return {}

        def make_shape_compatible_op(self, model):
            return helper.make_node("Identity", [self.onnx_node.input[0]], [self.onnx_node.output[0]])

        def infer_node_datatype(self, model):
            pass

        def execute_node(self, context, graph):
            context[self.onnx_node.output[0]] = np.round(context[self.onnx_node.input[0]])

        def verify_node(self):
            return []

    model = model_of([node("whole_v2", ["x"], ["y"])]).transform(InferShapes())
    np.testing.assert_array_equal(execute_onnx(model, {"x": X + 0.2})["y"], X)
    np.testing.assert_array_equal(Executor(model).run({"x": np.stack([X + 0.2, X])})["y"], [X, X])
    with pytest.raises(OpError) as raised:
        ops.get_custom_op("whole_v2")
    assert str(raised.value) == "project:whole_v2 is a class of QONNX's nodes; it runs in a graph alone"


@pytest.mark.slow
def test_an_op_goes_with_its_bundle():
    fields = {"name": "acme", "version": "1.0.0", "description": "Ops.", "author": "Acme"}
    builder = BundleBuilder()
    for field, value in fields.items():
        getattr(builder, field)(value)
    bundle = builder.min_brainsmith_version("0.1.0").build()
    registry = BundleRegistry()
    model = model_of([node("scale_v2", ["x"], ["y"])])
    for factor in (2, 5):
        bundle.set_custom_operations_fn(lambda factor=factor: [scaled(factor=factor)])
        registry.register(bundle)
        np.testing.assert_array_equal(execute_onnx(model.transform(InferShapes()), {"x": X})["y"], factor * X)
        registry.unregister("acme")
        expect_missing(model.graph.node[0])


PLUGIN = """
from brainsmith.ops import Op
from brainsmith.plugin.core import op


@op(name="tripled_v2", num_inputs=1)
class Tripled(Op):
    def forward(self, x):
        return x * 3
"""

FRESH = """
import sys
import numpy as np
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

model = ModelWrapper(sys.argv[1]).transform(InferShapes())
print(execute_onnx(model, {"x": np.ones((1, 4), np.float32)})["y"].tolist())
"""


@pytest.mark.slow
def test_a_project_s_op_is_found_in_a_process_that_imported_nothing_of_ours(tmp_path):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "tripled.py").write_text(PLUGIN)
    model_of([node("tripled_v2", ["x"], ["y"])]).save(str(tmp_path / "m.onnx"))
    command = [sys.executable, "-c", FRESH, str(tmp_path / "m.onnx")]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (found.stdout, found.returncode) == ("[[3.0, 3.0, 3.0, 3.0]]\n", 0), found.stderr


@pytest.mark.parametrize(("attribute", "value"), [("slope", 1e300), ("slope", -4e38), ("count", 2**63)])
def test_a_number_that_a_node_cannot_hold_is_an_error(attribute, value):
    op = ops.CustomOpBuilder("large", 1).forward(lambda inputs: inputs[0]).build()
    op.attributes = {"slope": 0.5, "count": 1}
    with pytest.raises(OpError) as caught:
        to_node(op, {attribute: value})
    assert str(caught.value) == (
        f"attribute {attribute!r} of operation 'large' must be what a node can hold (floats of 32 bits, integers of 64), "
        f"not {value!r}"
    )
    assert to_node(op, {"slope": np.inf}) == {"slope": np.inf}
