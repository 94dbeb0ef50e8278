"""`brainsmith front`, on the shipped example."""

import json
import shutil

import pytest
from onnx import helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.cli.front import ends_of
from tests.cli.command import ROOT, in_this_process

MODEL = ROOT / "examples" / "digits" / "cnn.onnx"


@pytest.mark.slow
def test_a_picture_and_its_data(elsewhere, capsys):
    shutil.copy(MODEL, elsewhere / "cnn.onnx")
    done = in_this_process(capsys, "front", "cnn.onnx", "--part", "pynq-z2", "--output", "cnn.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads((elsewhere / "cnn.json").read_text())
    first, last = found["points"][0], found["points"][-1]
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["device"] == found["device"] == "xc7z020"
    assert lines["front"] == f"{len(found['points'])} circuits, each the cheapest of its interval"
    for name, point in (("fastest", first), ("smallest", last)):
        assert lines[name].startswith(f"{point['interval_cycles']:,} cycles from frame to frame: ")
        assert f" {point['needs']['lut']:,} LUT, " in lines[name]
    assert first["fps"] == pytest.approx(1e8 / first["interval_cycles"])  # at 10 ns
    assert (elsewhere / "cnn.svg").read_text().startswith("<svg")
    assert {path.name for path in elsewhere.iterdir()} == {"cnn.onnx", "cnn.svg", "cnn.json"}


@pytest.mark.slow
def test_an_imported_core_is_counted_by_synthesis_if_asked(elsewhere, capsys):
    """Nobody states what it takes: it is refused by name, or each of its foldings is synthesised."""
    shutil.copytree(ROOT / "examples" / "own_rtl", elsewhere, dirs_exist_ok=True)
    (elsewhere / ".brainsmith").mkdir()
    imported = in_this_process(capsys, "kernel", "import", "saturate.sv", "--description", "saturate.yaml")
    assert imported.returncode == 0, imported.stderr
    ends = [[helper.make_tensor_value_info(name, 1, [1, 12])] for name in "xy"]
    node = helper.make_node(
        "SaturateKernel", ["x"], ["y"], "s0", domain="brainsmith.kernels", backend="fpgadataflow"
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("brainsmith.kernels", 1)]
    model = ModelWrapper(
        helper.make_model(helper.make_graph([node], "saturate", *ends), opset_imports=opsets)
    )
    model.set_tensor_datatype("x", DataType["INT8"])
    model.save("saturate.onnx")
    words = "front", "saturate.onnx", "--part", "pynq-z2"
    refused = in_this_process(capsys, *words)
    assert refused.returncode == 1
    assert (
        "error: foldings cannot be fitted to xc7z020clg400-1: there is no model of what 1 layer takes: "
        in refused.stderr
    )
    done = in_this_process(capsys, *words, "--synthesise")
    assert done.returncode == 0, done.stderr
    points = json.loads((elsewhere / "front.json").read_text())["points"]
    assert [point["interval_cycles"] for point in points] == [1, 2, 3, 4, 6, 12]
    assert points[0]["needs"]["lut"] > points[-1]["needs"]["lut"] > 0


def test_a_part_that_is_unknown(elsewhere, capsys):
    shutil.copy(MODEL, elsewhere / "cnn.onnx")
    done = in_this_process(capsys, "front", "cnn.onnx", "--part", "pynq-z9")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no device 'pynq' is known, for the part 'pynq-z9'. Did you mean ")


def test_a_part_must_be_given(capsys):
    done = in_this_process(capsys, "front", "cnn.onnx")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "error: brainsmith front needs --part PART: the device, or a board such as pynq-z2",
    )


def test_both_ends_of_a_front_are_stated():
    needs = {"lut": 1234, "ff": 0, "bram18": 2, "uram": 0, "dsp": 0}
    point = {"interval_cycles": 100, "cost": 0.043, "needs": needs}
    said = "100 cycles from frame to frame: 1,234 LUT, 2 BRAM18, 0 DSP; a cost of 4.3 %"
    assert ends_of({"device": "xc7z020", "points": [point]}) == [
        ("device", "xc7z020"),
        ("front", "1 circuit, each the cheapest of its interval"),
        ("fastest", said),
        ("smallest", said),
    ]
