import os
import sys
from pathlib import Path

import numpy as np
import pytest

from brainsmith.build.guard import process_state_kept


def test_a_folder_that_vanished_under_the_step(tmp_path):
    before = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    with process_state_kept("seed"):
        os.chdir(gone)
        gone.rmdir()
    assert Path.cwd() == before


def test_everything_is_restored_when_the_step_raises(monkeypatch):
    monkeypatch.setenv("GUARD_TEST", "1")
    before, state, searched = Path.cwd(), np.random.get_state()[1].tolist(), list(sys.path)
    with pytest.raises(ValueError, match="no"), process_state_kept("seed"):
        os.chdir("/")
        sys.path.insert(0, "/")
        del os.environ["GUARD_TEST"]
        np.random.random()
        raise ValueError("no")
    assert (Path.cwd(), os.environ["GUARD_TEST"]) == (before, "1")
    assert np.random.get_state()[1].tolist() == state
    assert sys.path == searched


def test_finns_own_variables_stay(monkeypatch):
    monkeypatch.delenv("FINN_GUARD_TEST", raising=False)
    with process_state_kept("seed"):
        os.environ["FINN_GUARD_TEST"] = "1"
    assert os.environ.pop("FINN_GUARD_TEST") == "1"
