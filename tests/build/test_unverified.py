"""Steps that give other outputs or cannot be compared: refused, or named by the blueprint; never skipped."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.transformation.general import GiveUniqueNodeNames

from brainsmith.blueprint.schema import Blueprint, ChangesOutputs, Verify
from brainsmith.build import build
from brainsmith.build.golden import GoldenData
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BlueprintError, BuildError, UnverifiedStepError, VerificationError
from tests.build import graphs

CLASSES = 10
KEPT = 7


def same(model, cfg):
    return model


def cut(model, cfg):
    """Negate the last layer, and keep seven of ten classes: an accelerator with other classes."""
    model.set_initializer("w1", np.ascontiguousarray(-model.get_initializer("w1")[:, :KEPT]))
    model.set_tensor_shape("m1", [1, KEPT])
    return model


def break_weights(model, cfg):
    weights = model.get_initializer("w0").copy()
    weights[0, 0] += 0.25
    model.set_initializer("w0", weights)
    return model


def narrow_inputs(model, cfg):
    """Take two inputs less: no golden input fits any more."""
    model.set_initializer("w0", np.ascontiguousarray(model.get_initializer("w0")[:4]))
    for name in ("x", "a0"):
        model.set_tensor_shape(name, [1, 4])
    model.set_tensor_shape("wq0", [4, 8])
    return model


def annotate_wrongly(model, cfg):
    """Annotate whole numbers down to -15 as INT4."""
    model.set_tensor_datatype("x", DataType["INT5"])
    model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["inner"], name="identity"))
    model.graph.node[1].input[0] = "inner"
    model.set_tensor_shape("inner", [1, 6])
    model.set_tensor_datatype("inner", DataType["INT4"])
    return model


def whole_inputs():
    return np.random.default_rng(0).integers(-15, 16, (40, 6)).astype(np.float32)


def run(tmp_path, steps, inputs=None, verify=None, **more):
    model = graphs.quant_mlp((6, 8, CLASSES))
    blueprint = Blueprint("flow.yaml", verify=verify or Verify())
    data = graphs.samples(model) if inputs is None else inputs
    options = {"verify_inputs": data, "use_cache": False, "report": False, **more}
    return build(model, blueprint, tmp_path / "out", steps=steps, **options)


def outputs_of(*steps):
    """The outputs on the golden inputs after some steps."""
    from brainsmith.execution.execute import Executor

    model = graphs.quant_mlp((6, 8, CLASSES))
    for step in steps:
        model = step(model, None)
    return Executor(model).run({"x": graphs.samples(model)[:, None]})["m1"].reshape(40, -1)


def saved(file, array):
    np.save(file, array)
    return str(file)


def test_a_step_that_changes_the_outputs_ends_the_build(tmp_path):
    with pytest.raises(UnverifiedStepError) as caught:
        run(tmp_path, [same, cut, same])
    assert str(caught.value).splitlines() == [
        "step 'cut' cannot be verified: its output 'm1' has shape (1, 7), and 'm1' of the input model (1, 10)",
        "  if it is meant to change the outputs, state the new ones, with which it is then checked: "
        "`verify: {changes_outputs: {cut: {labels: Y.npy, expected: Z.npy}}}`, one of them or both",
        "  if it cannot be checked at all, say so: `verify: {unverified: [cut]}`; the build then warns of it, and fails "
        "with --strict",
        "  steps before it: same",
        f"  last good model: {tmp_path}/out/failed/checkpoints/01_same.onnx",
    ]
    report = json.loads((tmp_path / "out/failed/report.json").read_text())
    assert (report["error"]["step"], report["shortfalls"]) == ("cut", [])


def test_expected_values_of_the_new_form_are_checked_and_later_steps_compared(tmp_path):
    expected, labels = outputs_of(cut), outputs_of(cut).argmax(axis=1)
    stated = ChangesOutputs(saved(tmp_path / "y.npy", labels), saved(tmp_path / "z.npy", expected))
    verify = Verify(changes_outputs={"cut": stated})
    result = run(tmp_path, [same, cut, same], verify=verify, verify_labels=np.arange(40) % CLASSES)
    before, changed, after = [step.verified for step in result.steps]
    assert (before.samples, before.reference, before.changes_outputs) == (40, "", "")
    assert (changed.samples, changed.max_error, changed.changes_outputs) == (40, 0.0, "expected")
    assert (after.samples, after.reference, after.accuracy) == (40, "cut", 1.0)
    assert result.accuracy["before"] < 1
    assert result.proven
    with pytest.raises(VerificationError, match=r"^step 'break_weights' changed what the model computes: "):
        run(tmp_path, [cut, break_weights], verify=verify)


@pytest.mark.slow
def test_labels_of_the_new_form_give_the_accuracy_and_no_error(tmp_path):
    labels = outputs_of(cut).argmax(axis=1)
    labels[:10] = (labels[:10] + 1) % KEPT
    stated = ChangesOutputs(labels=saved(tmp_path / "y.npy", labels))
    result = run(tmp_path, [cut], verify=Verify(changes_outputs={"cut": stated}))
    found = result.report["steps"][0]["verified"]
    assert (found["samples"], found["max_error"], found["changes_outputs"]) == (40, None, "labels")
    assert (result.steps[0].verified.accuracy, result.proven) == (0.75, True)


def test_a_step_that_does_not_give_what_is_stated(tmp_path):
    expected = outputs_of(cut)
    expected[3, 2] += 1
    verify = Verify(changes_outputs={"cut": ChangesOutputs(expected=saved(tmp_path / "z.npy", expected))})
    with pytest.raises(VerificationError) as caught:
        run(tmp_path, [cut], verify=verify)
    assert str(caught.value).splitlines()[0].rpartition(", tolerance")[0] == (
        "step 'cut' does not give what verify.changes_outputs.cut.expected states: 1 of 40 samples differ; worst at "
        "tensor 'm1', sample 3: error 1"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"expected": np.zeros((40, 5))},
            "step 'cut' gives 7 values for each sample, as output 'm1', and verify.changes_outputs.cut.expected has 5",
        ),
        (
            {"labels": np.arange(40) % CLASSES},
            "step 'cut' gives 7 values for each sample, and verify.changes_outputs.cut.labels holds labels from 0 to 9",
        ),
    ],
)
def test_data_that_are_not_of_the_new_form(tmp_path, data, message):
    files = {name: saved(tmp_path / f"{name}.npy", array) for name, array in data.items()}
    with pytest.raises(VerificationError) as caught:
        run(tmp_path, [cut], verify=Verify(changes_outputs={"cut": ChangesOutputs(**files)}))
    assert str(caught.value).splitlines()[0] == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"labels": np.zeros(3)}, "{file} holds 3 labels for 40 inputs: one each is needed"),
        (
            {"expected": np.zeros((3, 7))},
            "{file} holds outputs of shape (3, 7) for 40 inputs: one each is needed",
        ),
    ],
)
def test_data_of_other_samples_are_refused_before_the_first_step(tmp_path, data, message):
    files = {name: saved(tmp_path / "new.npy", array) for name, array in data.items()}
    with pytest.raises(BuildError) as caught:
        run(tmp_path, [cut], verify=Verify(changes_outputs={"cut": ChangesOutputs(**files)}))
    assert str(caught.value) == message.format(file=tmp_path / "new.npy")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_step_that_the_blueprint_names_is_not_verified_but_what_follows_is(tmp_path):
    verify = Verify(unverified=("cut",))
    result = run(tmp_path, [same, cut, same], verify=verify, report=True)
    _, named, after = [step.verified for step in result.steps]
    assert (named.samples, named.reason) == (0, "the blueprint names it in verify.unverified")
    assert (after.samples, after.mismatches, after.reference) == (40, 0, "cut")
    assert [shortfall.text for shortfall in result.shortfalls] == [
        "step 'cut' was not verified: the blueprint names it in verify.unverified; later steps are compared with its result"
    ]
    assert result.report["targets"]["after"] == "cut"
    with pytest.raises(VerificationError, match=r"^step 'break_weights' changed what the model computes: "):
        run(tmp_path, [cut, break_weights], verify=verify)


@pytest.mark.slow
def test_accuracy_after_other_outputs_is_measured_with_labels_of_these_only(tmp_path):
    labels = np.arange(40) % CLASSES
    result = run(tmp_path, [cut, same], verify=Verify(unverified=("cut",)), verify_labels=labels)
    assert result.accuracy["before"] is not None
    assert result.accuracy["after"] is None


def test_where_golden_inputs_do_not_fit_any_more_random_ones_are_run(tmp_path):
    verify = Verify(unverified=("narrow_inputs",))
    result = run(tmp_path, [narrow_inputs, same], verify=verify)
    after = result.steps[1].verified
    assert (after.samples, after.reference, after.notes) == (
        8,
        "narrow_inputs",
        ("run with 8 random inputs, because step 'narrow_inputs' changed the model's",),
    )
    with pytest.raises(VerificationError, match=r"^step 'break_weights' changed what the model computes: "):
        run(tmp_path, [narrow_inputs, break_weights], verify=verify)


def test_other_inputs_with_stated_outputs_are_a_contradiction(tmp_path):
    stated = ChangesOutputs(expected=saved(tmp_path / "z.npy", np.zeros((40, CLASSES))))
    with pytest.raises(VerificationError) as caught:
        run(tmp_path, [narrow_inputs], verify=Verify(changes_outputs={"narrow_inputs": stated}))
    assert str(caught.value).splitlines()[0] == (
        "step 'narrow_inputs' changes the model's inputs, and verify.changes_outputs.narrow_inputs states outputs for the "
        "golden ones"
    )


@pytest.mark.parametrize("golden", [True, False])
def test_a_wrong_annotation_that_a_step_makes_ends_the_build(tmp_path, golden):
    """INT4 on an inner tensor that holds -15; with random inputs too, for these do not fit by accident."""
    model = graphs.quant_mlp((6, 8, CLASSES))
    model.set_tensor_datatype("x", DataType["INT5"])
    more = {"verify_inputs": whole_inputs()} if golden else {}
    with pytest.raises(VerificationError) as caught:
        build(
            model,
            None,
            tmp_path / "out",
            steps=[same, annotate_wrongly, same],
            use_cache=False,
            report=False,
            **more,
        )
    assert str(caught.value).splitlines()[0] == (
        "what step 'annotate_wrongly' made of the model cannot be executed: tensor 'inner' is annotated as INT4, but holds "
        + ("-15" if golden else "-16")
    )


def test_a_wrong_annotation_in_the_model_ends_the_build(tmp_path):
    model = annotate_wrongly(graphs.quant_mlp((6, 8, CLASSES)), None)
    with pytest.raises(BuildError) as caught:
        build(model, None, tmp_path / "out", steps=[same], verify_inputs=whole_inputs(), use_cache=False)
    assert str(caught.value) == (
        "the input model cannot be executed: tensor 'inner' is annotated as INT4, but holds -15\n"
        "  so no step can be verified with the golden inputs: correct the model, or build it without verification: "
        "--no-verify (verify=False)"
    )


@pytest.mark.parametrize(
    ("name", "declared", "has"), [("m0", [1, 7], [1, 8]), ("m0", [8], [1, 8]), ("wq1", [7, 10], [8, 10])]
)  # the last one is of a constant
def test_a_wrong_shape_of_an_inner_tensor_ends_the_build(tmp_path, name, declared, has):
    model = graphs.quant_mlp((6, 8, CLASSES))
    model.set_tensor_shape(name, declared)
    with pytest.raises(BuildError) as caught:
        build(model, None, tmp_path / "out", steps=[same], verify_inputs=whole_inputs(), use_cache=False)
    assert str(caught.value) == (
        f"the input model cannot be executed: tensor '{name}' is declared with the shape {declared}, but has {has}\n"
        "  so no step can be verified with the golden inputs: correct the model, or build it without verification: "
        "--no-verify (verify=False)"
    )


def test_a_wrong_shape_that_a_step_declares_ends_the_build(tmp_path):
    def declare_wrongly(model, cfg):
        model.set_tensor_shape("m0", [1, 7])
        return model

    with pytest.raises(VerificationError) as caught:
        run(tmp_path, [same, declare_wrongly, same], inputs=whole_inputs())
    assert str(caught.value).splitlines()[0] == (
        "what step 'declare_wrongly' made of the model cannot be executed: tensor 'm0' is declared with the shape [1, 7], "
        "but has [1, 8]"
    )


def test_names_of_steps_are_those_of_the_steps_that_run(tmp_path):
    with pytest.raises(BlueprintError) as caught:
        run(tmp_path, [same, cut], verify=Verify(unverified=("cutt",)))
    assert str(caught.value) == (
        "(no file): verify.unverified names 'cutt', which is not a step of this build. Did you mean 'cut'?"
    )
    stated = ChangesOutputs(labels=saved(tmp_path / "y.npy", np.zeros(40)))
    with pytest.raises(BlueprintError) as caught:
        run(tmp_path, [cut], verify=Verify(unverified=("cut",), changes_outputs={"cut": stated}))
    assert str(caught.value) == (
        "(no file): verify.unverified names 'cut', and so does verify.changes_outputs: a step is in one of them"
    )


def test_outputs_stated_for_the_blueprints_inputs_are_not_taken_for_others(tmp_path):
    inputs = saved(tmp_path / "x.npy", np.zeros((40, 6)))
    stated = ChangesOutputs(labels=saved(tmp_path / "y.npy", np.zeros(40)))
    verify = Verify(inputs=inputs, changes_outputs={"cut": stated})
    with pytest.raises(BuildError) as caught:
        run(tmp_path, [cut], verify=verify)
    assert str(caught.value) == (
        "verify.changes_outputs in flow.yaml states outputs for the blueprint's own inputs, and others were given: leave "
        "verify.inputs out of the blueprint, or give no others"
    )
    with pytest.raises(BuildError) as caught:
        run(tmp_path, [cut], verify=replace(verify, inputs=None), verify_inputs=None)
    assert str(caught.value) == (
        "there are data of new outputs (verify.changes_outputs.cut) to verify with, but no inputs: give verify inputs too"
    )


def uniquely_named(model, cfg):
    return model.transform(GiveUniqueNodeNames())


def negate(model, cfg):
    """Give other outputs of the same form: no step may, unless it is named."""
    model.set_initializer("w1", np.ascontiguousarray(-model.get_initializer("w1")))
    return model


def no_parent():
    return None


EXCEPTIONS = {"cut": cut, "narrow_inputs": narrow_inputs, "negate_named": negate}
STEPS = {"same": same, "uniquely_named": uniquely_named, **EXCEPTIONS}


@settings(max_examples=25, deadline=None)
@given(names=st.lists(st.sampled_from(sorted(STEPS)), max_size=5), random=st.booleans(), fault=st.booleans())
def test_whatever_came_before_a_fault_is_found_and_nothing_else(names, random, fault):
    """No exception turns verification off: after any of them the next steps are compared, and a wrong one is named."""
    model = graphs.quant_mlp((6, 8, CLASSES))
    golden = GoldenData(graphs.samples(model)[:, None], random=random)
    verifier = Verifier(model, golden, {}, unverified=tuple(EXCEPTIONS))
    done = set()
    for name in names:
        if name in ("cut", "narrow_inputs") and name in done:
            continue
        done.add(name)
        model = STEPS[name](model, None)
        found = verifier.check(name, model, no_parent)
        assert (found.samples > 0) is (name not in EXCEPTIONS)
    if fault:
        with pytest.raises(VerificationError, match=r"^step 'negate' changed what the model computes: "):
            verifier.check("negate", negate(model, None), no_parent, whole=True)
    else:
        assert verifier.check("same", model, no_parent, whole=True).samples == (
            8 if "narrow_inputs" in done else 40
        )
