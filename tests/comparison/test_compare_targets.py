"""Models run on several targets, one of which may be wrong."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith import targets
from brainsmith.comparison.compare_targets import compare_targets, devices_of
from brainsmith.errors import InputError, UsageError
from brainsmith.targets.numpy import NumpyExecution

X = np.arange(-6, 6, dtype=np.float32).reshape(6, 2)


def model():
    """Return y = floor(1.5 x + 1) * 3."""
    nodes = [
        helper.make_node("Mul", ["x", "a"], ["scaled"], name="scale"),
        helper.make_node("Add", ["scaled", "b"], ["shifted"], name="shift"),
        helper.make_node("Floor", ["shifted"], ["whole"], name="round"),
        helper.make_node("Mul", ["whole", "c"], ["y"], name="spread"),
    ]
    constants = [
        helper.make_tensor(name, TensorProto.FLOAT, [1], [value])
        for name, value in (("a", 1.5), ("b", 1.0), ("c", 3.0))
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    graph = helper.make_graph(nodes, "small", ends[:1], ends[1:], constants)
    return ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))


class Wrong(NumpyExecution):
    """NumPy, with one tensor a little off, and what follows from it."""

    @classmethod
    def metadata(cls):
        return targets.PluginInfo(name="wrong", type="target", priority=0, device_types=("wrong",))

    def execute(self, prepared, inputs, *, keep=()):
        found = {name: array.copy() for name, array in super().execute(prepared, inputs, keep=keep).items()}
        for name, error in ERRORS.items():
            found[name][2, -1] += error
        return found


ERRORS = {}


@pytest.fixture
def wrong():
    """Make a target that errs, in the tensors and by as much as the test says."""
    targets.get_registry().register(Wrong)
    ERRORS.clear()
    yield ERRORS.update
    targets.get_registry().unregister("wrong")


def compared(devices, inputs=X, **options):
    small = model()
    return compare_targets(dict.fromkeys(devices, small), inputs, **options)


@pytest.mark.slow
def test_targets_that_are_right_agree_with_the_reference():
    first, *others = compared(["reference", "numpy", "onnxruntime"])
    assert (first.outputs, first.inside, first.agrees) == (1, 0, True)
    for one in others:
        assert (one.agrees, one.worst, one.first, one.outputs, one.inside) == (True, 0, None, 1, 3)


def test_the_first_node_that_differs_is_named(wrong):
    wrong({"whole": 1.0, "y": 3.0})
    _, one = compared(["numpy", "wrong"])
    assert not one.agrees
    assert (one.worst, one.inside) == (3.0, 3)
    place = one.first
    assert (place.tensor, place.node, place.samples, place.error) == ("whole", "Floor 'round'", 1, 1.0)
    assert (place.index, place.found - place.expected) == ((2, 1), 1.0)


def test_an_output_that_is_used_within_the_model_has_its_place_in_the_order(wrong):
    wrong({"whole": 1.0, "y": 3.0})
    small = model()
    small.graph.output.append(helper.make_tensor_value_info("whole", TensorProto.FLOAT, [1, 2]))
    _, one = compare_targets({"numpy": small, "wrong": small}, X)
    assert [found.tensor for found in one.differences] == ["y", "whole"]
    assert (one.first.tensor, one.first.node) == ("whole", "Floor 'round'")


def test_a_difference_that_no_output_shows_is_told_and_allowed(wrong):
    wrong({"scaled": 0.01})
    _, one = compared(["numpy", "wrong"])
    assert one.agrees
    assert (one.first.tensor, one.first.node) == ("scaled", "Mul 'scale'")


@pytest.mark.slow
def test_floats_may_differ_by_the_tolerance(wrong):
    wrong({"scaled": 1e-6, "y": 0})
    assert compared(["numpy", "wrong"])[1].first is None
    wrong({"scaled": 1e-4, "y": 0})
    assert compared(["numpy", "wrong"])[1].first.tensor == "scaled"
    assert compared(["numpy", "wrong"], tolerance=1e-3)[1].first is None


def test_whole_outputs_have_no_tolerance(wrong):
    wrong({"y": 1.0})
    assert not compared(["numpy", "wrong"], tolerance=1.0)[1].agrees


def test_inputs_that_do_not_fit_are_the_models_error():
    with pytest.raises(InputError) as caught:
        compared(["numpy", "reference"], np.zeros((2, 3), np.float32))
    assert str(caught.value) == "input 'x' must have shape (n, 2), not (2, 3)"


@pytest.mark.parametrize("text", ["numpy", "numpy,numpy", "", ","])
def test_targets_are_listed_each_once(text):
    with pytest.raises(UsageError) as caught:
        devices_of(text)
    assert str(caught.value) == (
        f"--targets must list two targets or more, each once, such as reference,numpy; not {text!r}"
    )


def test_a_tolerance_is_a_share():
    with pytest.raises(UsageError) as caught:
        compared(["numpy", "reference"], tolerance=-1.0)
    assert str(caught.value) == "the tolerance must be 0 or more, not -1.0"
    with pytest.raises(UsageError) as caught:
        compared(["numpy"])
    assert str(caught.value) == "a comparison needs two targets or more, not 1"


@pytest.mark.slow
def test_a_target_that_cannot_is_an_entry_with_the_reason_where_that_is_wanted(wrong):
    wrong({"absent": 1.0})
    _, failed, right = compared(["reference", "wrong", "numpy"], strict=False)
    assert not failed.agrees
    assert failed.reason.startswith("target 'wrong' failed in execute: KeyError: 'absent'")
    assert (failed.outputs, right.agrees, right.reason) == (0, True, "")


def with_its_class(at):
    """Return the small model with the class of its output in place of it."""
    small = model()
    node = helper.make_node("ArgMax", ["y"], ["class"], name="best", axis=1, keepdims=at)
    small.graph.node.append(node)
    del small.graph.output[:]
    shape = [1, 1] if at else [1]
    small.graph.output.append(helper.make_tensor_value_info("class", TensorProto.INT64, shape))
    return small


@pytest.mark.slow
def test_a_class_number_is_compared_with_the_number_of_the_largest_value():
    _, one = compare_targets({"reference": model(), "numpy": with_its_class(1)}, X)
    assert (one.agrees, one.worst, one.outputs) == (True, 0, 1)
    assert "output 'class' is a class number, compared with the largest of 'y'" in one.notes


def test_another_class_is_a_difference(wrong):
    wrong({"class": 1})
    _, one = compare_targets({"reference": model(), "wrong": with_its_class(1)}, X)
    assert not one.agrees
    assert (one.worst, one.differences[0].samples, one.differences[0].tolerance) == (1, 1, 0)


def test_a_float_that_is_rounded_to_another_level_is_told_as_that(wrong):
    wrong({"shifted": -4e-6, "whole": -1.0, "y": -3.0})
    (_, one) = compared(["numpy", "wrong"], inputs=X)
    assert one.first.tensor == "whole"
    assert one.rounding == ""  # the floor of -0.5 less a trifle is no other level
    even = X * 2
    _, one = compared(["numpy", "wrong"], inputs=even)
    assert not one.agrees
    assert one.told("numpy") == (
        "wrong first differs from numpy at tensor 'whole' of node Floor 'round': [2, 1] is -3, not -2; error 1, allowed 0, "
        "in 1 sample\n"
        "  the floats before it agree within the tolerance: 'shifted' is -2.00000405, not -2, which is rounded to "
        "another level, as in 1 of 12 values"
    )


def quantised():
    """Return y = Quant(1.5 x), with levels of 0.5."""
    nodes = [
        helper.make_node("Mul", ["x", "a"], ["whole"], name="scale"),
        helper.make_node(
            "Quant",
            ["whole", "step", "zero", "bits"],
            ["y"],
            name="levels",
            domain="qonnx.custom_op.general",
            signed=1,
            narrow=0,
            rounding_mode="ROUND",
        ),
    ]
    constants = [
        helper.make_tensor(name, TensorProto.FLOAT, [1], [value])
        for name, value in (("a", 1.25), ("step", 0.5), ("zero", 0.0), ("bits", 8.0))
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in "xy"]
    graph = helper.make_graph(nodes, "levels", ends[:1], ends[1:], constants)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets))


def test_the_neighbouring_level_of_a_quantiser_is_told_with_the_tolerance_that_allows_it(wrong):
    wrong({"whole": -1e-6, "y": -0.5})
    pair = dict.fromkeys(["numpy", "wrong"], quantised())
    _, one = compare_targets(pair, X)
    # 1.25 * -1 is halfway between -1.5 and -1, and goes to the even level.
    assert one.told("numpy") == (
        "wrong first differs from numpy at tensor 'y' of node Quant 'levels': [2, 1] is -1.5, not -1; error 0.5, allowed "
        "7.5e-06, in 1 sample\n"
        "  the floats before it agree within the tolerance: 'whole' is -1.25000095, not -1.25, which is rounded to "
        "another level, as in 1 of 12 values; --tolerance 7.3e-02 allows it"
    )
    assert compare_targets(pair, X, tolerance=7.3e-2)[1].agrees
    wrong({"y": -1.0})
    assert compare_targets(pair, X)[1].rounding == ""  # two levels
