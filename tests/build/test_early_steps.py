"""A network that becomes no circuit is refused before the first step, with all nodes at once."""

import pytest

from brainsmith.blueprint.build_step import BuildStep, step_of
from brainsmith.build import build
from brainsmith.build.artifact import Artifact
from brainsmith.build.early_steps import EarlySteps, early_steps
from brainsmith.cli.main import main
from brainsmith.errors import BuildError, ModelError, ToolError
from brainsmith.plugin.core import get_registry
from tests.build import graphs
from tests.build.test_unsupported_layers import with_hardmax

PART = "xczu7ev-ffvc1156-2-e"
MESSAGE = (
    "no integer layers for 2 nodes:\n"
    "  node 'Hardmax_0' (Hardmax), node 'Hardmax_1' (Hardmax), each: no layer of integers computes this operator: put "
    "operators in its place that have layers (docs/your_model.md lists them), in the model or with a transform of your own "
    "before this step"
)


def named(*names):
    return tuple(step_of(get_registry().resolve("step", f"brainsmith:{name}")) for name in names)


def test_known_steps_run_early_up_to_the_rtl_of_each_layer():
    steps = named("cleanup", "integer", "hardware_inference", "specialize", "fold", "estimate", "rtl_codegen")
    assert early_steps((*steps, *named("rtl_stitch", "rtl_simulate"))) == steps
    theirs = step_of(get_registry().resolve("transform", "qonnx:RemoveUnusedNodes"))
    assert early_steps((steps[0], theirs, *steps[1:])) == (steps[0], theirs, *steps[1:])
    assert early_steps((steps[0], *steps[2:])) == ()  # without the front end


def test_what_somebody_elses_step_makes_is_known_when_it_ran():
    steps = named("cleanup", "integer", "hardware_inference")
    mine = BuildStep("mine", "callable", "step", target=lambda model, cfg: model)
    assert early_steps((*steps[:2], mine, steps[2])) == steps[:2]
    assert early_steps((steps[0], mine, *steps[1:])) == ()


class Runner:
    """Runs steps that are functions of the staging folder, and counts."""

    def __init__(self, *functions):
        self.functions = list(functions)

    def apply(self, step, model):
        self.functions.pop(0)()
        return Artifact(model.data + step.name[:1].encode())

    def restored(self, contents):
        assert all(isinstance(data, bytes) for data in contents.values())


def raising(error):
    def function():
        try:
            raise error
        except type(error) as cause:
            raise BuildError("step failed") from cause

    return function


STEPS = named("cleanup", "integer", "specialize")


def test_each_result_and_what_its_step_wrote_is_there_in_its_turn(tmp_path):
    report = tmp_path / "report"
    (tmp_path / "given.txt").write_text("stays")

    def first():
        report.mkdir()
        (report / "a.json").write_text("1")

    def second():
        (report / "a.json").write_text("2")
        (tmp_path / "b.txt").write_text("b")

    early = EarlySteps(Runner(first, second, lambda: (report / "a.json").unlink()), tmp_path, STEPS)
    early.run(Artifact(b"m"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["checkpoints", "given.txt"]
    assert (early.result(1).data, (report / "a.json").read_text()) == (b"mc", "1")
    assert not (tmp_path / "b.txt").exists()
    assert (early.result(2).data, (report / "a.json").read_text()) == (b"mci", "2")
    early.discard()
    assert not list((tmp_path / "checkpoints").iterdir())
    assert early.result(3) is None and (tmp_path / "b.txt").read_text() == "b"


def test_a_file_that_stays_is_moved_and_one_of_another_kind_is_written_anew(tmp_path):
    folder, other = tmp_path / "rtl", tmp_path / "given"
    other.mkdir()

    def first():
        folder.mkdir()
        for name in ("stays.v", "changes.v", "run.sh", "private.v", "one.v"):
            (folder / name).write_text(name)
        (folder / "run.sh").chmod((folder / "stays.v").stat().st_mode | 0o111)
        (folder / "private.v").chmod(0o600)
        (folder / "two.v").hardlink_to(folder / "one.v")
        (other / "beside.v").write_text("beside")

    def second():
        (folder / "changes.v").write_text("changed")

    early = EarlySteps(Runner(first, second, lambda: None), tmp_path, STEPS)
    early.run(Artifact(b"m"))
    assert not folder.exists()
    aside, written = tmp_path / "checkpoints" / "early", tmp_path / "checkpoints" / "01_cleanup.onnx.early"
    moved = {"rtl/stays.v", "rtl/run.sh"}
    assert all((aside / name).is_file() for name in moved)
    assert {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()} == {
        "model.onnx", "files/rtl/changes.v", "files/rtl/private.v", "files/rtl/one.v", "files/rtl/two.v",
        "files/given/beside.v",
    }  # fmt: skip
    early.result(1)
    assert {file.name: file.read_text() for file in folder.iterdir()} == {
        **{name: name for name in ("stays.v", "changes.v", "run.sh", "private.v", "one.v")}, "two.v": "one.v",
    }  # fmt: skip
    plain = (folder / "changes.v").stat().st_mode
    assert (folder / "private.v").stat().st_mode == plain == (folder / "run.sh").stat().st_mode & ~0o111
    assert (folder / "one.v").stat().st_nlink == 1
    early.result(2)
    assert (folder / "changes.v").read_text() == "changed"
    early.result(3)
    assert not list((tmp_path / "checkpoints").iterdir())


def test_a_refusal_is_raised_at_once_and_a_failure_in_its_turn(tmp_path):
    refused = ModelError("no layer")
    with pytest.raises(ModelError) as caught:
        EarlySteps(Runner(lambda: None, raising(refused)), tmp_path / "", STEPS).run(Artifact(b"m"))
    assert caught.value is refused
    for error in (ValueError("shapes"), ToolError("no compiler")):
        folder = tmp_path / type(error).__name__
        folder.mkdir()
        early = EarlySteps(Runner(lambda: None, raising(error)), folder, STEPS)
        early.run(Artifact(b"m"))
        assert early.result(1).data == b"mc"
        with pytest.raises(BuildError, match=r"^step failed$"):
            early.result(2)


def test_all_nodes_are_named_before_any_step(tmp_path):
    started = []
    with pytest.raises(ModelError) as caught:
        build(with_hardmax(), None, tmp_path / "out", progress=started.append, part=PART)
    assert (str(caught.value), started) == (MESSAGE, [])
    assert not list(tmp_path.iterdir())


def test_the_command_ends_with_that_text_and_no_trace(tmp_path, capsys):
    file = tmp_path / "m.onnx"
    with_hardmax().save(str(file))
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text("hw_compiler:\n  output: estimates\n")
    assert (
        main(
            [
                "build",
                str(file),
                "--blueprint",
                str(blueprint),
                "--output",
                str(tmp_path / "out"),
                "--part",
                PART,
            ]
        )
        == 1
    )
    shown = capsys.readouterr().err
    assert MESSAGE.splitlines()[1] in shown and "Traceback" not in shown


def test_a_step_of_ones_own_in_front_may_replace_the_nodes(tmp_path):
    """What it makes of the network is known only when it ran: the step `integer` refuses then, in the same words."""

    def mine(model, cfg):
        return model

    with pytest.raises(BuildError) as caught:
        build(with_hardmax(), None, tmp_path / "out", steps=["cleanup", mine, "integer"])
    assert str(caught.value).startswith(f"step 'integer' failed: {MESSAGE}\n")


def test_what_has_no_backend_is_refused_before_any_step(tmp_path):
    blueprint = tmp_path / "b.yaml"
    blueprint.write_text(
        f"hw_compiler:\n  target: {{part: {PART}, clock: 5 ns}}\n  kernels:\n"
        "    - {kernel: 'finn:Thresholding', backends: [finn:Thresholding_hls]}\n  output: rtl\n"
    )
    started = []
    with pytest.raises(BuildError) as caught:
        build(graphs.quant_mlp(), blueprint, tmp_path / "out", progress=started.append)
    assert str(caught.value).startswith(
        "the model cannot become a circuit, because these layers have no RTL:\n  Thresholding_hls_0"
    )
    assert [event.kind for event in started if event.kind != "work"] == []
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_network_that_is_kept_is_not_read_again(tmp_path):
    steps = ["cleanup", "integer"]
    build(graphs.quant_mlp(), None, tmp_path / "out", steps=steps)
    assert all(step.reused for step in build(graphs.quant_mlp(), None, tmp_path / "out", steps=steps).steps)


def test_no_step_runs_twice(tmp_path):
    result = build(graphs.quant_mlp(), None, tmp_path / "out", steps=["cleanup", "integer"], use_cache=False)
    assert [step.reused for step in result.steps] == [False, False]
    assert sorted(file.name for file in (tmp_path / "out" / "checkpoints").iterdir()) == [
        "01_cleanup.onnx",
        "02_integer.onnx",
    ]
