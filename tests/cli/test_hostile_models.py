"""Models and blueprints made to hang, to crash or to run code: one message in each verb that opens one, and at once."""

import json
import os

import numpy as np
import onnx
import pytest

from brainsmith.graph.sound import TRUSTED
from tests.graph import hostile
from tests.plugin.installed import run_python

PART = "hw_compiler:\n  target: {part: xczu7ev-ffvc1156-2-e, fps: %s}\n"
PIPE = "pipe"
"""What is no model at all, and would be read for ever."""
GUARD = 120
"""Seconds for all of them in one process: each takes some milliseconds, INT1000000000 took 78 s."""
VERBS = {
    "build": ["--blueprint", "plan.yaml", "--output", "out", "--no-cache"],
    "run": ["--input", "x.npy", "--target", "reference"],
    "compare": ["--input", "x.npy", "--targets", "reference,numpy"],
}
HINT = "for a target that runs a build's folder, name one with --build DIR, or have one made with --blueprint FILE"
NO_FILE = {
    "build": "error: pipe.onnx is a pipe or a device, not an ONNX file. Save the model to a file, and name it.\n",
    "run": (
        "error: target 'reference' cannot execute pipe.onnx: pipe.onnx is a pipe or a device, and a model is an "
        f".onnx file\n  {HINT}\n"
    ),
}
NO_FILE["compare"] = NO_FILE["run"]
EACH = """
import contextlib, io, json, sys
from brainsmith.cli.main import main
said = {}
for case in json.loads(sys.argv[1]):
    text = io.StringIO()
    with contextlib.redirect_stderr(text), contextlib.redirect_stdout(text):
        code = main([sys.argv[2], f"{case}.onnx", *sys.argv[3:]])
    said[case] = [code, text.getvalue()]
print(json.dumps(said))
"""
SERVED = """
import json, sys
from pathlib import Path
from brainsmith.runtime.serving.protocol import model_content
from tests.runtime.serving.served import ask, served
said = {}
with served("numpy") as server:
    for case in json.loads(sys.argv[1]):
        data = Path(f"{case}.onnx").read_bytes()
        status, _, body = ask(server, "PUT", f"/models/{model_content(data)}", data)
        said[case] = [status, body["message"]]
print(json.dumps(said))
"""


@pytest.fixture
def folder(tmp_path):
    """Save all of them, and beside them the module that one names."""
    for case, make in hostile.MODELS.items():
        onnx.save(make(), tmp_path / f"{case}.onnx")
    (tmp_path / f"{hostile.MODULE}.py").write_text("open('imported', 'w').close()\n")
    os.mkfifo(tmp_path / f"{PIPE}.onnx")
    (tmp_path / "plan.yaml").write_text(PART % 1000)
    np.save(tmp_path / "x.npy", np.ones((1, 6), np.float32))
    return tmp_path


def said_of_each(code, folder, cases, *words):
    script = f"import sys; sys.argv[1:] = {[json.dumps(cases), *words]!r}\n{code}"
    said = run_python(script, cwd=folder, path=[folder], timeout=GUARD)
    assert not (folder / "imported").exists()
    return said


@pytest.mark.parametrize(
    "verb", ["run", *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("build", "compare"))]
)
def test_each_verb_says_one_thing(folder, verb):
    said = said_of_each(EACH, folder, [*hostile.MODELS, PIPE], verb, *VERBS[verb])
    assert said[PIPE] == [1, NO_FILE[verb]]
    for case, fault in hostile.FAULTS.items():
        text = f"{case}.onnx: {fault}{TRUSTED if case in hostile.RUNS_CODE else ''}"
        if verb != "build":
            text = f"target 'reference' cannot execute {case}.onnx: {text}\n  {HINT}"
        assert said[case] == [1, f"error: {text}\n"]


@pytest.mark.slow
def test_a_served_target_says_it_too(folder):
    said = said_of_each(SERVED, folder, list(hostile.MODELS))
    for case, fault in hostile.FAULTS.items():
        if case != "module beside the model":  # no domain of a stranger's is served, whatever it is
            assert said[case] == [422, f"what was sent: {fault}"]
    assert said["module beside the model"][1].startswith(
        f"node 'matmul1' (MatMul) is of domain '{hostile.MODULE}', which is not executed for clients; "
    )


@pytest.mark.parametrize(
    ("fps", "shown"),
    [
        (
            "9" * 100_000,
            f"a positive whole number, not '{'9' * 199}... (100002 characters) is not a YAML int",
        ),
        ("9" * 400, f"a positive whole number, not {'9' * 200}... (400 characters)"),
        ("1e300", "at most 2,000,000,000, one in each cycle at 2 GHz, not 1e+300"),
    ],
)
def test_a_rate_of_many_digits_is_one_message(folder, capsys, fps, shown):
    from brainsmith.cli.main import main

    plan = folder / "digits.yaml"
    plan.write_text(PART % fps)
    assert main(["blueprint", "check", str(plan)]) == 1
    assert capsys.readouterr().err == f"error: {plan}:2:45: target.fps must be {shown}\n"


def test_a_clock_of_many_digits_is_one_message(folder, capsys):
    """The pattern of a clock took time that grew with the square of the digits."""
    from brainsmith.cli.main import main

    plan = folder / "digits.yaml"
    plan.write_text(f"hw_compiler:\n  target: {{clock: {'5' * 100_000} fortnights}}\n")
    assert main(["blueprint", "check", str(plan)]) == 1
    assert capsys.readouterr().err == (
        f"error: {plan}:2:19: target.clock must be '5 ns', '200 MHz' or a number of ns, not "
        f"'{'5' * 199}... (100013 characters)\n"
    )
