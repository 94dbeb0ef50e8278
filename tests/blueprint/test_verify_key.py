"""The key verify: golden data, tolerances and the steps that may approximate."""

import os

import pytest

from brainsmith.blueprint.schema import Approximation, ChangesOutputs

SAMPLES = "the samples that it belongs to"


def test_an_approximation_has_an_error_and_counts_classes(files):
    text = "verify: {approximate: {hardware_inference: {error: 0.5, classes: 3}, fold: {error: 0}}}"
    found = files.body(text).verify
    assert found.approximate == {
        "hardware_inference": Approximation(0.5, 3),
        "fold": Approximation(0.0, 0),
    }
    assert found.positions["approximate.fold"].column == 72


def test_steps_that_change_outputs_or_are_not_verified(files):
    text = "verify: {changes_outputs: {cut: {labels: y.npy}, trim: {expected: /z.npy}}, unverified: [finn:odd, fold]}"
    found = files.body(text).verify
    assert found.changes_outputs == {
        "cut": ChangesOutputs(labels=os.path.join(str(files.folder), "y.npy")),
        "trim": ChangesOutputs(expected="/z.npy"),
    }
    assert found.unverified == ("finn:odd", "fold")
    columns = {key: place.column for key, place in found.positions.items()}
    assert columns["changes_outputs.cut.labels"] == 36
    assert columns["unverified.fold"] == 102


def test_the_outputs_of_a_float_model_lie_beside_the_blueprint(files):
    found = files.body("verify: {inputs: x.npy, float: y.npy}").verify
    assert found.float_outputs == os.path.join(str(files.folder), "y.npy")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("verify: {tolerance: 0}", None),
        ("verify: {targets: []}", []),
        ("verify: {targets: [reference, ~acme:board]}", ["reference", "acme:board"]),
    ],
)
def test_the_targets_that_are_compared(files, text, names):
    found = files.body(text).verify.targets
    assert (found if found is None else [name.qualified for name in found]) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("verify: {float: y.npy}", f"2:12: verify.float needs verify.inputs, {SAMPLES}"),
        (
            "verify: {approximate: {fold: {classes: 1}}}",
            "2:26: verify.approximate.fold must state error, the largest absolute error of an output",
        ),
        (
            "verify: {changes_outputs: {cut: {}}}",
            "2:30: verify.changes_outputs.cut must name labels or expected, of the outputs that the step gives",
        ),
        (
            "verify: {changes_outputs: {cut: {label: y.npy, expected: z.npy}}}",
            "2:36: unknown key 'label' in verify.changes_outputs.cut. Did you mean 'labels'?",
        ),
        (
            "verify: {unverified: [cut, 3]}",
            "2:30: verify.unverified[1] must be the name of a step, not 3",
        ),
        ("strict: 1", "2:11: strict must be true or false, not 1"),
        ("strict: [true]", "2:11: strict must be true or false, not a list"),
        (
            "verify: {approximate: {fold: {error: -1}}}",
            "2:40: verify.approximate.fold.error must be a number from 0 up, not -1",
        ),
        (
            "verify: {approximate: {fold: {error: 1, classes: 1.5}}}",
            "2:52: verify.approximate.fold.classes must be a whole number from 0 up, not 1.5",
        ),
        (
            "verify: {approximate: {fold: {eror: 1, error: 1}}}",
            "2:33: unknown key 'eror' in verify.approximate.fold. Did you mean 'error'?",
        ),
        (
            "verify: {approximate: fold}",
            "2:25: verify.approximate must be a mapping, not 'fold'",
        ),
        (
            "verify: {targets: [numpy]}",
            "2:12: verify.targets must list two targets or more, the one to compare with first, or none: []",
        ),
        (
            "verify: {targets: ~}",
            "2:12: verify.targets must list two targets or more, the one to compare with first, or none: [], "
            "not null",
        ),
        (
            "verify: {targets: [numpy, 'rtlsim:0']}",
            "2:29: verify.targets names targets, and rtlsim:0 is a device: write rtlsim",
        ),
        ("verify: {targets: numpy}", "2:21: verify.targets must be a list, not 'numpy'"),
        (
            "verify: {targets: [numpy, 3]}",
            "2:29: verify.targets[1] must be a name (Streamline, finn:Streamline, or ~Streamline if it is optional), not 3",
        ),
    ],
)
def test_what_is_wrong_with_it(files, text, expected):
    assert files.body_errors(text) == [f"x.yaml:{expected}"]
