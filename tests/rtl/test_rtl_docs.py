"""docs/rtl.md is true: its blocks run, its commands are the command line's, its pictures are drawn by their script."""

import os
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint.outputs import RTL_STEPS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rtl.md").read_text()
PICTURES = ROOT / "docs" / "pictures"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(words, cwd):
    """Run Python where the examples are."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def workshop(tmp_path):
    for name in ("examples", "blueprints"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.slow
def test_single_steps_run_from_python(workshop):
    command = ["-m", "brainsmith", "build", "examples/digits/mlp.onnx", "--produce", "estimates"]
    blueprint = ["--blueprint", "blueprints/digits_mlp_rtl.yaml", "--output", "out/estimates"]
    run([*command, *blueprint], workshop)
    run(["-c", BLOCKS[0]], workshop)
    assert np.load(workshop / "out/by_hand/accelerator/golden/m_axis_0.npy").shape[0] == 50


@pytest.mark.slow
def test_steps_run_in_finns_own_builder(workshop):
    run(["-c", BLOCKS[1]], workshop)
    assert np.load(workshop / "out/in_finn/accelerator/golden/m_axis_0.npy").shape[0] == 360


def test_every_step_is_told_of_in_its_order():
    assert tuple(re.findall(r"^\| `(rtl_\w+)` \|", PAGE, re.MULTILINE)) == RTL_STEPS


def test_pictures_are_small_whole_and_all_shown():
    files = sorted(path.name for path in PICTURES.glob("*.svg"))
    pages = (
        ROOT / "docs" / "rtl.md",
        ROOT / "docs" / "integer.md",
        ROOT / "examples" / "digits" / "README.md",
    )
    text = "".join(page.read_text() for page in pages)
    assert sorted(re.findall(r"[(/]pictures/([\w.]+)\)", text)) == files
    for name in files:
        content = (PICTURES / name).read_text("utf-8")
        assert len(content) < 100_000
        assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_flow_is_as_its_script_draws_it():
    drawn = runpy.run_path(str(PICTURES / "draw.py"))["flow"]()
    assert (PICTURES / "rtl_flow.svg").read_text("utf-8") == drawn
    for name in RTL_STEPS:
        assert name in drawn
