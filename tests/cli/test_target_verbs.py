"""`brainsmith run`, `compare`, `bench` and `targets`, in this process."""

import json
import re

import numpy as np
import pytest

from brainsmith import targets
from brainsmith.cli import bench
from brainsmith.cli.main import main
from brainsmith.plugins import reset_plugin_system
from brainsmith.targets.numpy import NumpyExecution
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
    f"run {MODEL} --input nowhere.npy": "--input: nowhere.npy does not exist",
    f"run {MODEL} --input x.npy --output no/y.npy": "--output: no/y.npy cannot be written: there is no folder no",
    f"run {MODEL} --target rtlsim --blueprint b.yaml --input no.npy": "--input: no.npy does not exist",
    f"run {MODEL} --target numpy --blueprint there.yaml --input x.npy": (
        "--blueprint is for targets that run a build's folder, and numpy runs the model itself"
    ),
    f"run {MODEL} --target rtlsim --blueprint b.yaml --input x.npy": "--blueprint: b.yaml does not exist",
    f"run {MODEL} --target rtlsim --build no --input x.npy": "--build must be a folder, not no",
    f"run {MODEL} --target rtlsim --build . --blueprint there.yaml --input x.npy": (
        "--build and --blueprint exclude each other: one names a build, the other has one made"
    ),
    "run . --target rtlsim --build other --input x.npy": (
        ". is a folder, which is run as it is, so --build other cannot be given too"
    ),
    "run . --target rtlsim --blueprint nothere --input x.npy": (
        ". is a folder, which is run as it is, so --blueprint nothere cannot be given too"
    ),
    f"compare {MODEL} --targets reference,numpy --build . --input x.npy": (
        "--build: no target given runs .:\n"
        "  reference: . is a folder, and a model is an .onnx file\n"
        "  numpy: . is a folder, and a model is an .onnx file"
    ),
    f"compare {MODEL} --targets reference,numpy --input .": (
        "--input: . is a folder, and arrays are in an .npy or .npz file"
    ),
    f"run {MODEL} --input empty.npy": "--input: empty.npy is not an .npy or .npz file of plain numbers",
    f"run {MODEL} --input huge.npy": (
        "--input: huge.npy states an array for which there is no memory; it is damaged, or too large"
    ),
    f"run {MODEL} --input other.npz": (
        "--input: other.npz holds the array picture, and the input is image\n"
        "  give an .npz file with an array of that name, or an .npy file with the array alone"
    ),
    f"compare {MODEL} --targets numpy,pynq --blueprint there.yaml --input x.npy": (
        "target 'pynq' cannot be used here: PYNQ is not installed: this target runs on a board, in the Python of a PYNQ 3 "
        "image for Zynq or Kria (https://www.pynq.io)"
    ),
    f"run {MODEL} --input wrong.npy": "input 'image' must have shape (n, 64), not (6, 8)",
    f"run {MODEL} --input large.npy": (
        "--input: large.npy holds int64, and input 'image' takes float32, which cannot hold its values"
    ),
    f"compare {MODEL} --targets numpy --input x.npy": (
        "--targets must list two targets or more, each once, such as reference,numpy; not 'numpy'"
    ),
    f"compare {MODEL} --targets numpy,numpy:0 --input x.npy": (
        "--targets must list two targets or more, each once, such as reference,numpy; not 'numpy,numpy:0'"
    ),
    f"compare {MODEL} --targets numpy,reference --input x.npy --tolerance much": (
        "--tolerance must be a number such as 1e-6, 0 or more, not 'much'"
    ),
    f"compare {MODEL} --targets numpy,rtlsim --blueprint there.yaml --input x.npy --tolerance -1": (
        "--tolerance must be a number such as 1e-6, 0 or more, not '-1'"
    ),
    f"bench {MODEL} --targets ,": "--targets must list one target or more, such as numpy,onnxruntime",
}


NO_USAGE = (
    "run nowhere.onnx --input x.npy",
    f"run {MODEL} --input x.npy --output no/y.npy",
    f"run {MODEL} --input wrong.npy",
    f"compare {MODEL} --targets numpy,pynq --blueprint there.yaml --input x.npy",
)


@pytest.mark.parametrize("line", MISUSE)
def test_misuse_says_what_to_do(x, elsewhere, capsys, line):
    np.save("wrong.npy", np.zeros((6, 8), np.float32))
    np.save("large.npy", np.full((1, 64), 2**53 + 1))
    (elsewhere / "there.yaml").touch()
    (elsewhere / "empty.npy").touch()
    np.savez("other.npz", picture=np.zeros((6, 64), np.float32))
    with open("huge.npy", "wb") as file:
        head = {"descr": "<f4", "fortran_order": False, "shape": (2**46, 64)}
        np.lib.format.write_array_header_1_0(file, head)
    assert main(line.split()) == (1 if line in NO_USAGE else 2)
    assert capsys.readouterr().err == f"error: {MISUSE[line]}\n"


def test_a_damaged_file_of_inputs_says_so(x, elsewhere, capsys):
    np.savez_compressed("x.npz", image=np.load(x).astype(np.float32))
    file = elsewhere / "x.npz"
    whole = file.read_bytes()
    first, listed = whole.find(b"PK\x03\x04"), whole.find(b"PK\x01\x02")
    begin = first + 30 + int.from_bytes(whole[first + 26 : first + 28], "little")
    begin += int.from_bytes(whole[first + 28 : first + 30], "little")
    damage = {
        begin: (b"\xff", "Error -3 while decompressing data: invalid block type"),
        listed + 10: (b"\x63", "That compression method is not supported"),
        listed + 8: (b"\x01", "File 'image.npy' is encrypted, password required for extraction"),
    }
    for at, (byte, told) in damage.items():
        file.write_bytes(whole[:at] + byte + whole[at + 1 :])
        assert main(["run", MODEL, "--input", "x.npz"]) == 2
        assert capsys.readouterr().err == f"error: --input: x.npz cannot be unpacked: {told}\n"
    file.write_bytes(whole[:-30])
    assert main(["run", MODEL, "--input", "x.npz"]) == 2
    assert capsys.readouterr().err == "error: --input: x.npz is not an .npy or .npz file of plain numbers\n"


def test_what_is_wrong_with_inputs_is_said_before_a_build_begins(x, elsewhere, capsys):
    (elsewhere / "none.yaml").write_text("no blueprint")
    np.save("wrong.npy", np.zeros((6, 8), np.float32))
    words = [
        "compare",
        MODEL,
        "--targets",
        "numpy,rtlsim",
        "--blueprint",
        "none.yaml",
        "--input",
        "wrong.npy",
    ]
    assert main(words) == 1
    assert capsys.readouterr().err == "error: input 'image' must have shape (n, 64), not (6, 8)\n"


@pytest.mark.slow
def test_a_target_that_cannot_does_not_cost_the_rows_of_the_others(x, capsys, monkeypatch):
    reason = f"error: target 'rtlsim' cannot execute {MODEL}: rtlsim runs the folder of a build with an accelerator, and "
    reason += f"{MODEL} is a file: brainsmith build MODEL --blueprint FILE --output DIR --produce simulated\n"
    hint = "  for a target that runs a build's folder, name one with --build DIR, or have one made with --blueprint FILE\n"
    assert main(["compare", MODEL, "--targets", "reference,rtlsim,numpy", "--input", x]) == 1
    shown = capsys.readouterr()
    assert [(row[0], row[-1]) for row in columns(shown.out)] == [
        ("reference", "compared with"),
        ("rtlsim", "not compared"),
        ("numpy", "equal"),
    ]
    assert shown.err == reason + hint
    monkeypatch.setattr(bench, "SECONDS", 0.05)
    assert main(["bench", MODEL, "--targets", "rtlsim,numpy", "--input", x]) == 1
    shown = capsys.readouterr()
    assert [row[0] for row in columns(shown.out)] == ["numpy"]
    assert shown.err == reason + hint
    assert main(["run", MODEL, "--target", "rtlsim", "--input", x]) == 1
    assert capsys.readouterr().err == reason + hint


class Untidy(NumpyExecution):
    """NumPy, but it does not end well; or it ends everything."""

    @classmethod
    def metadata(cls):
        return targets.PluginInfo(name="untidy", type="target", priority=0, device_types=("untidy",))

    def execute(self, prepared, inputs, **kwargs):
        if ENDS:
            raise SystemExit(0)
        return super().execute(prepared, inputs, **kwargs)

    def cleanup(self):
        raise RuntimeError("stuck")


ENDS = []


@pytest.fixture
def untidy():
    targets.get_registry().register(Untidy)
    yield ENDS
    ENDS.clear()
    targets.get_registry().unregister("untidy")


@pytest.mark.slow
def test_what_is_done_is_told_though_the_target_does_not_end_well(x, untidy, capsys, monkeypatch):
    monkeypatch.setattr(bench, "SECONDS", 0.05)
    words = ["run", MODEL, "--target", "untidy", "--input", x, "--output", "y.npy"]
    assert main(words) == 1
    shown = capsys.readouterr()
    assert re.match(r"error: target 'untidy' failed in cleanup: RuntimeError: stuck", shown.err)
    assert "output    y.npy: (6, 10) float32\n" in shown.out
    assert np.load("y.npy").shape == (6, 10)
    for verb in (
        ["compare", MODEL, "--targets", "numpy,untidy"],
        ["bench", MODEL, "--targets", "numpy,untidy"],
    ):
        assert main([*verb, "--input", x]) == 1
        shown = capsys.readouterr()
        assert [row[0] for row in columns(shown.out)] == ["numpy", "untidy"]
        assert re.match(r"error: target 'untidy' failed in cleanup: RuntimeError: stuck", shown.err)


def test_a_target_that_would_end_the_process_has_failed(x, untidy, capsys):
    untidy.append(True)
    assert main(["run", MODEL, "--target", "untidy", "--input", x]) == 1
    assert re.match(r"error: target 'untidy' failed in execute: SystemExit", capsys.readouterr().err)


def test_which_target_the_best_one_is_is_told(x, capsys):
    assert main(["compare", MODEL, "--targets", "reference,auto", "--input", x]) == 0
    assert capsys.readouterr().out.endswith("auto: ran on numpy:0\n")
    assert main(["compare", MODEL, "--targets", "numpy,auto", "--input", x]) == 1
    assert (
        capsys.readouterr().err
        == "error: 'auto' and 'numpy' are both numpy:0 here: name two different targets\n"
    )


class BadStart(NumpyExecution):
    """The best of all, were it not for its start."""

    @classmethod
    def metadata(cls):
        return targets.PluginInfo(name="bad_start", type="target", priority=500, device_types=("cpu",))

    def initialize(self):
        raise RuntimeError("no power")


def test_a_target_that_is_passed_over_is_told_once(x, caplog):
    targets.get_registry().register(BadStart)
    try:
        assert main(["run", MODEL, "--input", x]) == 0
    finally:
        targets.get_registry().unregister("bad_start")
    told = [record.getMessage() for record in caplog.records if record.name == "brainsmith.targets"]
    assert len(told) == 1
    assert told[0].startswith("skipped: target 'bad_start' failed in initialize: RuntimeError: no power")
