"""What the RTL steps left, as a report has it: all of it, some of it, damaged."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.build.circuits import read_circuit, read_synthesis
from brainsmith.build.estimates import read_estimates
from brainsmith.errors import BuildError

from .circuit_files import FIFOS, FILES, SIMULATION, SYNTHESIS, write_circuit


def test_the_circuit(tmp_path):
    found = read_circuit(write_circuit(tmp_path))
    design = found.pop("design")
    alone = {
        "name": "MVAU_rtl_0",
        "kernel": "MVAU_rtl",
        "frames": 4,
        "values": 512,
        "wrong": 0,
    } | dict.fromkeys(("cycles", "estimate", "share"))
    sizing = {"gauge_bits": 288, "simulations": 12, "seconds": 1.5, "minimal": True}
    sizing |= {"layers_alone": 4, "unsettled": ["MVAU_rtl_0"]}
    assert found == {
        **SIMULATION,
        "parts": None,
        "layers": [alone],
        "fifos": FIFOS["fifos"],
        "sizing": sizing,
    }
    assert design["top"] == "finn_design"
    assert [layer["name"] for layer in design["layers"]] == [
        "Thresholding_rtl_0", "MVAU_rtl_0_memstream_wrapper", "MVAU_rtl_0",
    ]  # fmt: skip
    assert design["layers"][0] == {
        "name": "Thresholding_rtl_0", "kernel": "Thresholding_rtl", "module": "T0", "cycles": 64,
    }  # fmt: skip
    assert design["links"][1] == {
        "name": "Thresholding_rtl_0_out0_V",
        "source": "Thresholding_rtl_0.out0_V",
        "target": "MVAU_rtl_0.in0_V",
        "bits": 32,
        "depth": 7,
        "tensor": "t",
        "lanes": 8,
        "lane_bits": 4,
    }
    assert design["links"][0]["source"] == "s_axis_0"
    assert design["links"][2]["tensor"] is None
    assert design["inputs"] == [{"name": "s_axis_0", "bits": 8, "tensor": "x", "shape": [1, 64]}]
    assert design["outputs"] == [{"name": "m_axis_0", "bits": 16, "tensor": "y", "shape": [1, 10]}]


@pytest.mark.parametrize(
    ("changes", "samples", "expected"),
    [({}, 360, 0.97), ({}, 359, None), ({"mismatches": 1}, 360, None), ({"accuracy": 0.5}, 360, 0.5)],
)
def test_equal_results_have_the_models_accuracy(tmp_path, changes, samples, expected):
    simulation = {key: value for key, value in SIMULATION.items() if key != "accuracy"} | changes
    write_circuit(tmp_path, rtl_simulation=simulation)
    accuracy = {"samples": samples, "before": 0.98, "after": 0.97}
    assert read_circuit(tmp_path, accuracy)["accuracy"] == expected


def test_the_synthesis(tmp_path):
    assert read_synthesis(write_circuit(tmp_path)) == SYNTHESIS


def test_a_design_that_was_not_placed(tmp_path):
    found = {key: value for key, value in SYNTHESIS.items() if key != "place"}
    assert read_synthesis(write_circuit(tmp_path, rtl_synthesis=found)) == {**found, "place": None}


def test_a_synthesis_without_paths(tmp_path):
    layers = [{key: value for key, value in layer.items() if key != "path"} for layer in SYNTHESIS["layers"]]
    found = {key: value for key, value in SYNTHESIS.items() if key != "clock"} | {"layers": layers}
    without = [{**layer, "path": None} for layer in layers]
    expected = {**found, "clock": None, "layers": without}
    assert read_synthesis(write_circuit(tmp_path, rtl_synthesis=found)) == expected


def test_an_estimate_that_the_synthesis_does_not_have_is_that_of_the_layers(tmp_path):
    layer = {key: value for key, value in SYNTHESIS["layers"][0].items() if key != "estimate"}
    write_circuit(tmp_path, rtl_synthesis={**SYNTHESIS, "layers": [layer]})
    found = read_synthesis(tmp_path, [{"name": "MVAU_rtl_0", "lut": None, "bram18": 2, "dsp": 1, "ff": 9}])
    assert found["layers"][0]["estimate"] == {"lut": None, "ff": 9, "bram18": 2, "uram": None, "dsp": 1}


def test_a_build_that_ended_before(tmp_path):
    assert read_circuit(tmp_path) is None
    assert read_synthesis(tmp_path) is None


def test_a_design_that_was_not_simulated(tmp_path):
    found = read_circuit(write_circuit(tmp_path, rtl_fifos=None, rtl_simulation=None))
    assert found["frames"] is None
    assert found["stalled_cycles"] == {"input": None, "output": None}
    assert (found["random"], found["layers"], found["sizing"]) == (None, [], None)
    assert (found["interval_estimate"], found["latency_estimate"]) == (512, 576)
    assert [(fifo["name"], fifo["depth"], fifo["gauge"], fifo["total_bits"]) for fifo in found["fifos"]] == [
        ("s_axis_0", 2, None, 16),
        ("Thresholding_rtl_0_out0_V", 7, None, 224),
    ]


@pytest.mark.parametrize("damage", ["", "{", "[1]", "null", '"x"', "NaN", "[" * 100_000])
def test_damaged_files_are_named(tmp_path, damage):
    read = {
        "rtl/design/design": read_circuit,
        "report/rtl_fifos": read_circuit,
        "report/rtl_simulation": read_circuit,
        "report/rtl_synthesis": read_synthesis,
        "report/estimates": lambda folder: read_estimates(folder, 5.0),
        "report/backends": lambda folder: read_estimates(folder, 5.0),
    }
    for name, reader in read.items():
        file = write_circuit(tmp_path) / f"{name}.json"
        file.write_text(damage)
        with pytest.raises(BuildError) as caught:
            reader(tmp_path)
        first, advice = str(caught.value).split("\n")
        assert first.startswith(f"{file} cannot be read as the report of a step: ")
        assert advice == "  run the step that writes it again, and let no other step write this file"
        if damage in ("[1]", "null", '"x"', "NaN"):
            assert first.endswith(": it holds no JSON object")
        file.unlink()


def test_a_value_of_another_kind_is_unknown(tmp_path):
    damage = '{"layers": 3}'
    write_circuit(tmp_path, design=damage, rtl_fifos=damage, rtl_simulation=damage, rtl_synthesis=damage)
    found, synthesis = read_circuit(tmp_path), read_synthesis(tmp_path)
    assert found["design"]["layers"] == []
    assert found["fifos"] == []
    assert synthesis["layers"] == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_value_of_any_kind_anywhere_gives_a_report(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    altered = {}
    for name, content in FILES.items():
        key = data.draw(st.sampled_from(list(content)))
        altered[name.rpartition("/")[2][:-5]] = {**content, key: _altered(content[key], data)}
    write_circuit(folder, **altered)
    json.dumps([read_circuit(folder), read_synthesis(folder)], allow_nan=False)


def _altered(content, data):
    """Put something else in one place of a structure."""
    if not content or not isinstance(content, dict | list) or data.draw(st.integers(0, 4)) == 0:
        return data.draw(VALUES)
    key = data.draw(st.sampled_from(list(content) if isinstance(content, dict) else range(len(content))))
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[key] = _altered(content[key], data)
    return copy
