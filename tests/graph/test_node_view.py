"""One node as every reader sees it: which operator it is, and what is proved of its tensors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.graph.model_facts import ModelFacts
from brainsmith.graph.node_view import NodeView, Unsupported


def view_of(op_type="Conv", domain="", **attributes):
    node = helper.make_node(op_type, ["x", "", "w"], ["y"], name="n", domain=domain, **attributes)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 2))
    graph = helper.make_graph([node], "one", [value], [helper.make_empty_tensor_value_info("y")])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
    return NodeView(node, ModelFacts(model, {"w": np.float32([3, -2])}))


@pytest.mark.parametrize(
    ("domain", "op_type", "known"),
    [
        ("", "Conv", ("", "Conv")),
        ("ai.onnx", "Conv", ("", "Conv")),
        ("onnx.brevitas", "Quant", ("qonnx.custom_op.general", "Quant")),
        ("finn.custom_op.fpgadataflow.rtl", "MVAU_rtl", ("finn.custom_op.fpgadataflow", "MVAU")),
        ("finn.custom_op.fpgadataflow.hls", "Pool_hls", ("finn.custom_op.fpgadataflow", "Pool")),
        ("brainsmith.backends.rtl", "CropRTL", ("brainsmith.backends.rtl", "CropRTL")),
    ],
)
def test_an_operator_is_known_as_what_it_computes(domain, op_type, known):
    view = view_of(op_type, domain)
    assert (view.family, view.kind) == known


def test_inputs_are_constants_or_vary_or_are_left_out():
    view = view_of()
    assert [view.given(at) for at in range(4)] == [True, False, True, False]
    assert [view.is_computed(at) for at in range(4)] == [True, False, False, False]
    assert view.span("w") == (-2, 3)
    assert view.span("x") is None


@given(st.integers(-(2**60), 2**60), st.integers(0, 2**60))
def test_what_is_proved_holds_of_the_values_as_float32(low, size):
    view = view_of()
    view.prove("y", low, low + size)
    proved = view.span("y")
    ends = [int(np.float32(end)) for end in (low, low + size)]
    assert proved[0] <= min(ends) <= max(ends) <= proved[1]
    assert [int(np.float32(end)) for end in proved] == list(proved)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda view: view.needed("group"), "its attribute group is missing"),
        (lambda view: view.needed_constant(0, "image"), "its image must be a constant, but is computed"),
        (lambda view: view.shape("y"), "the shape of 'y' is not known"),
    ],
)
def test_what_is_missing_is_named(ask, message):
    with pytest.raises(Unsupported) as caught:
        ask(view_of())
    assert str(caught.value) == message
