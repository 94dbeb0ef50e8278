"""`brainsmith run`, `compare`, `bench` and `targets`, in this process."""

import json

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.cli import bench
from brainsmith.cli.main import main
from brainsmith.plugins import reset_plugin_system
from tests.cli.command import ROOT

MODEL = str(ROOT / "examples" / "digits" / "mlp.onnx")


@pytest.fixture
def x(elsewhere):
    """Save a few digits."""
    np.save(elsewhere / "x.npy", np.load(ROOT / "examples" / "digits" / "digits_mlp_x.npy")[:6])
    return "x.npy"


def columns(text):
    return [line.split("\t") for line in text.splitlines()]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_run_takes_numbers_in_any_type_that_keeps_them(x, elsewhere, capsys, dtype):
    values = np.load(x).astype(dtype)
    np.save("typed.npy", values)
    assert main(["run", MODEL, "--target", "numpy", "--input", "typed.npy", "--output", "y.npy"]) == 0
    shown = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert (shown["model"], shown["samples"], shown["output"]) == (MODEL, "6", "y.npy: (6, 10) float32")
    assert shown["target"].startswith("numpy:0: ")
    labels = np.load(ROOT / "examples" / "digits" / "digits_y.npy")[:6]
    assert (np.load("y.npy").argmax(axis=1) == labels).mean() >= 5 / 6


def test_run_without_an_output_says_what_came(x, capsys):
    assert main(["run", MODEL, "--input", x]) == 0
    assert "outputs   (6, 10) float32\n" in capsys.readouterr().out


def test_run_uses_the_device_of_init(x, capsys):
    targets.init("reference")
    try:
        assert main(["run", MODEL, "--input", x]) == 0
    finally:
        reset_plugin_system()
    assert "target    reference:0: " in capsys.readouterr().out


def test_compare_agrees(x, capsys):
    assert main(["compare", MODEL, "--targets", "reference,numpy", "--input", x]) == 0
    first, other = columns(capsys.readouterr().out)
    assert (first[0], first[-1]) == ("reference", "compared with")
    assert (other[:4], other[-1]) == (["numpy", "1", "8", "0"], "equal")


def test_bench_measures(x, capsys, monkeypatch):
    monkeypatch.setattr(bench, "SECONDS", 0.05)
    assert main(["bench", MODEL, "--targets", "numpy"]) == 0
    ((target, *times, rate, batch),) = columns(capsys.readouterr().out)
    assert (target, batch) == ("numpy", "256")
    _, median, ninety, last, worst = (float(text.replace(",", "")) for text in times)
    assert 0 < median <= ninety <= last <= worst
    assert float(rate.replace(",", "")) > 0


def test_targets_say_why_they_cannot_be_used(capsys):
    assert main(["targets", "--json"]) == 0
    found = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {"reference", "numpy", "onnxruntime", "cppsim", "rtlsim", "pynq", "remote"} <= set(found)
    assert (found["numpy"]["available"], found["numpy"]["reason"]) == (True, "")
    assert found["pynq"]["available"] is False
    assert found["pynq"]["reason"].startswith("PYNQ is not installed")


MISUSE = {
    "run nowhere.onnx --input x.npy": "nowhere.onnx: there is no such file or folder",
    f"run {MODEL} --input nowhere.npy": "--input: nowhere.npy is not there",
    f"run {MODEL} --input x.npy --output no/y.npy": "--output: no/y.npy cannot be written: there is no folder no",
    f"run {MODEL} --target rtlsim --input x.npy": (
        f"target 'rtlsim' runs a circuit, and {MODEL} is a model: say with --blueprint FILE what to build it with, or "
        "with --build DIR where it was built"
    ),
    f"run {MODEL} --target rtlsim --blueprint b.yaml --input no.npy": "--input: no.npy is not there",
    f"run {MODEL} --target numpy --blueprint b.yaml --input x.npy": (
        "--blueprint is for rtlsim, which is not among the targets: numpy"
    ),
    f"run {MODEL} --input wrong.npy": "input 'image' must have shape (n, 64), not (6, 8)",
    f"run {MODEL} --input large.npy": (
        "--input: large.npy holds int64, and input 'image' takes float32, which cannot hold its values"
    ),
    f"compare {MODEL} --targets numpy --input x.npy": (
        "--targets must list two targets or more, each once, such as reference,numpy; not 'numpy'"
    ),
    f"compare {MODEL} --targets numpy,reference --input x.npy --tolerance much": (
        "--tolerance must be a number such as 1e-6, not 'much'"
    ),
    f"bench {MODEL} --targets ,": "--targets must list one target or more, such as numpy,onnxruntime",
}


@pytest.mark.parametrize("line", MISUSE)
def test_misuse_says_what_to_do(x, capsys, line):
    np.save("wrong.npy", np.zeros((6, 8), np.float32))
    np.save("large.npy", np.full((1, 64), 2**53 + 1))
    assert main(line.split()) == 1
    assert capsys.readouterr().err == f"error: {MISUSE[line]}\n"
