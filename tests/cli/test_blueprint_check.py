"""`brainsmith blueprint check`."""

import pytest

from brainsmith.cli.main import main
from tests.cli.command import ROOT, brainsmith

GOOD = """\
hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 200 MHz, fps: 1000}
  kernels:
    - {kernel: "finn:MVAU", backends: [rtl]}
  transforms:
    - {transform: "finn:SetFolding", args: {target_cycles_per_frame: 10}}
    - "~NotThere"
  steps: [cleanup, transforms]
"""

WRONG = """\
hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clok: 5 ns}
  kernels: [LayerNrom]
  transforms: [ExpandNorm]
"""


def test_the_plan_is_printed(elsewhere, capsys):
    (elsewhere / "good.yaml").write_text(GOOD)
    assert main(["blueprint", "check", "good.yaml"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out == (
        "good.yaml: no errors\n"
        "  target   part xczu7ev-ffvc1156-2-e, clock 5 ns, fps 1000\n"
        "  kernels  finn:MVAU: brainsmith:BinaryMVAURTL, finn:MVAU_rtl, brainsmith:EmbeddedMVAURTL\n"
        "  steps     1 cleanup  step brainsmith:cleanup\n"
        "            2 transforms\n"
        "                finn:SetFolding target_cycles_per_frame=10\n"
        "  output   estimates\n"
        "  plugins  6 are named, and no others are loaded\n"
        "  skipped: good.yaml:7:7: optional transform 'NotThere' is left out: no transform or group named 'NotThere'.\n"
    )


def test_every_error_comes_at_once_with_its_place(elsewhere, capsys):
    (elsewhere / "wrong.yaml").write_text(WRONG)
    assert main(["blueprint", "check", "wrong.yaml"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0].startswith("error: wrong.yaml:2:40: ") and "'clok'" in lines[0] and "clock" in lines[0]
    assert any(line.startswith("wrong.yaml:3:13: ") and "Did you mean 'LayerNorm'?" in line for line in lines)
    assert any(
        line.startswith("wrong.yaml:4:16: ") and "Did you mean 'ExpandNorms'?" in line for line in lines
    )


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "blueprints").glob("*.yaml")))
def test_every_shipped_blueprint_is_right(name, capsys):
    assert main(["blueprint", "check", str(ROOT / "blueprints" / name)]) == 0
    assert capsys.readouterr().out.startswith(f"{ROOT / 'blueprints' / name}: no errors\n")


@pytest.mark.parametrize("make", ["missing", "folder", "binary"])
def test_what_is_no_blueprint(make, elsewhere):
    path = elsewhere / "it.yaml"
    if make == "folder":
        path.mkdir()
    elif make == "binary":
        path.write_bytes(b"\xff\xfe\x00\x01")
    done = brainsmith("blueprint", "check", "it.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: it.yaml")
    assert "Traceback" not in done.stderr


def test_the_mode_blueprint_needs_no_loaded_blueprint_here(elsewhere):
    (elsewhere / "good.yaml").write_text(GOOD)
    done = brainsmith("blueprint", "check", "good.yaml", BRAINSMITH_PLUGIN_MODE="blueprint")
    assert (done.returncode, done.stderr) == (0, "")


STRICT = """\
hw_compiler:
  steps: [cleanup, qonnx_to_finn, streamline]
  verify:
    approximate: {streamline: {error: 0.5}}
    changes_outputs: {qonnx_to_finn: {labels: y.npy}}
    unverified: [cleanup]
  strict: true
"""


def test_what_is_not_proven_is_in_the_plan(elsewhere, capsys):
    (elsewhere / "strict.yaml").write_text(STRICT)
    (elsewhere / "y.npy").write_bytes(b"")
    assert main(["blueprint", "check", "strict.yaml"]) == 0
    assert capsys.readouterr().out == (
        "strict.yaml: no errors\n"
        "  steps     1 cleanup  step brainsmith:cleanup\n"
        "            2 qonnx_to_finn  step brainsmith:qonnx_to_finn\n"
        "            3 streamline  step brainsmith:streamline\n"
        "  verify   streamline approximates\n"
        "           qonnx_to_finn gives other outputs\n"
        "           cleanup is not verified\n"
        "  output   estimates\n"
        "  strict   exit code 3 unless all is proven\n"
        "  plugins  3 are named, and no others are loaded\n"
    )
    (elsewhere / "y.npy").unlink()
    assert main(["blueprint", "check", "strict.yaml"]) == 1
    file = elsewhere / "y.npy"
    assert capsys.readouterr().err == (
        f"error: strict.yaml:5:39: verify.changes_outputs.qonnx_to_finn.labels names a file that does not exist: {file}\n"
    )
