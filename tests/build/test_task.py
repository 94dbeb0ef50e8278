from pathlib import Path

import pytest

from brainsmith.blueprint.outputs import TAKES
from brainsmith.build.task import BuildArguments, task_of
from brainsmith.errors import BlueprintError, BuildError, PluginNotFoundError

ROOT = Path(__file__).parents[2]


def test_the_blueprint_says_all():
    chosen = task_of(BuildArguments(ROOT / "blueprints" / "digits_mlp.yaml"))
    assert [step.name for step in chosen.steps] == [
        "cleanup",
        "integer",
        "hardware_inference",
        "specialize",
        "fold",
        "estimate",
    ]
    assert chosen.config["fpga_part"] == "xczu7ev-ffvc1156-2-e"
    assert chosen.config["synth_clk_period_ns"] == 5.0
    assert chosen.config["target_fps"] == 200000
    assert chosen.config["kernel_preferences"] == {}
    inputs, labels, expected, floats = chosen.golden
    assert (Path(inputs).name, Path(labels).name) == ("digits_mlp_x.npy", "digits_y.npy")
    assert (expected, floats, chosen.verify.approximate) == (None, None, {})


def test_kernels_are_preferred_with_the_backends_that_the_blueprint_names():
    chosen = task_of(BuildArguments(ROOT / "blueprints" / "encoder_rtl.yaml"))
    preferences = chosen.config["kernel_preferences"]
    assert list(preferences)[:2] == ["finn:Thresholding", "finn:MVAU"]
    assert preferences["finn:Thresholding"] == ("finn:Thresholding_rtl", "brainsmith:BipolarThresholdingRTL")
    assert "finn:MVAU_rtl" in preferences["finn:MVAU"]


def test_steps_take_the_place_of_the_blueprints():
    chosen = task_of(BuildArguments(ROOT / "blueprints" / "digits_mlp.yaml", steps=["cleanup"]))
    assert [step.name for step in chosen.steps] == ["cleanup"]
    assert chosen.config["target_fps"] == 200000


def test_how_far_it_goes():
    blueprint = ROOT / "blueprints" / "digits_mlp.yaml"
    assert task_of(BuildArguments(blueprint)).output == "estimates"
    assert task_of(BuildArguments(blueprint)).description["output"] == "estimates"
    assert task_of(BuildArguments()).output == "estimates"
    with pytest.raises(BuildError) as caught:
        task_of(BuildArguments(blueprint, produce="RTL"))
    assert str(caught.value) == (
        "produce must be one of estimates, rtl, simulated, synthesised, not 'RTL'. Did you mean 'rtl'?"
    )


@pytest.mark.parametrize(("name", "output"), [("mlp", "synthesised"), ("cnn", "simulated")])
@pytest.mark.slow
def test_the_shipped_circuits_are_the_estimates_and_the_rtl_steps(name, output):
    short = task_of(BuildArguments(ROOT / "blueprints" / f"digits_{name}.yaml"))
    blueprint = ROOT / "blueprints" / f"digits_{name}_rtl.yaml"
    whole = task_of(BuildArguments(blueprint))
    assert whole.output == output
    assert [step.name for step in whole.steps[len(short.steps) :]] == list(TAKES[output])
    only = task_of(BuildArguments(blueprint, produce="estimates"))
    assert only.steps == short.steps
    assert (only.config, only.golden) == (short.config, short.golden)
    assert (
        task_of(BuildArguments(ROOT / "blueprints" / f"digits_{name}.yaml", produce=output)).steps
        == whole.steps
    )


def test_without_a_blueprint_the_default_steps_run():
    assert [step.name for step in task_of(BuildArguments()).steps] == [
        "cleanup",
        "integer",
        "hardware_inference",
        "specialize",
        "fold",
        "estimate",
    ]


def test_groups_become_steps_of_their_own():
    chosen = task_of(BuildArguments(ROOT / "blueprints" / "transformer.yaml"))
    names = [step.name for step in chosen.steps]
    assert names[0] == "cleanup"
    assert names.index("FoldConstants") < names.index("integer") < names.index("hardware_inference")
    assert {step.kind for step in chosen.steps} == {"step", "transform"}


def test_golden_inputs_of_the_arguments_drop_the_blueprints_labels():
    blueprint = ROOT / "blueprints" / "digits_mlp.yaml"
    assert task_of(BuildArguments(blueprint, verify_inputs="mine.npy")).golden == (
        "mine.npy",
        None,
        None,
        None,
    )
    golden = task_of(BuildArguments(blueprint, verify_expected="mine.npy")).golden
    assert (Path(golden[0]).name, Path(golden[1]).name, golden[2]) == (
        "digits_mlp_x.npy",
        "digits_y.npy",
        "mine.npy",
    )


def test_unknown_names(tmp_path):
    with pytest.raises(PluginNotFoundError):
        task_of(BuildArguments(steps=["cleenup"]))
    (tmp_path / "b.yaml").write_text("hw_compiler: {steps: [cleenup]}\n")
    with pytest.raises(BlueprintError):
        task_of(BuildArguments(tmp_path / "b.yaml"))


def test_a_part_in_place_of_the_blueprints(tmp_path):
    path = tmp_path / "my.yaml"
    path.write_text("hw_compiler:\n  steps: [cleanup]\n  target: {part: xczu7ev-ffvc1156-2-e}\n")
    chosen = task_of(BuildArguments(path, part="xc7z020clg400-1"))
    assert chosen.config["fpga_part"] == "xc7z020clg400-1"
    assert chosen.description["target"]["part"] == "xc7z020clg400-1"
    assert chosen.device is not None and "7z020" in chosen.device.name
    with pytest.raises(BuildError, match=r"^no device .xnothing. is known"):
        task_of(BuildArguments(path, part="xnothing"))
