import os
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from brainsmith.blueprint.build_step import BuildStep
from brainsmith.build.artifact import Artifact
from brainsmith.build.cache import BuildCache
from brainsmith.build.config import StepConfig
from brainsmith.build.runner import StepRunner
from brainsmith.errors import BuildError
from tests.build import graphs

FACTOR = 2.0


class FinnConfig(StepConfig):
    """In place of FINN's, which takes seconds to import."""


def scale(model, cfg):
    model.set_initializer("w0", model.get_initializer("w0") * np.float32(FACTOR))
    if cfg.target_fps:
        cfg.get_report_directory().joinpath("note.txt").write_text(f"{cfg.output_dir} {cfg.target_fps}")
    return model


def run(function, tmp_path, name="out", config=None, cache=True):
    staging = tmp_path / name
    staging.mkdir()
    config = config or StepConfig(target_fps=5)
    config.output_dir = str(staging)
    step = BuildStep("mine", "callable", "step", target=function)
    runner = StepRunner([step], config, staging, BuildCache(tmp_path / "cache") if cache else None)
    model = runner.apply(step, Artifact.of(graphs.quant_mlp()))
    return model, runner.results[0], staging


@pytest.mark.slow
def test_a_step_runs_once_and_is_reused_with_its_side_files(tmp_path):
    first, result, _ = run(scale, tmp_path)
    assert (result.reused, result.cache) == (False, "it was not built before")
    again, result, staging = run(scale, tmp_path, "other")
    assert (result.reused, result.cache[:34]) == (True, "nothing that it depends on changed")
    assert again.data == first.data
    assert (staging / "report" / "note.txt").read_text() == f"{staging} 5"


def writes(model, cfg):
    folder = Path(cfg.output_dir)
    (folder / "text").write_text("1")
    (folder / "gone").write_text("")
    (folder / "tool").write_text("#!/bin/sh")
    (folder / "tool").chmod(0o755)
    return model


def writes_over(model, cfg):
    text = Path(cfg.output_dir, "text")
    then = text.stat()
    text.write_text("2")
    os.utime(
        text, ns=(then.st_atime_ns, then.st_mtime_ns)
    )  # as two writes within a tick, or a copy with its time
    Path(cfg.output_dir, "gone").unlink()
    return model


def looks(model, cfg):
    folder = Path(cfg.output_dir)
    seen = [(folder / "text").read_text(), (folder / "gone").exists(), os.access(folder / "tool", os.X_OK)]
    model.set_metadata_prop("seen", str(seen))
    return model


def test_reused_steps_leave_the_folder_that_they_left_when_they_ran(tmp_path):
    steps = [
        BuildStep(step.__name__, "callable", "step", target=step) for step in (writes, writes_over, looks)
    ]
    for name, reused in (("first", False), ("second", True)):
        staging = tmp_path / name
        staging.mkdir()
        config = StepConfig(output_dir=str(staging))
        runner = StepRunner(steps, config, staging, BuildCache(tmp_path / "cache"))
        model = Artifact.of(graphs.quant_mlp())
        for step in steps:
            model = runner.apply(step, model)
        assert [result.reused for result in runner.results] == [reused] * 3
        assert model.peek().get_metadata_prop("seen") == "['2', False, True]"
        assert (staging / "text").read_text() == "2"
        assert not (staging / "gone").exists()
        assert os.access(staging / "tool", os.X_OK)


@pytest.mark.slow
def test_another_value_of_what_it_read_runs_it_again(tmp_path):
    run(scale, tmp_path)
    result = run(scale, tmp_path, "b", StepConfig(target_fps=6))[1]
    assert (result.reused, result.cache) == (False, "cfg.target_fps was 5, and is 6 now")
    assert run(scale, tmp_path, "c", StepConfig(target_fps=5, fpga_part="unread"))[1].reused


@pytest.mark.slow
def test_a_global_is_part_of_the_key(tmp_path, monkeypatch):
    run(scale, tmp_path)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    result = run(scale, tmp_path, "b")[1]
    assert (result.reused, result.cache) == (False, "its source changed")


@pytest.mark.slow
def test_a_closure_is_part_of_the_key(tmp_path):
    def make(factor):
        def step(model, cfg):
            model.set_initializer("w0", model.get_initializer("w0") * np.float32(factor))
            return model

        return step

    first = run(make(1.0), tmp_path)[0]
    second, result, _ = run(make(2.0), tmp_path, "b")
    assert not result.reused
    assert second.digest != first.digest
    assert run(make(2.0), tmp_path, "c")[1].reused


def test_what_cannot_be_keyed_runs_each_time_and_says_why(tmp_path):
    weights = np.zeros((6, 8), np.float32)

    def step(model, cfg):
        model.set_initializer("w0", weights)
        return model

    for name in ("a", "b"):
        result = run(step, tmp_path, name)[1]
        assert not result.reused
        assert result.cache == (
            "it is never reused: its variable 'weights' is a ndarray, whose content is not part of a key"
        )


def test_a_step_that_changes_cfg_or_names_files_elsewhere_is_not_kept(tmp_path):
    def writer(model, cfg):
        cfg.target_fps = 9
        return model

    def changer(model, cfg):
        cfg.kernel_preferences.append("mine")
        return model

    def outside(model, cfg):
        model.graph.node[0].attribute.append(helper.make_attribute("code_gen_dir", "/usr/bin"))
        return model

    assert run(writer, tmp_path, "a")[1].cache == "it is never reused: it changes cfg.target_fps"
    config = StepConfig(target_fps=5)
    config.kernel_preferences = []
    assert (
        run(changer, tmp_path, "c", config)[1].cache
        == "it is never reused: it changes cfg.kernel_preferences"
    )
    assert run(outside, tmp_path, "b")[1].cache == (
        "it is never reused: its result names /usr/bin, which is outside the output folder"
    )


@pytest.mark.parametrize("with_finn", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.slow
def test_pitfall_22_what_an_earlier_step_changed_of_cfg_counts(tmp_path, monkeypatch, with_finn):
    """FINN's config is another object than ours, made when the first step runs."""
    monkeypatch.setattr("brainsmith.build.runner.finn_config", lambda config: FinnConfig(**vars(config)))

    def build(name, *functions):
        steps = [BuildStep(f.__name__, "callable", "step", target=f) for f in functions]
        unused = [BuildStep("unused", "finn", "step", target=last)] if with_finn else []
        config = StepConfig(output_dir=str(tmp_path / name), target_fps=5)
        Path(config.output_dir).mkdir()
        cache = BuildCache(tmp_path / "cache")
        runner = StepRunner([*steps, *unused], config, Path(config.output_dir), cache)
        model = Artifact.of(graphs.quant_mlp())
        for step in steps:
            model = runner.apply(step, model)
        return model.take().get_metadata_prop("seen"), runner.results[-1].reused

    def faster(model, cfg):
        cfg.target_fps = 9
        return model

    def newer(model, cfg):
        cfg.of_mine = 7
        return model

    def last(model, cfg):
        model.set_metadata_prop("seen", f"{cfg.target_fps} {getattr(cfg, 'of_mine', None)}")
        return model

    assert build("a", last) == ("5 None", False)
    assert build("b", last) == ("5 None", True)
    for name, functions, seen in [
        ("c", [faster], "9 None"),
        ("d", [newer], "5 7"),
        ("e", [faster, newer], "9 7"),
    ]:
        assert build(name, *functions, last) == (seen, False)
        assert build(f"{name}2", *functions, last) == (seen, True)
    assert build("f", last) == ("5 None", True)


@pytest.mark.slow
def test_paths_into_the_output_move_with_it(tmp_path):
    def step(model, cfg):
        Path(cfg.output_dir, "part.txt").write_text("x")
        model.graph.node[0].attribute.append(helper.make_attribute("model", f"{cfg.output_dir}/part.txt"))
        return model

    first = run(step, tmp_path, "a")[0]
    second, result, staging = run(step, tmp_path, "b")
    assert result.reused
    assert f"{staging}/part.txt".encode() in second.data
    assert str(tmp_path / "a").encode() in first.data


def test_pitfall_24_folder_and_environment_are_restored(tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_TEST_KEPT", "1")

    def step(model, cfg):
        os.chdir("/")
        os.environ["BUILD_TEST_NEW"] = "2"
        os.environ["BUILD_TEST_KEPT"] = "2"
        return model

    before = Path.cwd()
    run(step, tmp_path)
    assert Path.cwd() == before
    assert "BUILD_TEST_NEW" not in os.environ
    assert os.environ["BUILD_TEST_KEPT"] == "1"


def test_what_a_step_logs_is_kept_with_its_result(tmp_path, caplog):
    import logging

    def step(model, cfg):
        log = logging.getLogger("finn_logger")
        log.warning("layer %s\n   is slow", "a")
        log.warning("layer a is slow")
        log.info("no")
        return model

    for name, reused in (("a", False), ("b", True)):
        result = run(step, tmp_path, name)[1]
        assert (result.messages, result.reused) == (("layer a is slow",), reused)
    assert all(type(handler).__name__ != "_Collector" for handler in logging.getLogger().handlers)


def test_random_numbers_of_steps_are_the_same_in_each_build(tmp_path):
    import random

    def step(model, cfg):
        model.graph.node[0].name = f"{random.random()} {np.random.random()}"
        return model

    before = random.getstate()
    names = [run(step, tmp_path, at, cache=False)[0].peek().graph.node[0].name for at in ("a", "b")]
    assert names[0] == names[1]
    assert random.getstate() == before


def test_pitfall_27_a_failure_names_step_node_and_cause(tmp_path):
    def step(model, cfg):
        for node in model.graph.node:
            if node.op_type == "MatMul":
                raise KeyError("no folding")
        return model

    with pytest.raises(BuildError) as caught:
        run(step, tmp_path)
    line = step.__code__.co_firstlineno + 3
    assert str(caught.value) == (
        f"step 'mine' failed at node 'matmul0' (MatMul): KeyError: 'no folding' ({__file__}:{line})"
    )


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "it must return a model, not NoneType"),
        ((1, True), "it must return a model, not tuple"),
    ],
)
def test_a_step_that_returns_no_model(tmp_path, result, text):
    def step(model, cfg):
        return result

    with pytest.raises(BuildError) as caught:
        run(step, tmp_path)
    assert str(caught.value) == f"step 'mine' failed: {text} ({__file__}:{step.__code__.co_firstlineno})"


def test_exit_in_a_step_is_a_failure(tmp_path):
    with pytest.raises(BuildError, match=r"^step 'mine' failed: SystemExit: 3 \(.*/test_runner.py:\d+\)$"):
        run(lambda model, cfg: exit(3), tmp_path)


def test_without_a_cache_nothing_is_written(tmp_path):
    result = run(scale, tmp_path, cache=False)[1]
    assert result.cache == "the build cache is off"
    assert not (tmp_path / "cache").exists()


def test_an_unwritable_cache_is_a_warning(tmp_path):
    (tmp_path / "cache").write_text("")
    staging = tmp_path / "out"
    staging.mkdir()
    step = BuildStep("mine", "callable", "step", target=scale)
    runner = StepRunner([step], StepConfig(output_dir=str(staging)), staging, BuildCache(tmp_path / "cache"))
    runner.apply(step, Artifact.of(graphs.quant_mlp()))
    assert runner.warnings[0].startswith("the build cache cannot be written: ")


def test_the_input_is_not_changed(tmp_path):
    model = Artifact.of(graphs.quant_mlp())
    before = model.data
    step = BuildStep("mine", "callable", "step", target=scale)
    runner = StepRunner([step], StepConfig(), tmp_path, None)
    result = runner.apply(step, model)
    assert Artifact.of(model.peek()).data == before != result.data


def leave(model, cfg):
    """Leave a file that depends on `cfg`, and the model as it is."""
    cfg.get_report_directory().joinpath("left.txt").write_text(f"{cfg.output_dir} {cfg.target_fps}")
    return model


def take(model, cfg):
    """Make a file of what another step has left."""
    folder = cfg.get_report_directory()
    folder.joinpath("taken.txt").write_text(folder.joinpath("left.txt").read_text() + "!")
    return model


def run_both(tmp_path, name, fps):
    staging = tmp_path / name
    staging.mkdir()
    steps = [BuildStep(one.__name__, "callable", "step", target=one) for one in (leave, take)]
    config = StepConfig(str(staging), target_fps=fps)
    runner = StepRunner(steps, config, staging, BuildCache(tmp_path / "cache"))
    model = Artifact.of(graphs.quant_mlp())
    for step in steps:
        model = runner.apply(step, model)
    assert (staging / "report" / "taken.txt").read_text() == f"{staging} {fps}!"
    return [(result.reused, result.cache.partition(";")[0]) for result in runner.results]


@pytest.mark.slow
def test_what_a_step_reads_of_earlier_steps_files_is_part_of_its_key(tmp_path):
    fresh, same = (
        (False, "it was not built before"),
        (True, "nothing that it depends on changed"),
    )
    assert run_both(tmp_path, "a", 1) == [fresh, fresh]
    assert run_both(tmp_path, "b", 1) == [same, same]
    assert run_both(tmp_path, "c", 2) == [
        (False, "cfg.target_fps was 1, and is 2 now"),
        (False, "what earlier steps left in the output folder changed"),
    ]
    assert run_both(tmp_path, "d", 2) == [same, same]
    assert run_both(tmp_path, "e", 1) == [same, same]
