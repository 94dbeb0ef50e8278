"""FINN's elementwise layers: what the table of layers does not say."""

import numpy as np
import pytest
from onnx import helper

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.onnx.rewritten import run_rewritten
from tests.execution.operators.layer_cases import elementwise_node, filled
from tests.execution.program.single_node import FINN, one_node, run_program, run_reference


@pytest.mark.parametrize(
    ("kinds", "types"), [(("INT4", "INT4"), ("float32", "float32")), (("INT30", "INT4"), ("int64", "int64"))]
)
def test_sums_are_of_single_precision_where_that_is_exact(kinds, types):
    program = lower(runnable_copy(elementwise_node("Add", [(1, 4), (1, 4)], kinds)))
    (made,) = [made for made in program.instructions if made.function == "whole_elementwise.combine"]
    assert made.parameters["types"] == types


@pytest.mark.parametrize("run", [run_program, run_rewritten])
def test_our_backend_of_sums_is_executed_as_its_kernel(run):
    random = np.random.default_rng(0)
    model = elementwise_node("Add", [(1, 3, 4), (1, 3, 4)], ("INT4", "INT4"))
    stacks = {name: filled(random, "INT4", (1, 3, 4)) for name in "ab"}
    wanted = run_reference(model, stacks)["y"]
    (node,) = model.graph.node
    node.op_type, node.domain = "ElementwiseAddInt_rtl", f"{FINN}.rtl"
    model.model.opset_import.append(helper.make_opsetid(node.domain, 1))
    np.testing.assert_array_equal(run(model, stacks)["y"], wanted)


def test_products_beyond_float32_are_refused_in_standard_onnx():
    with pytest.raises(ModelError) as caught:
        rewrite(elementwise_node("Mul", [(1, 3), (1, 3)], ("INT16", "INT16")))
    assert str(caught.value).endswith(": its results may reach 1073741824, where float32 is not exact")


def test_an_attribute_that_is_missing():
    with pytest.raises(ModelError) as caught:
        rewrite(one_node("StreamingSplit", {"x": (1, 6)}, {"y": (1, 4), "z": (1, 2)}, domain=FINN))
    assert str(caught.value) == (
        "node 'node' (StreamingSplit) cannot be written with standard ONNX operators: its attribute ChannelsPerStream is "
        "missing"
    )
