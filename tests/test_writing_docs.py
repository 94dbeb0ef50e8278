"""docs/writing.md: its files are plugins, its programs run, and its table has every field of `cfg`."""

import dataclasses
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from brainsmith.build.config import StepConfig

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "writing.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_kernel_and_its_transform_are_plugins_and_compute_what_was_there(tmp_path):
    (tmp_path / ".brainsmith").mkdir()
    program = []
    for text in blocks("python"):
        file = re.match(r"# (plugins/\w+\.py)\n", text)
        if file is None:
            program.append(text)
            continue
        (tmp_path / "plugins").mkdir(exist_ok=True)
        (tmp_path / file.group(1)).write_text(text)
    assert len(list((tmp_path / "plugins").iterdir())) == 2
    program.append(
        "from types import SimpleNamespace\n"
        "cfg = SimpleNamespace(target_fps=1, synth_clk_period_ns=5.0, fpga_part='x')\n"
        "assert note_target(model, cfg).get_metadata_prop('target') == '1 fps at 5.0 ns on x'\n"
    )
    text = "\n".join(program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_field_of_cfg_is_in_the_table():
    fields = {field.name for field in dataclasses.fields(StepConfig)}
    assert {name for name in fields if f"| `{name}` |" not in PAGE} == set()


def test_the_package_data_is_toml_and_takes_systemverilog():
    (text,) = blocks("toml")
    assert "**/*.sv" in tomllib.loads(text)["tool"]["setuptools"]["package-data"]["acme"]
