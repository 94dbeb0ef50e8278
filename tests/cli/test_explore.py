"""`brainsmith explore`: real builds, stopped by Ctrl-C and gone on with, and what is wrong."""

import csv
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.cli.explore import refuse, said, warn
from brainsmith.errors import ExplorationError
from brainsmith.exploration.ladder import Explored, known_objectives
from brainsmith.exploration.point_journal import PointJournal, PointRun, note_command
from tests.cli.command import ROOT, in_this_process

SPACE = """\
explore: {{model: mlp.onnx, objectives: {{fps: max, lut: min, accuracy: max}}}}
hw_compiler:
  target: {{part: pynq-z2, clock: 5 ns, fps: {{choice: [{rates}], name: rate}}}}
"""


@pytest.fixture
def space(elsewhere):
    shutil.copy(ROOT / "examples" / "digits" / "mlp.onnx", elsewhere / "mlp.onnx")
    (elsewhere / "space.yaml").write_text(SPACE.format(rates="1000, 100000"))
    return elsewhere


@pytest.mark.slow
def test_points_are_built_and_the_front_is_shown(space, capsys):
    words = ["explore", "--blueprint", "space.yaml", "--output", "out"]
    done = in_this_process(capsys, *words)
    assert done.returncode == 0
    assert "warning: no point has the figure 'accuracy', an objective" in done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("[1] estimates: rate=1000: fps ")
    assert lines[1].startswith("[2] estimates: rate=100000: fps ")
    assert {"points    2: 2 estimates", "table     out/points.csv", "page      out/explore.html"} <= set(
        lines
    )
    rows = list(csv.DictReader((space / "out" / "points.csv").read_text().splitlines()))
    assert [(row["rate"], row["state"]) for row in rows] == [("1000", "done"), ("100000", "done")]
    known = json.loads((space / "out" / "explore.json").read_text())
    assert [one["front"] for one in known["points"]] == [True, True]
    assert (space / "out" / known["points"][0]["folder"] / "estimates" / "report.html").is_file()
    assert shlex.split(known["points"][1]["command"]) == [
        *("brainsmith", "build", str(space / "mlp.onnx")),
        *("--blueprint", f"out/{known['points'][1]['folder']}/blueprint.yaml"),
        *(
            "--output",
            f"out/{known['points'][1]['folder'].removeprefix('points/')}",
            "--produce",
            "estimates",
        ),
    ]
    again = in_this_process(capsys, *words, "--json")
    assert json.loads(again.stdout)["points"] == known["points"]


@pytest.mark.slow
def test_one_that_is_stopped_by_ctrl_c_goes_on_with_resume_or_the_same_command(space):
    (space / "space.yaml").write_text(SPACE.format(rates="1000, 5000, 10000, 50000, 100000, 500000"))
    command = [sys.executable, "-m", "brainsmith", "explore", "--blueprint", "space.yaml", "--output", "out"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)
        if (space / "out" / "journal.sqlite").exists():
            states = [run.state for run in PointJournal(space / "out").runs()]
            if "done" in states and "running" in states:
                break
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    runs = PointJournal(space / "out").runs()
    assert {run.state for run in runs} == {"done", "waiting"} and max(run.tries for run in runs) == 1
    resume = [*command[:4], "--resume", "--output", str(space / "out"), "--json"]
    done = subprocess.run(resume, cwd=space.parent, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert {run.state for run in PointJournal(space / "out").runs()} == {"done"}
    again = subprocess.run([*command, "--json"], capture_output=True, check=False, text=True)
    points = [json.loads(each.stdout)["points"] for each in (done, again)]
    figures = [[(point["choices"], point["figures"], point["seconds"]) for point in each] for each in points]
    assert figures[0] == figures[1] and len(figures[0]) == 6


def test_resume_takes_what_was_given_before_unless_something_else_is_given(space, capsys):
    for words, message in (
        (["--resume", "--output", "out"], "out holds no exploration that --resume could go on with"),
        (
            ["--output", "out"],
            "brainsmith explore needs --blueprint FILE: a blueprint with choices\n"
            "  or --resume, to go on with the exploration in --output DIR",
        ),
    ):
        done = in_this_process(capsys, "explore", *words)
        assert (done.returncode, done.stderr) == (2, f"error: {message}\n")
    given = {"--blueprint": [str(space / "space.yaml")], "MODEL": [str(space / "none.onnx")]}
    note_command(space / "out", {"options": given, "folder": "/elsewhere"})
    (space / "space.yaml").write_text(SPACE.format(rates="1000").replace("model: mlp.onnx, ", ""))
    done = in_this_process(capsys, "explore", "--resume", "--output", "out")
    assert (done.returncode, "none.onnx does not exist" in done.stderr) == (1, True)
    done = in_this_process(capsys, "explore", "--resume", "--output", "out", "--budget", "0")
    assert "--budget must be a number of points" in done.stderr
    note_command(space / "out", {"options": {**given, "--jobs": ["2"]}, "folder": "/elsewhere"})
    done = in_this_process(capsys, "explore", "--resume", "--output", "out", "--on", "dask://localhost:1")
    assert "none.onnx does not exist" in done.stderr
    note_command(space / "out", {"options": {**given, "--set": ["a=b"]}, "folder": "/elsewhere"})
    done = in_this_process(capsys, "explore", "--resume", "--output", "out")
    assert (done.returncode, done.stderr) == (
        2,
        "error: --resume must be given in /elsewhere, since --set may name files of that folder\n",
    )


def test_a_cache_that_cannot_be_written_is_a_warning(space, monkeypatch, capsys):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    words = ["--set", "explore.model=gone.onnx"]
    done = in_this_process(capsys, "explore", "--blueprint", "space.yaml", "--output", "out", *words)
    assert re.match("warning: points share no steps, because the cache .* cannot be written\n", done.stderr)
    done = in_this_process(
        capsys, "explore", "--blueprint", "space.yaml", "--output", "out", "--no-cache", *words
    )
    assert "warning" not in done.stderr


@pytest.mark.slow
def test_with_a_cache_that_is_read_only_points_are_built_and_it_is_said(space):
    cache = space / "cache"
    cache.mkdir()
    alone = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = f"mount --bind {cache} {cache} && mount -o remount,ro,bind {cache}"
    if (
        not shutil.which("unshare")
        or subprocess.run([*alone, mount], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs namespaces of its own for a mount that is read-only")
    explore = f"{sys.executable} -m brainsmith explore --blueprint space.yaml --output out"
    done = subprocess.run(
        [*alone, f"{mount} && XDG_CACHE_HOME={cache} {explore}"], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (
        f"warning: points share no steps, because the cache {cache}/brainsmith cannot be written\n"
        in done.stderr
    )
    assert {run.state for run in PointJournal(space / "out").runs()} == {"done"}
    assert not list(cache.iterdir())


def explored_with(runs, fidelity="estimates", unmodelled=()):
    space = load_space("space.yaml")
    points = np.zeros((0, 1), np.int32)
    objectives = known_objectives(space, runs)
    return Explored(space, fidelity, len(runs), runs, [], objectives, points, {}, unmodelled)


def test_there_is_a_warning_of_each_objective_that_no_point_has(space, capsys):
    run = PointRun(
        "k", 0, {"rate": 0}, "estimates", "done", 1, {"fps": 5, "lut": 7, "accuracy": None}, None, 1.0
    )
    assert known_objectives(load_space("space.yaml"), [run]) == {"fps": "max", "lut": "min"}
    warn(explored_with([run]))
    assert capsys.readouterr().err == (
        "warning: no point has the figure 'accuracy', an objective: it needs verify: {inputs: ..., labels: ...}; "
        "it is left out\n"
    )
    warn(explored_with([run._replace(fidelity="models")], "models", ["no layer\nmore"]))
    assert capsys.readouterr().err == (
        "warning: no point has the figure 'accuracy', an objective: the models do not give it; --produce estimates "
        "does. It is left out\nwarning: points are not known by the models: no layer\n"
    )
    warn(explored_with([run._replace(figures={"fps": 5, "lut": None, "accuracy": 1})]))
    assert capsys.readouterr().err == (
        "warning: no point has the figure 'lut', an objective: it needs a device, target: {part: ...}; it is left out\n"
    )
    failed = run._replace(state="failed", figures=None)
    warn(explored_with([failed]))
    assert capsys.readouterr().err == ""


def test_the_one_point_of_a_space_without_choices_has_a_name(space):
    (space / "one.yaml").write_text("hw_compiler: {target: {part: pynq-z2, clock: 5 ns, fps: 1000}}\n")
    run = PointRun("k", 0, {}, "estimates", "done", 1, {"fps": 5}, None, 1.0)
    one = load_space("one.yaml")
    assert said(one, run) == "the only point: fps 5"
    failed = run._replace(state="failed", figures=None, reason="no layer")
    assert said(one, failed) == "the only point: failed: no layer"


def test_where_nothing_was_built_there_is_the_reason(space):
    run = PointRun("k", 0, {"rate": 0}, "estimates", "failed", 1, None, "no layer", 1.0)
    with pytest.raises(ExplorationError, match=r"^none of 2 points could be built: no layer$"):
        refuse(explored_with([run, run]))
    with pytest.raises(
        ExplorationError, match=r"^no point was built within the budget: give more, and the same"
    ):
        refuse(explored_with([run._replace(state="waiting", reason=None)]))
    nan = run._replace(fidelity="models", reason=None)
    with pytest.raises(
        ExplorationError, match=r"^none of 1 point could be built: by the models none fits, see"
    ):
        refuse(explored_with([nan], "models"))


def test_what_is_wrong_is_an_error_before_anything_is_built(space, capsys):
    words = ["explore", "--blueprint", "space.yaml", "--output", "out"]
    for more, message in (
        (["--set", "explore.model=gone.onnx"], "space.yaml: model .*gone.onnx does not exist"),
        (
            ["--budget", "0"],
            "--budget must be a number of points or a time, such as 100, 90s, 30m or 2h, not '0'",
        ),
        (
            ["--budget", "2 days"],
            "--budget must be a number of points or a time, such as 100, 90s, 30m or 2h",
        ),
        (
            ["--on", "here"],
            "a cluster must be named as dask://HOST:PORT, such as dask://localhost:8786, not 'here'",
        ),
        (
            ["--on", "dask://localhost:1", "--jobs", "2"],
            "--jobs is for this machine alone: on a cluster each worker builds one point at a time",
        ),
        (["--strategy", "luck"], "--strategy must be grid, random, tpe or nsga2, not 'luck'"),
        (["--jobs", "many"], "--jobs must be a whole number, 1 or more, not 'many'"),
        (["--set", "target.fps=many"], "target.fps must be a positive whole number, not 'many'"),
    ):
        done = in_this_process(capsys, *words, *more)
        assert done.returncode in (1, 2) and done.stderr.startswith("error: "), done.stderr
        assert message.replace(".*", str(space) + "/") in done.stderr
        assert not (space / "out").exists()


def test_an_output_that_is_a_file_or_cannot_be_made_is_an_error(space, capsys):
    (space / "taken").write_text("")
    for output in ("taken", "/proc/none"):
        done = in_this_process(capsys, "explore", "--blueprint", "space.yaml", "--output", output)
        assert done.returncode == 1
        assert done.stderr.startswith(f"error: {output}: the exploration cannot write here: [Errno ")
        assert done.stderr.endswith("or name another folder with --output; no finished point is lost\n")


@pytest.mark.slow
@pytest.mark.parametrize("bytes_left", [20_000, 70_000])
def test_a_full_disk_ends_it_with_a_message_and_it_goes_on_later(space, bytes_left):
    """No file may grow beyond some bytes, as if the disk were full: the journal's, or those of a build."""
    command = [sys.executable, "-m", "brainsmith", "explore", "--blueprint", "space.yaml", "--output", "out"]
    full = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left,) * 2),
    )
    assert full.returncode == 1 and "Traceback" not in full.stderr
    assert "make the folder writable, free space, or name another folder with --output" in full.stderr
    assert subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 0
    assert {run.state for run in PointJournal(space / "out").runs()} == {"done"}
