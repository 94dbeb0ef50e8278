"""Ctrl-C and kill -9 of a whole process."""

import signal
import subprocess
import sys
import time

import pytest

from brainsmith.build import build
from tests.build import graphs

CODE = """
import sys, time
from brainsmith.build import build
from tests.build import graphs
def quick(model, cfg):
    return model
def slow(model, cfg):
    print("slow", flush=True)
    for _ in range(6000):
        time.sleep(0.01)  # Python sleeps through a signal that comes between its last look and the sleep
    return model
try:
    build(graphs.quant_mlp(), output=sys.argv[1], steps=[quick, slow], verify=False, report=False)
except KeyboardInterrupt as error:
    print(error, flush=True)
    sys.exit(1)
"""


def start(output):
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(output)],
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    while "slow" not in process.stdout.readline():
        time.sleep(0.01)
    return process


def test_ctrl_c(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    process = start(tmp_path / "out")
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert text == (
        f"build interrupted after 1 of 2 steps; {tmp_path / 'out'} is as it was; the steps done are in the build "
        "cache\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_kill(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    process = start(tmp_path / "out")
    process.kill()
    process.communicate()
    assert [path.name[:7] for path in (tmp_path / "out").iterdir()] == [".build-"]
    build(
        graphs.quant_mlp(),
        output=tmp_path / "out",
        steps=[lambda model, cfg: model],
        verify=False,
        report=False,
    )
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [".build.json", "checkpoints", "model.onnx", "provenance.json", "report.json"]
