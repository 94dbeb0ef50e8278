"""The plan of a design space: what it says is shared is what builds reuse."""

import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.build import build
from brainsmith.errors import BlueprintError
from brainsmith.exploration.space_plan import check_names, planned
from brainsmith.plugin import get_plugin_manager
from tests.cli.command import ROOT

MODEL = ROOT / "examples" / "digits" / "mlp.onnx"
SPACE = """\
hw_compiler:
  target:
    part: {choice: [pynq-z2, zcu104], name: board}
    fps: {choice: [1000, 100000], name: rate}
    clock: 5 ns
  kernels: {MVAU: {choice: [rtl, EmbeddedMVAURTL], name: unit}}
  steps:
    - cleanup
    - {optional: {transform: qonnx:GiveUniqueNodeNames}, name: unique}
    - integer
    - hardware_inference
    - specialize
    - fold
    - estimate
"""


@pytest.fixture
def space(tmp_path):
    path = tmp_path / "space.yaml"
    path.write_text(SPACE)
    return load_space(path)


def test_the_ways_of_points_part_at_the_first_step_that_a_choice_can_change(space):
    plan = planned(space)
    assert [tuple(step) for step in plan.steps] == [
        ("cleanup", (), 1),
        ("qonnx:GiveUniqueNodeNames", ("unique",), 2),
        ("integer", (), 2),
        ("hardware_inference", ("unit",), 4),
        ("specialize", ("board",), 8),
        ("fold", ("rate",), 16),
        ("estimate", (), 16),
    ]
    assert (len(plan.points), plan.runs, plan.alone) == (16, 49, 112)


def test_the_tree_has_each_shared_prefix_once(space):
    lines = list(planned(space).tree(2))
    assert [(line.depth, line.steps, line.choices, line.points) for line in lines[:6]] == [
        (0, "cleanup", "", 16),
        (1, "qonnx:GiveUniqueNodeNames .. integer", "unique=True", 8),
        (2, "hardware_inference", "unit=rtl", 4),
        (3, "specialize", "board=pynq-z2", 2),
        (4, "fold .. estimate", "rate=1000", 1),
        (4, "fold .. estimate", "rate=100000", 1),
    ]
    assert sum(line.depth == 4 for line in lines) == 16
    assert [line.steps for line in planned(space).tree(1)][-1] == "..."


@pytest.mark.slow
def test_builds_of_all_points_run_no_step_more_often_than_planned(space, tmp_path):
    plan, ran = planned(space), dict.fromkeys(range(len(planned(space).steps)), 0)
    for row in plan.points:
        point = space.point_of(row)
        result = build(MODEL, space.blueprint(point), tmp_path / "out", verify=False, report=False)
        names = [step.name for step in result.steps]
        places = [at for at in range(len(plan.steps)) if at != 1 or "GiveUniqueNodeNames" in names]
        for at, step in zip(places, result.steps, strict=True):
            ran[at] += not step.reused
    assert all(ran[at] <= step.runs for at, step in enumerate(plan.steps))
    # Names that were given to nodes make another model, and no rate is another one where both give the same folding.
    assert [ran[0], ran[4]] == [1, plan.steps[4].runs]


@pytest.mark.slow
def test_no_step_reads_more_of_the_config_than_the_plan_assumes(tmp_path, monkeypatch):
    from brainsmith.build import runner
    from brainsmith.exploration.step_reads import ALL, STEP_READS

    seen = {}
    made = runner.RecordingView

    def recording(config):
        view = made(config)
        seen.setdefault("views", []).append(view)
        return view

    monkeypatch.setattr(runner, "RecordingView", recording)
    blueprint = ROOT / "blueprints" / "digits_mlp_rtl.yaml"
    result = build(MODEL, blueprint, tmp_path / "out", produce="synthesised", report=False, use_cache=False)
    names = [step.name for step in result.steps]
    assert set(names) <= set(STEP_READS)
    for name, view in zip(names, seen["views"], strict=True):
        assert set(runner.reads_of(view)) & ALL <= STEP_READS[name], name


def test_names_of_all_alternatives_are_looked_up(tmp_path):
    path = tmp_path / "space.yaml"
    path.write_text(
        SPACE.replace("EmbeddedMVAURTL", "EmbeddedMVAURTLL").replace(
            "- integer", "- {choice: [integer, intger]}"
        )
    )
    with pytest.raises(BlueprintError) as caught:
        check_names(load_space(path), get_plugin_manager().registry)
    lines = [line for line in str(caught.value).splitlines() if "space.yaml" in line]
    assert [line.partition("space.yaml:")[2][:5] for line in lines] == ["6:34:", "10:26"]


def test_a_command_prints_it(tmp_path, monkeypatch, capsys):
    from tests.cli.command import in_this_process

    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.yaml").write_text(SPACE + "explore:\n  constraints: [rate > 1000 or unit == 'rtl']\n")
    done = in_this_process(capsys, "plan", "space.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:12] == [
        "space.yaml: 12 points of 16 without constraints",
        "  choices      board   pynq-z2, zcu104",
        "               rate    1000, 100000",
        "               unit    rtl, EmbeddedMVAURTL",
        "               unique  True, False",
        "  constraints  rate > 1000 or unit == 'rtl'",
        "  steps        cleanup                    1 run",
        "               qonnx:GiveUniqueNodeNames  2 runs   unique",
        "               integer                    2 runs",
        "               hardware_inference         4 runs   unit",
        "               specialize                 8 runs   board",
        "               fold                       12 runs  rate",
    ]
    assert "  shared       41 steps run in place of 84: 2.0 times less" in done.stdout
