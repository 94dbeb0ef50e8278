import numpy as np
import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build.aligned import chosen_runs
from brainsmith.build.golden import GoldenData, load_golden
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BuildError, UnverifiedStepError, VerificationError
from tests.build import graphs


def no_parent():
    return None


def make(model, count=40, labels=None, expected=None, random=False, **tolerances):
    data = graphs.samples(model, count)[:, None]
    return Verifier(model, GoldenData(data, labels, expected, random=random), tolerances)


def refused(step, reason):
    """The message about a step that cannot be compared."""
    return (
        f"step '{step}' cannot be verified: {reason}\n"
        "  if it is meant to change the outputs, state the new ones, with which it is then checked: "
        f"`verify: {{changes_outputs: {{{step}: {{labels: Y.npy, expected: Z.npy}}}}}}`, one of them or both\n"
        f"  if it cannot be checked at all, say so: `verify: {{unverified: [{step}]}}`; the build then warns of it, "
        "and fails with --strict"
    )


def copied(model):
    return ModelWrapper(model.model, make_deepcopy=True)


def test_an_unchanged_model_verifies():
    model = graphs.quant_mlp()
    outcome = make(model).check("cleanup", copied(model), no_parent)
    assert (outcome.samples, outcome.mismatches, outcome.max_error, outcome.reason) == (40, 0, 0.0, "")


def test_a_flipped_weight_bit_is_found():
    model = graphs.quant_mlp()
    changed = copied(model)
    weights = changed.get_initializer("w0").copy()
    weights[2, 5] += 0.25  # the lowest bit of a 4-bit weight with a scale of 0.25
    changed.set_initializer("w0", weights)
    with pytest.raises(VerificationError) as caught:
        make(model).check("streamline", changed, no_parent)
    message = str(caught.value)
    assert message.startswith("step 'streamline' changed what the model computes: ")
    assert "worst at tensor 'm1', sample " in message
    assert message.endswith(
        "tolerance 6.0625e-05. The first tensor of the same name that differs is 'wq0'"
    ) or ("The first tensor of the same name that differs is 'm0'" in message)


def test_two_swapped_channels_are_found():
    model = graphs.quant_cnn()
    changed = copied(model)
    weights = changed.get_initializer("w").copy()
    changed.set_initializer("w", weights[[1, 0, 2]])
    with pytest.raises(VerificationError, match=r"^step 'lower' changed what the model computes: "):
        make(model).check("lower", changed, no_parent)


def test_a_tolerance_per_step():
    model = graphs.quant_mlp()
    changed = copied(model)
    changed.graph.node.append(helper.make_node("Add", ["m1", "tiny"], ["y"], name="shift"))
    changed.graph.output[0].name = "y"
    changed.set_initializer("tiny", np.asarray(0.01, np.float32))
    with pytest.raises(VerificationError, match=r"error 0\.01\d*, tolerance 0\.005"):
        make(model, **{"*": 0.005, "loose": 0.02}).check("other", changed, no_parent)
    outcome = make(model, **{"*": 0.005, "loose": 0.02}).check("loose", changed, no_parent)
    assert outcome.mismatches == 0
    assert outcome.max_error == pytest.approx(0.01, rel=1e-3)


def test_tolerances_by_name():
    verifier = make(graphs.quant_mlp(), **{"*": 0.1, "finn:step_tidy_up": 0.2})
    assert [verifier.tolerance(name) for name in ("finn:step_tidy_up", "cleanup")] == [0.2, 0.1]
    assert make(graphs.quant_mlp()).tolerance("cleanup") is None


@pytest.mark.parametrize("scale", [1.0, 2.0**-7, 2.0**5])
def test_large_integers_times_a_power_of_two_must_be_equal(scale):
    rng = np.random.default_rng(0)
    weights = rng.integers(-127, 128, (784, 10)).astype(np.float32) * np.float32(scale)
    inputs = rng.integers(0, 256, (16, 1, 784)).astype(np.float32)

    def network(more):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y" if more is None else "t"])]
        if more is not None:
            nodes.append(helper.make_node("Add", ["t", "more"], ["y"]))
        values = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", (1, 784)), ("y", (1, 10)))]
        model = ModelWrapper(helper.make_model(helper.make_graph(nodes, "g", values[:1], values[1:])))
        model.set_initializer("w", weights)
        if more is not None:
            model.set_initializer("more", more)
        return model

    verifier = Verifier(network(None), GoldenData(inputs), {})
    assert verifier.check("same", network(np.zeros(10, np.float32)), no_parent).mismatches == 0
    with pytest.raises(
        VerificationError, match=rf"16 of 16 samples differ; .*: error {scale:g}, tolerance 0"
    ):
        verifier.check("one_more", network(np.eye(10, dtype=np.float32)[3] * np.float32(scale)), no_parent)


def test_accuracy_and_classes():
    model = graphs.quant_mlp()
    labels = np.zeros(40, int)
    verifier = make(model, labels=labels)
    outcome = verifier.check("x", copied(model), no_parent, whole=True)
    assert verifier.accuracy == outcome.accuracy
    assert 0 < verifier.accuracy < 1


def test_a_step_after_which_the_model_cannot_be_executed_is_named():
    model = graphs.quant_mlp()
    changed = copied(model)
    changed.graph.node[-1].op_type = "NoSuchOp"
    changed.set_tensor_shape("m1", [1, 3])
    with pytest.raises(VerificationError) as caught:
        make(model).check("x", changed, no_parent)
    assert str(caught.value).startswith("what step 'x' made of the model cannot be executed: ")
    assert "NoSuchOp" in str(caught.value)


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        (
            "no.such",
            "No opset import for domain no.such optype NoSuchOp",
        ),
        ("brainsmith.ops", "uses the operation 'NoSuchOp', which is not registered"),
    ],
)
def test_an_operator_that_python_does_not_know_cannot_be_verified(domain, reason):
    model = graphs.quant_mlp()
    changed = copied(model)
    changed.graph.node[-1].op_type, changed.graph.node[-1].domain = "NoSuchOp", domain
    with pytest.raises(UnverifiedStepError) as caught:
        make(model).check("x", changed, no_parent)
    assert reason in str(caught.value)
    outcome = make(model, random=True).check("x", changed, no_parent)
    assert (outcome.samples, str(caught.value)) == (0, refused("x", outcome.reason))


@pytest.mark.parametrize(
    ("datatype", "text"),
    [("INT8", "holds a value that is 0.5 from the nearest whole number"), ("UINT1", "holds ")],
)
def test_a_step_that_annotates_what_is_not_so_is_named(datatype, text):
    model = graphs.quant_mlp()
    changed = copied(model)
    changed.graph.node.append(helper.make_node("Mul", ["m1", "one"], ["y"], name="scale"))
    changed.graph.output[0].name = "y"
    changed.set_initializer("one", np.asarray(1, np.float32))
    changed.graph.node.append(helper.make_node("Floor", ["m1"], ["floor"], name="floor"))
    changed.graph.node.append(helper.make_node("Add", ["floor", "half"], ["off"], name="off"))
    changed.set_initializer("half", np.asarray(0.5 if datatype == "INT8" else 7, np.float32))
    for name in ("floor", "off", "y"):
        changed.set_tensor_shape(name, [1, 3])
    changed.set_tensor_datatype("off", DataType[datatype])
    with pytest.raises(VerificationError) as caught:
        make(model).check("annotate", changed, no_parent)
    start = f"what step 'annotate' made of the model cannot be executed: tensor 'off' is annotated as {DataType[datatype]}"
    assert str(caught.value).startswith(start)
    assert text in str(caught.value)


def test_one_partition_among_others_cannot_be_verified(tmp_path):
    model, parent, child = parent_and_child(tmp_path)
    parent.graph.node.append(helper.make_node("StreamingDataflowPartition", ["m1"], ["m2"], name="other"))
    reason = "it is one of 2 dataflow partitions of a larger model"
    with pytest.raises(UnverifiedStepError) as caught:
        make(model).check("part", child, lambda: parent)
    assert str(caught.value) == refused("part", reason)
    verifier = make(model, random=True)
    outcome = verifier.check("part", child, lambda: parent)
    assert (outcome.samples, outcome.reason) == (0, reason)
    later = verifier.check("later", child, lambda: parent)  # by itself, from here on
    assert (later.samples, later.reference, later.notes) == (
        8, "part", ("run with 8 random inputs, because step 'part' changed the model's",)
    )  # fmt: skip
    weights = child.get_initializer("w1").copy()
    child.set_initializer("w1", weights[::-1].copy())
    with pytest.raises(VerificationError, match=r"^step 'latest' changed what the model computes: "):
        verifier.check("latest", child, lambda: parent)


def test_a_partition_without_its_file_cannot_be_verified(tmp_path):
    model, parent, _ = parent_and_child(tmp_path)
    parent.graph.node[-1].domain = "finn.custom_op.fpgadataflow"
    outcome = make(model, random=True).check("part", parent, no_parent)
    assert outcome.samples == 0
    assert "gone.onnx" in outcome.reason
    with pytest.raises(UnverifiedStepError) as caught:
        make(model).check("part", parent, no_parent)
    assert str(caught.value) == refused("part", outcome.reason)


def test_outputs_that_cannot_be_compared_end_the_build():
    with pytest.raises(UnverifiedStepError) as caught:
        make(graphs.quant_mlp()).check("x", graphs.quant_mlp((6, 8, 4)), no_parent)
    reason = "its output 'm1' has shape (1, 4), and 'm1' of the input model (1, 3)"
    assert str(caught.value) == refused("x", reason)


def test_with_random_inputs_later_steps_are_compared_with_the_step_that_could_not_be():
    model, other = graphs.quant_mlp(), graphs.quant_mlp((6, 8, 4))
    verifier = make(model, random=True)
    outcome = verifier.check("x", other, no_parent)
    reason = "its output 'm1' has shape (1, 4), and 'm1' of the input model (1, 3)"
    assert (outcome.samples, outcome.reason, verifier.baseline.step) == (0, reason, "x")
    found = verifier.check("y", copied(other), no_parent)
    assert (found.samples, found.mismatches, found.reference) == (40, 0, "x")
    with pytest.raises(VerificationError, match=r"^step 'z' changed what the model computes: .* tensor 'm1'"):
        verifier.check("z", graphs.quant_mlp((6, 8, 4), seed=3), no_parent)


def test_absorbed_transposes_still_verify():
    model = graphs.quant_cnn()
    changed = copied(model)
    changed.graph.input[0].CopyFrom(helper.make_tensor_value_info("nhwc", 1, [1, 6, 6, 2]))
    changed.graph.node.insert(0, helper.make_node("Transpose", ["nhwc"], ["x"], name="t", perm=[0, 3, 1, 2]))
    changed.graph.node.append(helper.make_node("ArgMax", ["y"], ["top"], name="top", axis=1, keepdims=0))
    changed.graph.output[0].CopyFrom(helper.make_tensor_value_info("top", 7, [1]))
    outcome = make(model).check("absorb", changed, no_parent)
    assert (outcome.samples, outcome.mismatches, outcome.reason) == (40, 0, "")
    assert outcome.notes == (
        "input 'nhwc' transposed from (1, 2, 6, 6) to (1, 6, 6, 2)",
        "output 'top' is a class number, compared with the largest of 'y'",
    )


def parent_and_child(tmp_path):
    """Split the network after its first activation, as FINN's partitioning does."""
    model = graphs.quant_mlp()
    child = copied(model)
    child.graph.node.remove(child.graph.node[0])
    child.graph.input[0].CopyFrom(helper.make_tensor_value_info("a0", 1, [1, 6]))
    parent = copied(model)
    del parent.graph.node[1:]
    partition = helper.make_node(
        "GenericPartition", ["a0"], ["m1"], name="part", domain="qonnx.custom_op.general", model="gone.onnx"
    )
    partition.op_type = "StreamingDataflowPartition"
    parent.graph.node.append(partition)
    parent.set_tensor_shape("a0", [1, 6])
    return model, parent, child


def test_a_dataflow_partition_is_run_inside_its_parent(tmp_path):
    model, parent, child = parent_and_child(tmp_path)
    verifier = make(model)
    assert verifier.check("part", child, lambda: parent).samples == 40
    weights = child.get_initializer("w1").copy()
    child.set_initializer("w1", weights[::-1].copy())
    with pytest.raises(VerificationError):
        verifier.check("part", child, lambda: parent)


def test_expected_outputs_are_checked_before_any_step():
    model = graphs.quant_mlp()
    data = graphs.samples(model)[:, None]
    outputs = make(model).baseline.outputs["m1"]

    def check(expected):
        golden = load_golden(model, data, None, expected)
        Verifier(model, golden, {}).check_expected()

    check(outputs[:, 0])
    check(outputs.reshape(40, -1).argmax(axis=1))
    wrong = outputs.copy()
    wrong[7, 0, 1] += 1
    with pytest.raises(VerificationError) as caught:
        check(wrong)
    assert str(caught.value).startswith(
        "the input model does not compute the expected outputs, before any step: 1 of 40 samples differ; worst at "
        "tensor 'm1', sample 7: error 1, tolerance "
    )
    with pytest.raises(BuildError) as caught:
        check(wrong[:, 0, :2])
    assert str(caught.value) == (
        "the given array holds outputs of shape (40, 2); output 'm1' has 3 values for each of 40 inputs, or its "
        "class number alone"
    )


def test_chosen_samples_are_spread_and_the_same():
    verifier = make(graphs.quant_mlp(), count=100)
    chosen = chosen_runs(verifier.baseline, 32)
    assert len(chosen) == 32
    assert (chosen[0], chosen[-1]) == (0, 99)
