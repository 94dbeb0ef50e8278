"""What the worker asks of an op's class, asked in this process: its answers, and what is refused of them, there or here."""

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.base import CustomOp

from brainsmith.autodiff.op import Op
from brainsmith.errors import ForeignPluginError
from brainsmith.plugin.environments.foreign_ops import require_shape
from brainsmith.plugin.environments.worker_ops import ForeignNode


class Twice(CustomOp):
    def get_nodeattr_types(self):
        return {"by": ("i", False, 2), "mode": ("s", False, "a", {"a"})}

    def make_shape_compatible_op(self, model):
        return self.make_const_shape_op(model.get_tensor_shape("x"))

    def infer_node_datatype(self, model):
        model.set_tensor_datatype("y", DataType["INT5"])
        model.set_tensor_shape("y", [1, 3])
        self.set_nodeattr("by", 3)

    def execute_node(self, context, graph):
        assert [node.op_type for node in graph.node] == ["Twice"]
        context["y"] = context["x"] * context["w"] + context["y"].shape[0]

    def verify_node(self):
        return ["fine"]


def twice():
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 3)) for name in "xw"]
    node = helper.make_node("Twice", ["x", "w"], ["y"], name="n", domain="acme")
    last = helper.make_node("Neg", ["y"], ["z"], name="last")
    ends = [helper.make_tensor_value_info("z", TensorProto.FLOAT, (1, 3))]
    return ModelWrapper(helper.make_model(helper.make_graph([node, last], "g", values, ends)))


def asked(do, cls=Twice, model=None, stated=None, node=None, **more):
    data = (model or twice()).model.SerializeToString() if do in ("shape", "datatype") else None
    node = (node or twice().graph.node[0]).SerializeToString()
    values = {"node": node, "model": data, "at": 0 if data else None, "opset": 1, **more}
    return ForeignNode(cls, stated or {}, values).answer(do)


def executed(cls=Twice, stacks=None, given=None, **more):
    ones = np.ones((1, 3), np.float32)
    graph = helper.make_graph([twice().graph.node[0]], "g", [], []).SerializeToString()
    values = {
        "given": {"w": ones} if given is None else given,
        "stacks": stacks or {},
        "outputs": {"y": ((1, 3), "<f4")},
    }
    runs = len(stacks["x"]) if stacks else 1
    return asked("execute", cls, graph=graph, runs=runs, **values, **more)["result"]


def test_attributes_are_plain_and_what_verifies_is_given_as_it_is():
    assert asked("attributes") == {"result": {"by": ("i", False, 2), "mode": ("s", False, "a", ["a"])}}
    assert asked("verify") == {"result": ["fine"]}


def test_the_node_for_shapes_is_serialised():
    found = asked("shape")
    made = NodeProto.FromString(found["result"])
    assert (made.op_type, list(made.output), found["changes"]) == ("RandomNormal", ["y"], [])


def test_what_a_method_changes_of_tensors_and_of_its_own_node_is_given_back():
    found = asked("datatype")
    changes = {(field, name) for field, name, _ in found["changes"]}
    assert (found["result"], changes) == (None, {("quantization_annotation", "y"), ("value_info", "y")})
    assert NodeProto.FromString(found["node"]).attribute[0].i == 3


@pytest.mark.parametrize(
    ("do", "name"), [("datatype", "infer_node_datatype"), ("shape", "make_shape_compatible_op")]
)
def test_a_method_that_changes_more_is_an_error(do, name):
    class Odd(Twice):
        def infer_node_datatype(self, model):
            model.graph.node[1].op_type = "Abs"

        def make_shape_compatible_op(self, model):
            model.graph.node.pop()
            return super().make_shape_compatible_op(model)

    with pytest.raises(TypeError) as caught:
        asked(do, Odd)
    assert str(caught.value) == (
        f"{name} changed more of the model than its own node and the datatypes and shapes of tensors, which is not passed "
        "back"
    )


def test_an_annotation_that_is_removed_is_given_back_as_nothing():
    class Forgets(Twice):
        def infer_node_datatype(self, model):
            del model.graph.quantization_annotation[:]

    model = twice()
    model.set_tensor_datatype("y", DataType["INT4"])
    assert asked("datatype", Forgets, model)["changes"] == [("quantization_annotation", "y", None)]


def test_it_is_executed_once_or_once_for_each_run():
    x = np.arange(12, dtype=np.float32).reshape(4, 1, 3)
    assert executed(given={"x": x[1], "w": x[2]})["y"].tolist() == (x[1] * x[2] + 1).tolist()
    found = executed(stacks={"x": x})["y"]
    assert (found.shape, found.tolist()) == ((4, 1, 3), (x + 1).tolist())


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (object(), "object"),
        (None, "NoneType"),
        (np.array([None]), "an array of object"),
        (np.array("a"), "an array of <U1"),
    ],
)
def test_an_output_is_an_array_of_numbers(value, what):
    class Odd(Twice):
        def execute_node(self, context, graph):
            context["y"] = value

    with pytest.raises(TypeError) as caught:
        executed(Odd)
    assert str(caught.value) == (f"execute_node must give an array of numbers for output 'y', not {what}")


def test_what_stands_for_shapes_is_a_node():
    class Odd(Twice):
        def make_shape_compatible_op(self, model):
            return None

    with pytest.raises(TypeError) as caught:
        asked("shape", Odd)
    assert str(caught.value) == "make_shape_compatible_op must return a node, not NoneType"


def test_a_hardware_operator_is_refused():
    class HWCustomOp(Twice):
        """As FINN's is called."""

    class Hard(HWCustomOp):
        pass

    with pytest.raises(TypeError) as caught:
        asked("attributes", Hard)
    assert str(caught.value) == (
        "it is a hardware operator (HWCustomOp): those of another environment cannot be used"
    )


def test_an_op_of_brainsmiths_kind_is_a_node_where_brainsmith_is_installed():
    class Scale(Op):
        attributes = {"by": 2.0}

        def forward(self, x, s, *, by):
            return x * s * by

    node = helper.make_node("Scale", ["x", "s"], ["y"], name="n", domain="acme", by=4.0)
    stated = {"name": "scale", "num_inputs": 2}
    graph = helper.make_graph([node], "g", [], []).SerializeToString()
    given = {"x": np.float32([[-1, 0, 2]]), "s": np.float32(0.5)}
    values = {"given": given, "stacks": {}, "outputs": {}, "runs": 1}
    found = asked("execute", Scale, stated=stated, node=node, graph=graph, **values)["result"]
    assert found["y"].tolist() == [[-2.0, 0.0, 4.0]]
    assert asked("attributes", Scale, stated=stated, node=node)["result"] == {"by": ("f", False, 2.0)}


def test_an_output_of_another_shape_is_an_error():
    require_shape("", "y", (1, 3), (1, 3))
    require_shape("", "y", (1, 3), (0, 3))
    require_shape("", "y", (1, 3), None)
    with pytest.raises(ForeignPluginError) as caught:
        require_shape("node 'n' (acme:Bias): ", "y", (1, 2), (1, 3))
    assert str(caught.value) == (
        "node 'n' (acme:Bias): execute_node gave output 'y' the shape [1, 2], where the model states [1, 3]"
    )
