"""Generated inputs hold extremes, patterns and ties, and show what golden inputs without ties do not."""

import itertools
import json

import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.errors import VerificationError
from brainsmith.execution.generated_inputs import Range, generated_inputs, range_of
from tests.build.graphs import quant_mlp
from tests.steps.conftest import Graph, integers

BLUEPRINT = "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns}\n"


def ties(datatype="INT5"):
    """Return a layer whose quantiser halves sums of whole numbers: every second one is a tie."""
    graph = Graph(1, 4)
    graph.node("MatMul", graph.weights(np.eye(4, 3, dtype=np.float32), bits=2))
    return graph.quant(4, scale=2.0).model(1, 3, datatype=datatype).transform(InferShapes())


@pytest.mark.parametrize("datatype", ["INT5", "UINT3", "BIPOLAR", "TERNARY"])
def test_generated_inputs_are_values_of_the_datatype_with_both_ends(datatype):
    model, kind = ties(datatype), DataType[datatype]
    stack = generated_inputs(model, "in").stack
    assert stack.dtype == np.float32
    assert stack.shape[1:] == (1, 4)
    assert all(kind.allowed(value) for value in np.unique(stack))
    flat = stack.reshape(len(stack), -1).tolist()
    low, high = kind.min(), kind.max()
    assert all([value] * 4 in flat for value in (low, high))
    assert [high, low, high, low] in flat
    assert [low, high, low, high] in flat
    rest = low if datatype == "BIPOLAR" else 0
    assert [high, rest, rest, rest] in flat
    assert len(stack) == len({tuple(frame) for frame in flat})


def test_weights_that_a_constant_node_gives_are_no_inner_tensor():
    model = ties()
    quantiser = next(node for node in model.graph.node if node.op_type == "Quant")
    (tensor,) = (each for each in model.graph.initializer if each.name == quantiser.input[0])
    model.graph.node.insert(0, helper.make_node("Constant", [], [tensor.name], value=tensor))
    model.graph.initializer.remove(tensor)
    np.testing.assert_array_equal(generated_inputs(model, "in").stack, generated_inputs(ties(), "in").stack)


def test_the_same_model_gets_the_same_inputs():
    first, second = (generated_inputs(ties(), "in").stack for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_every_value_of_a_small_range_comes_in():
    assert set(np.unique(generated_inputs(ties(), "in").stack)) == set(range(-16, 16))


@pytest.mark.parametrize("rounding", ["ROUND", "FLOOR"])
def test_inner_tensors_lie_on_just_below_and_just_above_where_each_level_ends(rounding):
    """Every sum that a frame of three values of INT3 may have is compared with those that were found."""
    weights = np.asarray([[2], [-3], [5]], np.float32)
    graph = Graph(1, 3)
    graph.node("MatMul", graph.weights(weights, bits=4))
    model = graph.quant(4, scale=4.0).model(1, 1, datatype="INT3").transform(InferShapes())
    getCustomOp(model.graph.node[-1]).set_nodeattr("rounding_mode", rounding)
    shift = 0.5 if rounding == "ROUND" else 0.0
    sums = [np.asarray(frame) @ weights[:, 0] for frame in itertools.product(range(-4, 4), repeat=3)]
    possible = np.unique(sums) / 4 + shift
    found = np.unique(generated_inputs(model, "in").stack[:, 0] @ weights) / 4 + shift
    for end in range(-8, 9):
        assert (end in found) == (end in possible)
        assert max(found[found < end]) == max(possible[possible < end])
        assert min(found[found > end]) == min(possible[possible > end])


def test_the_range_of_floats_is_that_of_the_quantiser_behind():
    model = quant_mlp()
    assert range_of(model, "x") == Range(-2.5, 2.5, False, 0.125)
    values = np.unique(generated_inputs(model, "x").stack)
    for tie in (0.125, -0.375):
        assert {
            np.float32(tie),
            np.nextafter(np.float32(tie), np.float32(9)),
            np.nextafter(np.float32(tie), np.float32(-9)),
        } <= set(values)


def round_down(model, cfg):
    """Quantise as if there were no ties."""
    for node in model.get_nodes_by_op_type("Quant"):
        getCustomOp(node).set_nodeattr("rounding_mode", "FLOOR")
    return model


@pytest.mark.parametrize(
    ("wrong", "differ"),
    [(round_down, 28), pytest.param("finn:step_qonnx_to_finn", 40, marks=pytest.mark.slow)],
    ids=["ours", "finns"],
)
def test_golden_inputs_without_ties_pass_a_wrong_step_and_generated_ones_do_not(tmp_path, wrong, differ):
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text(BLUEPRINT)
    golden = np.asarray([[2, -4, 8, 0], [4, 0, -2, 6]], np.float32)
    words = {"verify_inputs": golden, "use_cache": False, "report": False}
    with pytest.raises(VerificationError) as caught:
        build(ties(), blueprint, tmp_path / "out", steps=["cleanup", wrong], **words)
    first, last = str(caught.value).split("\n")[:2]
    name = wrong if isinstance(wrong, str) else "round_down"
    assert first.startswith(f"step {name!r} changed what the model computes: {differ} of 71 samples differ; ")
    assert last == (
        "  shown by inputs that the build generated (extremes, patterns, values around thresholds), not by the golden ones"
    )


def test_the_report_has_both_counts(tmp_path):
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text(BLUEPRINT + "  steps: [cleanup, qonnx_to_finn]\n")
    golden = integers(0, 3, 4)
    lines = []
    build(
        ties(), blueprint, tmp_path / "out", verify_inputs=golden, use_cache=False, report=False,
        progress=lambda step: lines.append(str(step)),
    )  # fmt: skip
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    generated = len(generated_inputs(ties(), "in").stack)
    assert (report["golden"]["samples"], report["golden"]["generated"]) == (3, generated)
    assert [step["verified"]["generated"] for step in report["steps"]] == [generated] * 2
    assert lines[0] == f"input model: 3 samples; {generated} generated inputs"


def test_a_model_that_refuses_generated_inputs_is_a_shortfall(tmp_path):
    graph = Graph(1, 4)
    graph.node("MatMul", graph.weights(2 * np.eye(4, 3, dtype=np.float32), bits=3)).node("Relu")
    model = graph.model(1, 3, datatype="UINT3").transform(InferShapes())
    model.set_tensor_datatype(model.graph.node[-2].output[0], DataType["UINT3"])  # of values up to 14
    name = model.graph.node[-2].output[0]
    result = build(
        model, output=tmp_path / "out", steps=[lambda model, cfg: model], use_cache=False, report=False,
        verify_inputs=np.ones((2, 4), np.float32),
    )  # fmt: skip
    told = f"tensor '{name}' is annotated as UINT3, but holds 14"
    assert [shortfall.text for shortfall in result.shortfalls] == [
        f"nothing was verified with inputs that the build generates: {told}"
    ]
    assert result.report["golden"]["generated_problem"] == told
