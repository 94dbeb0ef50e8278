"""Two processes that build the same thing at once share the cache."""

import subprocess
import sys
import time

import pytest

from brainsmith.build import build
from brainsmith.build.cache import BuildCache
from tests.build import graphs
from tests.cli.command import ROOT

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


LONG = """
import sys, time
from pathlib import Path
from brainsmith.build import build
from tests.build import graphs

def long(model, cfg):
    (cfg.get_report_directory() / "begun").write_text("")
    time.sleep({seconds})
    return model

result = build(graphs.quant_mlp(), output=sys.argv[1], steps=[long], report=False)
print([step.reused for step in result.steps], [step.reason for step in result.steps])
"""


def started(tmp_path, name, seconds):
    file = tmp_path / "long.py"
    if not file.exists():  # a function whose file changes while its process starts is rightly never reused
        file.write_text(LONG.format(seconds=seconds))
    command = [sys.executable, str(file), str(tmp_path / name)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_it_runs(tmp_path):
    end = time.monotonic() + 60
    while not list(tmp_path.rglob("begun")) and time.monotonic() < end:
        time.sleep(0.02)


@pytest.mark.slow
def test_a_step_that_runs_elsewhere_is_waited_for_and_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    first = started(tmp_path, "a", 3)
    wait_until_it_runs(tmp_path)
    others = [started(tmp_path, name, 3) for name in ("b", "c")]
    texts = [process.communicate(timeout=120) for process in (first, *others)]
    assert [errors for _, errors in texts] == ["", "", ""]
    assert [output.split()[0] for output, _ in texts] == ["[False]", "[True]", "[True]"], texts


@pytest.mark.slow
def test_one_that_waits_for_a_process_that_is_killed_runs_the_step(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    first = started(tmp_path, "a", 5)
    wait_until_it_runs(tmp_path)
    second = started(tmp_path, "b", 5)
    time.sleep(1)
    first.kill()
    first.communicate()
    output, errors = second.communicate(timeout=120)
    assert (output.split()[0], errors) == ("[False]", "")


def test_what_another_build_made_between_the_look_and_the_lock_is_reused(tmp_path, monkeypatch):
    running, built = BuildCache.running, []

    def made_meanwhile(cache, parts):
        if not built:
            built.append("other")
            built.append(
                build(graphs.quant_mlp(), output=tmp_path / "other", steps=["cleanup"], report=False)
            )
        return running(cache, parts)

    monkeypatch.setattr(BuildCache, "running", made_meanwhile)
    result = build(graphs.quant_mlp(), output=tmp_path / "one", steps=["cleanup"], report=False)
    assert [step.reused for step in built[1].steps] == [False]
    assert [step.reused for step in result.steps] == [True]
