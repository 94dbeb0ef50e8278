import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.util.basic import qonnx_make_model

from brainsmith.build.failure import explained, failed_step, refusal
from brainsmith.errors import BuildError, ModelError
from brainsmith.plugins import transforms as tfm


def refused(function):
    with pytest.raises(Exception) as caught:
        function()
    return refusal(caught.value)


def test_what_a_framework_raises_on_purpose_is_a_refusal():
    """FINN's transform wants thresholds whose levels are 1 apart, and says so."""
    node = helper.make_node(
        "MultiThreshold", ["x", "levels"], ["y"], "levels_0", domain="qonnx.custom_op.general", out_scale=2.0,
        out_dtype="UINT2",
    )  # fmt: skip
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4])] for name in "xy"]
    levels = numpy_helper.from_array(np.asarray([[1, 2, 3]], np.float32), "levels")
    model = ModelWrapper(qonnx_make_model(helper.make_graph([node], "levels", *ends, [levels])))
    model.set_tensor_datatype("x", DataType["INT4"])
    found = refused(lambda: model.transform(tfm.finn.InferThresholdingLayer()))
    assert type(found) is ModelError
    assert str(found) == (
        "FINN refuses node 'levels_0' (MultiThreshold): levels_0: MultiThreshold out_scale must be 1 for HLS conversion.\n"
        "  change the model there, or bring it into another form with a transform before this step"
    )


def test_what_is_no_decision_of_a_framework_is_no_refusal():
    model = ModelWrapper(qonnx_make_model(helper.make_graph([], "empty", [], [])))

    def ours():
        raise ValueError("not theirs")

    assert refused(ours) is None
    assert refused(model.get_first_global_in) is None  # an IndexError of Python's
    assert refused(lambda: DataType["INT"]) is None  # one of a library below, or of a look-up
    assert refused(lambda: model.transform(None)) is None


def test_the_line_of_the_plugin_that_raised_is_named_though_a_library_did():
    def step():
        np.linalg.inv(np.zeros((2, 2)))

    with pytest.raises(np.linalg.LinAlgError) as error:
        step()
    line = step.__code__.co_firstlineno + 1
    assert str(failed_step("mine", error.value, "LinAlgError: Singular matrix", __file__)) == (
        f"step 'mine' failed: LinAlgError: Singular matrix ({__file__}:{line})"
    )
    assert str(failed_step("mine", error.value, "x", "elsewhere.py")) == "step 'mine' failed: x"


def test_an_error_of_ours_names_its_own_nodes_and_not_the_last_of_a_loop():
    nodes = [helper.make_node("Add", ["a"], ["b"], name=f"Add_{at}") for at in range(3)]

    def step():
        wrong = [node.name for node in nodes if node.name != "Add_2"]
        for node in nodes:
            assert node.name
        raise ModelError(f"these have no scale: {', '.join(wrong)}")

    with pytest.raises(ModelError) as error:
        step()
    assert str(failed_step("mine", error.value, str(error.value))) == (
        "step 'mine' failed: these have no scale: Add_0, Add_1"
    )


def test_before_the_first_step_the_last_good_model_is_the_input(tmp_path):
    failed = BuildError("step 'mine' failed: x")
    assert explained(failed, [], tmp_path, said=False) == (
        "step 'mine' failed: x\n  it was the first step; the last good model is the input model"
    )
    assert explained(failed, ["cleanup", "fold"], tmp_path, said=True) == (
        "step 'mine' failed: x\n"
        f"  what the steps said, and where one failed: {tmp_path}/build.log\n"
        "  steps before it: cleanup, fold\n"
        f"  last good model: {tmp_path}/checkpoints/02_fold.onnx"
    )
