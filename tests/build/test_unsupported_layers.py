import pytest
from onnx import helper

from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build import build
from brainsmith.build.unsupported_layers import refuse
from brainsmith.errors import ModelError
from brainsmith.steps.unsupported_nodes import unsupported_nodes
from tests.build import graphs

OURS = BuildStep("cleanup", "brainsmith", "step")
INFERENCE = BuildStep("hardware_inference", "brainsmith", "step")
MINE = BuildStep("ReplaceHardmax", "project", "transform")
MESSAGE = (
    "no step can turn these layers into hardware: Hardmax (wave, of tensor y2). Replace them in the model, or with a "
    "transform of your own before hardware_inference."
)


def with_hardmax():
    model = graphs.quant_mlp()
    model.graph.node.append(helper.make_node("Hardmax", ["m1"], ["y1"], name="wave"))
    model.graph.node.append(helper.make_node("Hardmax", ["y1"], ["y2"]))
    model.graph.output[0].name = "y2"
    return model


def test_unsupported_layers_are_named_with_their_nodes():
    assert unsupported_nodes(graphs.quant_mlp()) == {}
    unsupported = unsupported_nodes(with_hardmax())
    for steps in ((OURS, INFERENCE), None):
        with pytest.raises(ModelError) as caught:
            refuse(unsupported, steps)
        assert str(caught.value) == MESSAGE


def test_a_plugin_of_the_project_may_replace_them():
    unsupported = unsupported_nodes(with_hardmax())
    refuse(unsupported, (OURS, MINE, INFERENCE))
    refuse(unsupported, (OURS,))
    with pytest.raises(ModelError):
        refuse(unsupported, (OURS, INFERENCE, MINE))


def test_norms_that_are_expanded_before():
    expand = BuildStep("ExpandNorms", "brainsmith", "transform")
    refuse({"RMSNormalization": ["n"]}, (expand, INFERENCE))
    with pytest.raises(ModelError):
        refuse({"RMSNormalization": ["n"]}, (INFERENCE, expand))


def test_the_model_is_checked_before_the_blueprint(tmp_path):
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text("hw_compiler:\n  steps: [no_such_step]\n")
    with pytest.raises(ModelError) as caught:
        build(with_hardmax(), blueprint, tmp_path / "out")
    assert str(caught.value) == MESSAGE
    with pytest.raises(ModelError):
        build(with_hardmax(), None, tmp_path / "out")
    assert not (tmp_path / "out").exists()
