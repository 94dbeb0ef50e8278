"""Reading: every form that a report's fields may have, and what is made of forms that they may not."""

import pytest

from brainsmith.web.content import Plugin, Subject, read_plugins, read_subject, text
from brainsmith.web.design_layers import read_layers
from brainsmith.web.step_result import read_steps


@pytest.mark.parametrize(
    ("entry", "plugin"),
    [
        ("MVAU", Plugin("MVAU", "", "", "")),
        ("finn:MVAU", Plugin("MVAU", "finn", "", "")),
        ("kernel:finn:MVAU", Plugin("MVAU", "finn", "kernel", "")),
        (
            {
                "type": "kernel",
                "framework": "finn",
                "name": "MVAU",
                "version": "1.6.1",
                "origin": "finn-plus",
            },
            Plugin("MVAU", "finn", "kernel", "1.6.1 finn-plus"),
        ),
    ],
)
def test_plugins(entry, plugin):
    assert read_plugins({"plugins": [entry]}) == (plugin,)
    assert read_plugins({"plugins": {"finn": ["MVAU"]}}) == (Plugin("MVAU", "finn", "", ""),)


def test_the_subject_of_names_and_of_records():
    named = Subject("mlp.onnx", "a/mlp.onnx", "", "b.yaml", "", None, None)
    assert read_subject({"model": "a/mlp.onnx", "blueprint": "b.yaml"}) == named
    assert read_subject({"model": {"file": "a\\mlp.onnx"}}).name == "mlp.onnx"
    target = {"part": "xczu7ev", "clock_ns": 5, "fps": 1000}
    record = {"model": {"name": "mlp", "digest": "5f"}, "blueprint": {"file": "b.yaml", "target": target}}
    assert read_subject(record) == Subject("mlp", "", "5f", "b.yaml", "xczu7ev", 5.0, 1000.0)


def test_steps_and_layers_without_names_get_numbers():
    assert [step.name for step in read_steps({"steps": [{}, "x"]})] == ["step 1", "step 2"]
    (layer,) = read_layers({"layers": [{"cycles": "x", "lut": True, "attributes": []}]})
    assert (layer.name, layer.cycles, layer.lut, layer.attributes) == ("layer 1", None, None, {})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""), ([], ""), ({}, ""), (True, "yes"), (False, "no"), (3.0, "3"), (0.5, "0.5"),
        ([1, [2, "a"]], "[1, [2, a]]"),
        ({"a": 1, "b": None}, "a: 1, b: "), ("", ""),
    ],
)  # fmt: skip
def test_text(value, words):
    assert text(value) == words
