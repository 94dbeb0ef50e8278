import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError, MissingOpError
from brainsmith.execution import known_operators
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy

X = np.float32([[[-1, 0, 2, 3]]])


def value(name, kind=TensorProto.FLOAT, shape=(1, 4)):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(node, inputs=("x",)):
    kinds = {"c": (TensorProto.BOOL, [])}
    graph = helper.make_graph(
        [node], "g", [value(name, *kinds.get(name, ())) for name in inputs], [value("y")]
    )
    return ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)]))


def lowered(op_type, domain=""):
    node = helper.make_node(op_type, ["x"], ["y"], name="n", domain=domain)
    return lower(runnable_copy(model_of(node)))


@pytest.mark.parametrize(
    ("op_type", "domain", "why", "refusal"),
    [
        (
            "HardSwish",
            "",
            "opset 13 of domain 'ai.onnx' has no operator 'HardSwish'",
            "No Op registered for HardSwish with domain_version of 13",
        ),
        (
            "Unheard",
            "com.microsoft",
            "operator 'Unheard' of domain 'com.microsoft' is defined by neither QONNX, FINN nor a plugin that was found",
            "com.microsoft:Unheard(-1) is not a registered function/op",
        ),
        (
            "Unheard",
            "qonnx.custom_op.general",
            "operator 'Unheard' of domain 'qonnx.custom_op.general' is defined by neither QONNX, FINN nor a plugin that "
            "was found",
            "qonnx.custom_op.general:Unheard(-1) is not a registered function/op",
        ),
    ],
)
def test_an_operator_that_nothing_knows_is_refused_while_lowering(op_type, domain, why, refusal):
    with pytest.raises(BuildError) as caught:
        lowered(op_type, domain)
    start = f"node 'n' ({op_type}) cannot be executed: {why}; ONNX Runtime refuses it: [ONNXRuntimeError] : "
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(refusal)


def test_an_op_that_is_not_registered_says_who_offers_it():
    with pytest.raises(BuildError) as caught:
        lowered("gelu", "brainsmith.ops")
    assert isinstance(caught.value.__cause__, MissingOpError)
    assert str(caught.value) == (
        "node 'n' (gelu) cannot be executed: node 'n' uses the operation 'gelu', which is not registered\n"
        "  it is one of the examples that ship with brainsmith: ops.register_example_custom_ops()"
    )


def test_what_only_onnx_runtime_knows_runs():
    program = lowered("Gelu", "com.microsoft")
    found = program.run({"x": X})["y"]
    np.testing.assert_allclose(found, [[[-0.15865529, 0, 1.9544997, 2.9959502]]], rtol=1e-6)


def test_no_session_is_made_for_an_operator_that_onnx_knows(monkeypatch):
    monkeypatch.setattr(known_operators, "open_node", lambda *given: pytest.fail("a session was opened"))
    assert [made.function for made in lowered("ThresholdedRelu").instructions] == ["foreign.node"]


@pytest.mark.parametrize(("op_type", "known"), [("Celu", True), ("Unheard", False)])
def test_a_node_inside_of_a_branch(op_type, known):
    branches = [
        helper.make_graph([helper.make_node(op_type, ["x"], [name])], name, [], [value(name)])
        for name in ("yes", "no")
    ]
    node = helper.make_node("If", ["c"], ["y"], name="n", then_branch=branches[0], else_branch=branches[1])
    model = model_of(node, ("c", "x"))
    if known:
        assert [made.function for made in lower(model).instructions] == ["foreign.node"]
        return
    with pytest.raises(
        BuildError, match=r"^node 'n' \(If\) cannot be executed: opset 13 .* no operator 'Unheard'; "
    ):
        lower(model)


def test_where_a_type_is_not_known_onnx_runtime_is_not_asked():
    nodes = [
        helper.make_node(op_type, [source], [made], name=op_type, domain="com.microsoft")
        for op_type, source, made in (("Gelu", "x", "middle"), ("Unheard", "middle", "y"))
    ]
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")])
    model = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)]))
    assert [made.function for made in lower(model).instructions] == ["foreign.node"] * 2
