"""`brainsmith blueprint show`, and `--set` and several files wherever a blueprint is given."""

import json

from brainsmith.blueprint import load_blueprint
from tests.cli.command import in_this_process

BASE = """\
variables: {rate: 1000}
hw_compiler:
  target: {part: pynq-z2, fps: "${rate}"}
  steps: [cleanup]
"""
MINE = """\
extends: base.yaml
hw_compiler:
  change_steps: [{insert: qonnx_to_finn, after: cleanup}]
"""


def test_it_prints_one_file_with_the_place_of_each_value(elsewhere, capsys):
    (elsewhere / "base.yaml").write_text(BASE)
    (elsewhere / "mine.yaml").write_text(MINE)
    done = in_this_process(
        capsys, "blueprint", "show", "mine.yaml", "--set", "rate=5", "--set", "output=estimates"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "hw_compiler:\n"
        "  target:\n"
        "    part: pynq-z2    # base.yaml:3:18\n"
        "    fps: 5           # --set rate=5\n"
        "  output: estimates  # --set output=estimates\n"
        "  steps:\n"
        "    - cleanup        # base.yaml:4:11\n"
        "    - qonnx_to_finn  # mine.yaml:3:27\n"
    )
    (elsewhere / "one.yaml").write_text(done.stdout)
    assert load_blueprint("one.yaml").goal.fps == 5
    plain = json.loads(in_this_process(capsys, "blueprint", "show", "mine.yaml", "--json").stdout)
    assert plain == {
        "hw_compiler": {"target": {"part": "pynq-z2", "fps": 1000}, "steps": ["cleanup", "qonnx_to_finn"]},
        "origins": {
            "target.part": "base.yaml:3:18",
            "target.fps": "base.yaml:1:19",
            "steps[0]": "base.yaml:4:11",
            "steps[1]": "mine.yaml:3:27",
        },
        "error": None,
    }


def test_a_blueprint_with_errors_is_not_printed(elsewhere, capsys):
    (elsewhere / "base.yaml").write_text(BASE)
    done = in_this_process(capsys, "blueprint", "show", "base.yaml", "--set", "rate=fast", "--set", "rat=5")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: --set rat=5: there is no variable or key 'rat'. Did you mean 'rate'?\n"
        "--set rate=fast: target.fps must be a positive whole number, not 'fast' (as ${rate} at base.yaml:3:32)\n"
    )


def test_a_build_takes_several_files_and_overrides(elsewhere, capsys):
    from tests.cli.test_build import MODEL

    (elsewhere / "base.yaml").write_text(BASE)
    (elsewhere / "over.yaml").write_text("hw_compiler: {target: {clock: 4 ns}}\n")
    words = ["build", str(MODEL), "--blueprint", "base.yaml", "--blueprint", "over.yaml", "--set", "rate=77"]
    done = in_this_process(capsys, *words, "--output", "out", "--no-verify", "--no-report")
    assert done.returncode == 0, done.stderr
    blueprint = json.loads((elsewhere / "out" / "report.json").read_text())["blueprint"]
    assert blueprint == {
        "file": "base.yaml + over.yaml",
        "files": [str(elsewhere / "base.yaml"), str(elsewhere / "over.yaml")],
        "overrides": ["rate=77"],
        "stated": {"target": {"part": "xc7z020clg400-1", "clock_ns": 4.0, "fps": 77}, "steps": ["cleanup"]},
        "target": {"part": "xc7z020clg400-1", "clock_ns": 4.0, "fps": 77},
        "output": "estimates",
    }
    wrong = in_this_process(capsys, *words, "--set", "target.clok=4", "--output", "out")
    assert (wrong.returncode, wrong.stderr) == (
        1,
        "error: --set target.clok=4: unknown key 'clok' in target. Did you mean 'clock'?\n",
    )


def test_check_takes_overrides(elsewhere, capsys):
    (elsewhere / "base.yaml").write_text(BASE)
    done = in_this_process(capsys, "blueprint", "check", "base.yaml", "--set", "steps=[cleanup, nope]")
    assert done.returncode == 1
    assert done.stderr.startswith("error: --set steps=[cleanup, nope]: no step named 'nope'.")
