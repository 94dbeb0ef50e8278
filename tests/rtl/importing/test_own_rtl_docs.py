"""docs/own_rtl.md is true: its example is imported and its block runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from brainsmith.rtl.importing.description import KEYS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "own_rtl.md").read_text()


def test_every_key_is_told_of():
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", PAGE, re.MULTILINE)
    assert set(KEYS) <= {name.strip("`") for row in rows for name in row.split(", ")}


@pytest.mark.slow
def test_the_example_runs(tmp_path, simulations):
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    command = re.search(r"^    brainsmith (kernel import .*)$", PAGE, re.MULTILINE).group(1)
    block = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL).group(1)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for words in (["-m", "brainsmith", *shlex.split(command)], ["-c", block]):
        done = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
