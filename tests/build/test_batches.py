"""Models whose batch is more than 1: golden data count samples, a run takes several of them."""

import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.blueprint.schema import Approximation
from brainsmith.build import build
from brainsmith.build.golden import load_golden
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BuildError, VerificationError
from brainsmith.execution.execute import Executor
from tests.build import graphs

BATCH, RUNS = 4, 6
SAMPLES = BATCH * RUNS
DATA = graphs.samples(graphs.quant_mlp(), SAMPLES)
OUTPUTS = Executor(graphs.quant_mlp()).run({"x": DATA[:, None]})["m1"].reshape(SAMPLES, -1)
CLASSES = OUTPUTS.argmax(axis=1)


def no_parent():
    return None


def same(model, cfg):
    return model


def copied(model):
    return ModelWrapper(model.model, make_deepcopy=True)


def verifier(approximations=None):
    model = graphs.quant_mlp(batch=BATCH)
    labels = CLASSES.copy()
    labels[:6] = (labels[:6] + 1) % 3
    return model, Verifier(model, load_golden(model, DATA, labels, OUTPUTS), {}, approximations or {})


def test_samples_are_counted_and_each_has_a_class():
    model, check = verifier()
    check.check_expected()
    assert (check.samples, check.accuracy) == (SAMPLES, 0.75)
    found = check.check("same", copied(model), no_parent, whole=True)
    assert (found.samples, found.accuracy) == (SAMPLES, 0.75)


def test_class_numbers_of_a_batch_are_compared_one_by_one():
    model, check = verifier()
    changed = copied(model)
    changed.graph.node.append(helper.make_node("ArgMax", ["m1"], ["top"], name="top", axis=1, keepdims=0))
    changed.graph.output[0].CopyFrom(helper.make_tensor_value_info("top", 7, [BATCH]))
    found = check.check("top", changed, no_parent, whole=True)
    assert (found.samples, found.accuracy) == (SAMPLES, 0.75)
    assert found.notes == ("output 'top' is a class number, compared with the largest of 'm1'",)


def test_one_wrong_sample_of_a_batch_is_one_and_named():
    """Only the third sample of each run is changed, and one that the change brings most error is named."""
    model, check = verifier()
    changed = copied(model)
    offset = np.zeros((BATCH, 3), np.float32)
    offset[2, 1] = 0.5
    changed.set_initializer("offset", offset)
    changed.graph.node.append(helper.make_node("Add", ["m1", "offset"], ["y"], name="shift"))
    changed.graph.output[0].name = "y"
    with pytest.raises(VerificationError) as caught:
        check.check("shift", changed, no_parent)
    said = str(caught.value)
    assert said.startswith(
        f"step 'shift' changed what the model computes: {RUNS} of {SAMPLES} samples differ; worst at "
    )
    assert int(said.partition(", sample ")[2].partition(":")[0]) % BATCH == 2
    _, check = verifier({"shift": Approximation(0.5, SAMPLES)})
    before = OUTPUTS.copy()
    before[2::BATCH, 1] += 0.5
    expected = int((before.argmax(axis=1) != CLASSES).sum())
    assert check.check("shift", changed, no_parent).changed == expected


@pytest.mark.parametrize("shape", [(SAMPLES, 6), (RUNS, BATCH, 6)])
@pytest.mark.slow
def test_a_build_takes_samples_or_batches(tmp_path, shape):
    np.save(tmp_path / "x.npy", DATA.reshape(shape))
    result = build(
        graphs.quant_mlp(batch=BATCH),
        output=tmp_path / "out",
        steps=[same],
        verify_inputs=tmp_path / "x.npy",
        verify_labels=CLASSES,
        report=False,
    )
    assert result.accuracy == {"samples": SAMPLES, "before": 1.0, "after": 1.0}
    assert result.proven


@pytest.mark.slow
def test_steps_find_the_inputs_as_runs(tmp_path):
    shapes = []

    def noted(model, cfg):
        shapes.append(np.load(cfg.verify_input_npy).shape)
        return model

    build(
        graphs.quant_mlp(batch=BATCH),
        output=tmp_path / "out",
        steps=[noted],
        verify_inputs=DATA,
        verify=False,
    )
    assert shapes == [(RUNS, BATCH, 6)]


def failure(inputs, labels=None, expected=None):
    with pytest.raises(BuildError) as caught:
        load_golden(graphs.quant_mlp(batch=BATCH), inputs, labels, expected)
    return str(caught.value)


def test_what_does_not_fit_a_batch():
    assert failure(DATA[:-1]) == "the given array: input 'x' must have shape (n * 4, 6), not (23, 6)"
    assert failure(DATA, labels=np.zeros(RUNS)) == (
        f"the given array holds {RUNS} labels for {SAMPLES} inputs: one each is needed"
    )
    assert failure(DATA, expected=np.zeros((RUNS, 3))) == (
        "the given array holds outputs of shape (6, 3); output 'm1' has 3 values for each of 24 inputs, or its "
        "class number alone"
    )
