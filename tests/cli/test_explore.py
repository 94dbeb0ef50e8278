"""`brainsmith explore`: real builds, stopped by Ctrl-C and gone on with, and what is wrong."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.cli.explore import known_objectives
from brainsmith.exploration.point_journal import PointJournal, PointRun
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
    assert lines[0].startswith("[1/2] rate=1000: fps ") and lines[1].startswith("[2/2] rate=100000: fps ")
    assert "points    2 of 2 are built" in lines and "table     out/points.csv" in lines
    rows = list(csv.DictReader((space / "out" / "points.csv").read_text().splitlines()))
    assert [(row["rate"], row["state"]) for row in rows] == [("1000", "done"), ("100000", "done")]
    known = json.loads((space / "out" / "explore.json").read_text())
    assert [one["front"] for one in known["points"]] == [True, True]
    assert (space / "out" / known["points"][0]["folder"] / "estimates" / "report.json").is_file()
    again = in_this_process(capsys, *words, "--json")
    assert json.loads(again.stdout)["points"] == known["points"]


@pytest.mark.slow
def test_one_that_is_stopped_by_ctrl_c_goes_on_with_the_same_command(space):
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
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert {run.state for run in PointJournal(space / "out").runs()} == {"done"}


def test_an_objective_of_which_no_point_has_the_figure_is_left_out_with_a_warning(space, capsys):
    run = PointRun(
        "k", 0, {"rate": 0}, "estimates", "done", 1, {"fps": 5, "lut": 7, "accuracy": None}, None, 1.0
    )
    assert known_objectives(load_space("space.yaml"), [run]) == {"fps": "max", "lut": "min"}
    assert capsys.readouterr().err == (
        "warning: no point has the figure 'accuracy', an objective: it needs verify: {inputs: ..., labels: ...}; "
        "it is left out\n"
    )
    failed = run._replace(state="failed", figures=None)
    assert known_objectives(load_space("space.yaml"), [failed]) == {}
    assert capsys.readouterr().err == ""


def test_what_is_wrong_is_an_error_before_anything_is_built(space, capsys):
    words = ["explore", "--blueprint", "space.yaml", "--output", "out"]
    for more, message in (
        (["--set", "explore.model=gone.onnx"], "space.yaml: model .*gone.onnx does not exist"),
        (["--set", "explore=null", "--points", "0"], "--points must be a whole number, 1 or more, not '0'"),
        (["--jobs", "many"], "--jobs must be a whole number, 1 or more, not 'many'"),
        (["--set", "target.fps=many"], "target.fps must be a positive whole number, not 'many'"),
    ):
        done = in_this_process(capsys, *words, *more)
        assert done.returncode in (1, 2) and done.stderr.startswith("error: "), done.stderr
        assert message.replace(".*", str(space) + "/") in done.stderr
