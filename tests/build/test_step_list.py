import pytest
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build.step_list import arranged, steps_from
from brainsmith.errors import BuildError, PluginNotFoundError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugins import steps as door
from brainsmith.plugins import transforms as tfm
from tests.build import graphs


def plan(*entries):
    return steps_from(entries, get_plugin_manager().all_records()[0])


def shown(*entries):
    return [(step.name, step.framework, step.kind) for step in plan(*entries)]


def test_names_dicts_records_and_the_doors_objects():
    registry = get_plugin_manager().all_records()[0]
    assert shown(
        "cleanup",
        "finn:step_tidy_up",
        {"transform": "ExpandNorms"},
        {"step": "streamline"},
        registry.resolve("transform", "qonnx:FoldConstants"),
        door.qonnx_to_finn,
        tfm.MergeOpChains,
    ) == [
        ("cleanup", "brainsmith", "step"),
        ("finn:step_tidy_up", "finn", "step"),
        ("ExpandNorms", "brainsmith", "transform"),
        ("streamline", "brainsmith", "step"),
        ("FoldConstants", "qonnx", "transform"),
        ("qonnx_to_finn", "brainsmith", "step"),
        ("MergeOpChains", "brainsmith", "transform"),
    ]


def test_instances_and_functions():
    def mine(model, cfg):
        return model

    assert shown(mine, InferShapes()) == [
        ("mine", "callable", "step"),
        ("InferShapes", "callable", "transform"),
    ]
    model = graphs.quant_mlp()
    assert plan(mine)[0].load()(model, None) is model
    assert plan(InferShapes())[0].load()(model, None).get_tensor_shape("m0") == [1, 8]
    assert plan({"transform": "qonnx:InferShapes"})[0].load()(model, None).get_tensor_shape("m0") == [1, 8]


def test_the_build_steps_of_the_requirements():
    steps = [
        door.cleanup,
        lambda m, cfg: m.transform(tfm.ExpandNorms()),
        door.qonnx_to_finn,
        lambda m, cfg: m.transform(tfm.finn.Streamline()),
        door.hardware_inference,
    ]
    assert [name for name, _, _ in shown(*steps)][::2] == ["cleanup", "qonnx_to_finn", "hardware_inference"]


@pytest.mark.parametrize("entry", [3, None, object()])
def test_what_is_no_step(entry):
    with pytest.raises(
        BuildError, match=r"^steps\[1\] must be a function \(model, cfg\) -> model, the name of a "
    ):
        plan("cleanup", entry)


def test_a_dict_with_other_keys():
    with pytest.raises(
        BuildError,
        match=r"^steps\[0\] must be \{'step' or 'transform': name, 'args': \{\.\.\.\}, 'passes': N\}, not ",
    ):
        plan({"stepp": "cleanup"})


def arrange(*entries, output=None):
    steps, reached = arranged(plan(*entries), output, get_plugin_manager().all_records()[0])
    return [step.name for step in steps], reached


def test_a_function_counts_by_its_name():
    def rtl_codegen(model, cfg):
        return model

    def look(model, cfg):
        return model

    assert arrange("cleanup", rtl_codegen, look) == (["cleanup", "rtl_codegen", "look"], "rtl")
    assert arrange("cleanup", rtl_codegen, look, output="estimates") == (["cleanup", "look"], "estimates")
    with pytest.raises(BuildError) as caught:
        arrange(rtl_codegen, InferShapes(), door.cleanup)
    assert str(caught.value).splitlines() == [
        "steps[1]: transform 'InferShapes' comes after 'rtl_codegen' and changes the model, so the "
        "generated files would not match it. Put it before 'rtl_codegen'",
        "steps[2]: step 'cleanup' comes after 'rtl_codegen' and changes the model, so the "
        "generated files would not match it. Put it before 'rtl_codegen'",
    ]


def test_an_empty_pipeline_and_an_unknown_name():
    with pytest.raises(BuildError, match=r"^the pipeline has no steps: "):
        plan()
    with pytest.raises(PluginNotFoundError, match="Did you mean 'cleanup'"):
        plan("cleenup")


def test_arguments_of_steps_and_transforms():
    class Transform:
        def __init__(self, factor=1):
            self.factor = factor

    class Model:
        def transform(self, transform):
            return transform.factor

    def step(model, cfg, depth=0):
        return model, cfg, depth

    assert BuildStep("t", "callable", "transform", {"factor": 3}, target=Transform).load()(Model(), None) == 3
    assert BuildStep("t", "callable", "transform", target=Transform(5)).load()(Model(), None) == 5
    assert BuildStep("s", "callable", "step", {"depth": 2}, target=step).load()("m", "c") == ("m", "c", 2)
    assert BuildStep("s", "callable", "step", target=step).load() is step
