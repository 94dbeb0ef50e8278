"""Two processes that build the same thing at once share the cache."""

import subprocess
import sys

import pytest

CODE = """
import sys
from brainsmith.build import build
from tests.build import graphs

def first(model, cfg):
    return model

def second(model, cfg):
    (cfg.get_report_directory() / "x.json").write_text("{}")
    return model

for at in range(4):
    result = build(graphs.quant_mlp(), output=f"{sys.argv[1]}/{at}", steps=[first, second], report=False)
print([step.reused for step in result.steps])
"""


@pytest.mark.slow
def test_both_succeed_and_end_with_reused_steps(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CODE, str(tmp_path / name)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert (output, errors, process.returncode) == ("[True, True]\n", "", 0)
    models = {path.read_bytes() for path in tmp_path.glob("*/*/model.onnx")}
    assert len(models) == 1
    assert len(list(tmp_path.glob("*/*/report/x.json"))) == 8
