"""Each law finds the transform that breaks it, names the place, and lets right transforms pass."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper
from qonnx.core.datatype import DataType

from brainsmith.plugins import transforms as tfm
from brainsmith.testing import check_transform, make_model, op_types
from brainsmith.testing.default_models import default_models, named_operators
from brainsmith.testing.transform_laws import differences
from tests.test_docs import ROOT
from tests.testing import broken_transforms as broken


def chain(*kinds, shape=(2, 3)):
    names = ["x", *(f"t{at}" for at in range(len(kinds) - 1)), "y"]
    nodes = [helper.make_node(kind, [names[at]], [names[at + 1]]) for at, kind in enumerate(kinds)]
    return make_model(nodes, {"x": shape}, ["y"])


def failure(transform, *models, **options):
    with pytest.raises(AssertionError) as caught:
        check_transform(transform, list(models) or None, **options)
    return str(caught.value)


def test_another_reader_of_a_tensor_inside_is_seen_and_the_page_shows_the_message():
    message = failure(broken.CollapseAll, chain("Neg", "Neg"))
    page = (ROOT / "docs" / "testing.md").read_text()
    shown = re.search(r"((?:^    .*\n)+)\n`make_model", page, re.MULTILINE).group(1)
    assert [line.removeprefix("    ") for line in shown.splitlines()] == message.splitlines()


def test_a_model_whose_output_has_another_name_is_told():
    assert failure(broken.RenameOutput, chain("Relu", "Identity")) == (
        "RenameOutput of models[0] (Relu Identity): the outputs of the model differ\n"
        "  before: y FLOAT [2, 3]\n  after:  t0 FLOAT [2, 3]"
    )


def test_what_grows_each_time_is_told():
    assert failure(broken.GrowEachTime, chain("Relu")) == (
        "GrowEachTime of models[0] (Relu): applying it twice differs from applying it once, first in node 0\n"
        "  once:  Relu Identity\n  twice: Relu Identity Identity"
    )


def test_another_result_is_told_with_its_place():
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "c"], ["y"])]
    model = make_model(nodes, {"x": (1, 2)}, ["y"], {"c": np.float32([0, 0.5])})
    model.set_tensor_datatype("x", DataType["UINT2"])
    message = failure(broken.DropBias, model)
    assert re.fullmatch(
        r"DropBias of models\[0\] \(Relu Add\): output 'y' differs: \d+ values of \d+, first at \[0, 0, 1\]: 0\.5 before,"
        r" 0\.0 after\n  before: Relu Add\n  after:  Relu",
        message,
    )
    check_transform(broken.DropBias, [model], atol=0.5)


def test_a_constant_with_two_readers_is_tried():
    nodes = [helper.make_node("Sub", ["x", "c"], ["y"])]
    model = make_model(nodes, {"x": (1, 2)}, ["y"], {"c": np.float32([1, 2])})
    assert failure(broken.OneReader, model).startswith(
        "OneReader of models[0] (Sub), its nodes twice, reading the same inputs and constants: output 'y' differs: "
    )


def test_what_cannot_be_executed_afterwards_is_told():
    message = failure(broken.WrongType, chain("Neg"))
    assert message.startswith(
        "WrongType of models[0] (Neg): ONNX Runtime refuses what it made: [ONNXRuntimeError] : "
    )
    assert message.endswith("\n  before: Neg\n  after:  Mul")


def test_a_check_that_tests_nothing_fails():
    assert failure(broken.NothingAtAll, chain("Relu"), chain("Neg", "Relu")) == (
        "NothingAtAll changed no node, constant or datatype of 6 models, so nothing was tested: models[0] (Relu),"
        " models[1] (Neg Relu)\n"
        "  give check_transform models that it is made for: models=[make_model(...)]"
    )
    assert failure(broken.NothingAtAll).startswith("NothingAtAll changed no node, constant or datatype of ")
    with pytest.raises(AssertionError) as caught:
        check_transform(broken.NothingAtAll, [])
    assert str(caught.value) == "check_transform(NothingAtAll): no models; give some with models=[...]"


def test_without_an_operator_in_its_source_models_are_asked_for():
    class Local(broken.Transformation):
        def apply(self, model):
            return model, False

    Local.__module__ = "builtins"  # so that the file's own operators do not count
    assert failure(Local) == (
        "Local: its source names no operator; so there is nothing to apply it to\n"
        "  give check_transform models that it is made for: models=[make_model(...)]"
    )


def test_an_error_of_the_transform_keeps_its_traceback_and_says_where():
    with pytest.raises(KeyError) as caught:
        check_transform(broken.Falls, [chain("Relu", "Sqrt")])
    assert caught.value.__notes__ == ["while applying Falls of models[0] (Relu Sqrt): Relu Sqrt"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rtol"),
    [
        ("ConvertDivToMul", 1e-6),
        ("MergeOpChains", 1e-5),
        ("PlainGemm", 1e-5),
        ("RemoveIdentityOps", 0),
        ("PairOperands", 0),
    ],
)
def test_our_own_transforms_pass_on_models_that_are_made_for_them(name, rtol):
    results = check_transform(tfm[name], rtol=rtol, atol=1e-4 * bool(rtol))
    assert len(results) > 5


def test_the_operators_that_a_transform_names_are_read_from_its_source():
    assert named_operators(broken.CollapseAll) == ["Neg", "Identity"]
    assert named_operators(tfm.PlainGemm)[0] == "Gemm"
    labels = [label for label, _ in default_models(tfm.ConvertDivToMul)]
    assert labels == [
        *("Div", "Mul", "Div Div", "Mul Mul", "Relu Div Neg", "Relu Mul Neg", "Div Mul", "Mul Div"),
        *("Div of one tensor twice", "Mul of one tensor twice"),
    ]


@settings(max_examples=30, deadline=None)
@given(kinds=st.lists(st.sampled_from(["Relu", "Neg", "Identity", "Abs"]), min_size=1, max_size=5))
def test_a_right_transform_passes_on_any_chain(kinds):
    if "Identity" not in kinds[:-1] and kinds != ["Identity"]:
        kinds = ["Identity", *kinds, "Abs"]
    (after,) = check_transform(tfm.RemoveIdentityOps, [chain(*kinds, "Neg")])
    assert op_types(after) == [kind for kind in [*kinds, "Neg"] if kind != "Identity"]


def test_a_class_that_needs_arguments_is_given_as_an_instance():
    with pytest.raises(TypeError) as caught:
        check_transform(broken.NeedsNames, [chain("Relu")])
    assert caught.value.__notes__ == [
        "check_transform calls a class without arguments; give it an instance where that needs some"
    ]
    (after,) = check_transform(broken.NeedsNames("Relu", "Relu"), [chain("Relu", "Relu")])
    assert op_types(after) == ["Relu"]


def test_differences_of_arrays():
    ones = np.ones((2, 2), np.float32)
    assert differences(ones, ones.copy()) is None
    assert differences(np.float32([np.nan]), np.float32([np.nan])) is None
    assert differences(ones, ones[:1]) == "float32 (2, 2) before, float32 (1, 2) after"
    assert differences(ones, ones.astype(np.float64)) == "float32 (2, 2) before, float64 (2, 2) after"
    other = ones.copy()
    other[1, 0] = 3
    assert differences(ones, other) == "1 value of 4, first at [1, 0]: 1.0 before, 3.0 after"
    assert differences(ones, other, rtol=2) is None
    assert (
        differences(np.int64([1]), np.int64([2]), rtol=9) == "1 value of 1, first at [0]: 1 before, 2 after"
    )


@pytest.mark.parametrize("given", ["MyPass", 5, None, object])
def test_what_is_no_transformation_is_an_error(given):
    with pytest.raises(TypeError) as caught:
        check_transform(given)
    assert str(caught.value) == (
        "check_transform takes a transformation or its class, such as brainsmith.plugins.transforms.MyPass, "
        f"not {given!r}"
    )


def test_a_transform_that_never_ends_is_told():
    assert failure(broken.NeverDone, chain("Relu")) == (
        "NeverDone of models[0] (Relu): its apply said 1000 times in a row that it changed the model: it must return "
        "(model, False) when nothing is left to do"
    )


@pytest.mark.parametrize("models", [chain("Relu"), [chain("Relu").model], [5], "model.onnx"])
def test_what_are_no_models_is_an_error(models):
    with pytest.raises(
        TypeError, match=r"^check_transform takes models=\[\.\.\.\], each a ModelWrapper of QONNX$"
    ):
        check_transform(broken.DropBias, models)
