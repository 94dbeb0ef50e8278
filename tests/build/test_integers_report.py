import json

import pytest

from brainsmith.build.integers_report import INTEGERS, read_integers
from brainsmith.build.report import summary_pairs

QUANTISER = {
    "origin": "Quant 'q'", "inputs": ["image"], "tensor": "q_levels", "scale": [0.25], "offset": [0.0], "zero_point": 0,
    "low": -8, "high": 7, "rounding_mode": "ROUND", "operators": [],
}  # fmt: skip
OUTPUT = {
    "name": "y",
    "tensor": "t",
    "scale": [0.5],
    "offset": [0.0],
    "zero_point": 0,
    "operators": [],
}


def read(folder, quantisers=(), outputs=()):
    file = folder / INTEGERS
    file.parent.mkdir()
    file.write_text(json.dumps({"inputs": [], "quantisers": quantisers, "tensors": [], "outputs": outputs}))
    return read_integers(folder)


@pytest.mark.parametrize(
    ("quantiser", "said"),
    [
        ({}, "quantises input 'image' to -8 to 7: scale 0.25, rounded by ROUND"),
        ({"zero_point": 3}, "quantises input 'image' to -8 to 7: scale 0.25, zero point 3, rounded by ROUND"),
        (
            {"operators": ["Sub", "Div"]},
            "quantises input 'image' to -8 to 7: scale 0.25, rounded by ROUND, after Sub, Div",
        ),
        (
            {"scale": [0.5, 1.0], "rounding_mode": None, "inputs": ["a", "b"]},
            "quantises input 'a' and input 'b' to -8 to 7: 2 scales of channels",
        ),
    ],
)
def test_what_the_host_quantises_is_said(tmp_path, quantiser, said):
    assert read(tmp_path, [{**QUANTISER, **quantiser}])["host"] == [said]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ({}, ["computes output 'y' from integers: scale 0.5"]),
        ({"offset": [1.0], "operators": ["Relu"]}, ["computes output 'y' from integers: scale 0.5, an offset, Relu"]),
        ({"scale": [1.0]}, []),
        ({"scale": None, "offset": None}, ["computes output 'y' in floats"]),
    ],
)  # fmt: skip
def test_what_the_host_makes_of_the_last_integers_is_said(tmp_path, output, said):
    assert read(tmp_path, (), [{**OUTPUT, **output}])["host"] == said


def test_without_the_file_there_is_nothing(tmp_path):
    assert read_integers(tmp_path) is None


def test_the_summary_has_a_line_for_each(tmp_path):
    report = dict.fromkeys(("estimate", "rate", "device", "accuracy"))
    report |= {"steps": [], "layers": [], "shortfalls": [], "integers": {"host": ["a", "b"]}}
    lines = summary_pairs(report, tmp_path)
    assert [line for line in lines if line[0] == "host"] == [("host", "a"), ("host", "b")]
