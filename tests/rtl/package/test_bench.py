"""The test bench of a package, run for real: cocotb, Verilator and g++, and nothing of this project."""

import importlib.util
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture
def bench(folder):
    """Run the package's own script."""
    if importlib.util.find_spec("cocotb") is None or shutil.which("g++") is None:
        pytest.skip("needs cocotb and g++")

    def run(*words):
        done = subprocess.run(
            [sys.executable, "cocotb/run.py", *words],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_all_golden_frames_pass_with_pauses_and_a_wrong_one_does_not(bench, folder):
    status, text = bench("--seed", "5")
    assert status == 0, text
    assert "8 frames are golden" in text
    path = folder / "golden" / "m_axis_0.npy"
    golden = np.load(path)
    golden[2, 0, 1, 3] ^= 1
    np.save(path, golden)
    status, text = bench("--frames", "4", "--pauses", "0", "--reuse")
    assert status == 1, text
    assert "frame 2, beat 5 of m_axis_0: 0x" in text
    status, text = bench("--frames", "2", "--reuse")
    assert status == 0, text
    assert "2 frames are golden" in text
