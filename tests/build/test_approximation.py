"""Steps that approximate, as the blueprint states: checked, reported, and the reference of what follows."""

import numpy as np
import pytest
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.blueprint.schema import Approximation
from brainsmith.build.float_model import float_accuracy, float_distance
from brainsmith.build.golden import GoldenData, load_golden
from brainsmith.build.verifier import Verifier
from brainsmith.errors import BuildError, VerificationError
from brainsmith.web.step_result import FloatDistance
from tests.build import graphs

COUNT = 40


def no_parent():
    return None


def nudged(model, row=2, by=0.25):
    """Return the model with a weight that is one level off."""
    changed = ModelWrapper(model.model, make_deepcopy=True)
    weights = changed.get_initializer("w0").copy()
    weights[row, 5] += by
    changed.set_initializer("w0", weights)
    return changed


def verifier(model, approximations, labels=True):
    data = graphs.samples(model, COUNT)[:, None]
    before = Verifier(model, GoldenData(data), {})
    floats = before.baseline.outputs["m1"].reshape(COUNT, -1) + 0.5
    golden = GoldenData(data, before.baseline.predictions if labels else None, floats=floats)
    return Verifier(model, golden, {}, approximations)


def test_a_stated_approximation_is_measured_and_becomes_the_reference():
    model = graphs.quant_mlp()
    check = verifier(model, {"approximate": Approximation(100.0, COUNT)})
    assert check.check("before", ModelWrapper(model.model, make_deepcopy=True), no_parent).reference == ""
    found = check.check("approximate", nudged(model), no_parent)
    assert (found.samples, found.mismatches, found.reference) == (COUNT, 0, "")
    assert found.max_error > 0
    assert found.accuracy == 1 - found.changed / COUNT
    after = check.check("after", nudged(model), no_parent)
    assert (after.max_error, after.changed, after.reference) == (0.0, None, "approximate")
    with pytest.raises(VerificationError, match=r"^step 'back' changed what the model computes: "):
        check.check("back", ModelWrapper(model.model, make_deepcopy=True), no_parent)


def test_more_error_than_stated_is_a_difference():
    model = graphs.quant_mlp()
    check = verifier(model, {"approximate": Approximation(1e-6, COUNT)})
    with pytest.raises(VerificationError, match=r"^step 'approximate' changed .*, tolerance 1e-06"):
        check.check("approximate", nudged(model), no_parent)


def test_more_changed_classes_than_stated_are_a_difference():
    model = graphs.quant_mlp()
    worse = nudged(model, by=7.0)
    changed = verifier(model, {"a": Approximation(1e3, COUNT)}).check("a", worse, no_parent).changed
    assert changed > 0
    check = verifier(model, {"a": Approximation(1e3, changed - 1)})
    with pytest.raises(VerificationError) as caught:
        check.check("a", worse, no_parent)
    assert str(caught.value) == (
        f"step 'a' changed what the model computes: it puts {changed} of {COUNT} samples into another class, and "
        f"verify.approximate allows {changed - 1}"
    )


def test_the_distance_from_a_float_model_is_reported_and_never_checked():
    model = graphs.quant_mlp()
    check = verifier(model, {})
    assert check.distance == FloatDistance(1.0, 0.5, 0.5)
    found = check.check("same", ModelWrapper(model.model, make_deepcopy=True), no_parent, whole=True)
    assert found.distance == FloatDistance(1.0, 0.5, 0.5)


def test_a_model_of_classes_has_only_an_agreement():
    floats = np.asarray([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [0.0, 3.0]])
    assert float_distance(floats, np.asarray([1, 0, 0, 1]), None) == FloatDistance(0.75, None, None)
    assert float_accuracy(floats, np.asarray([1, 0, 1, 0])) == 0.75
    assert float_accuracy(floats, None) is None


def test_float_outputs_must_fit_the_model():
    model = graphs.quant_mlp()
    inputs = graphs.samples(model, 3)
    values = int(np.prod(model.get_tensor_shape("m1")))
    assert load_golden(model, inputs, None, None, np.zeros((3, values))).floats.shape == (3, values)
    with pytest.raises(BuildError) as caught:
        load_golden(model, inputs, None, None, np.zeros((3, values + 1)))
    assert str(caught.value) == (
        f"the given array holds outputs of shape (3, {values + 1}); output 'm1' has {values} values for each of 3 "
        "inputs"
    )
    with pytest.raises(BuildError, match="there are float outputs to verify with, but no inputs"):
        load_golden(model, None, None, None, np.zeros((3, values)))
