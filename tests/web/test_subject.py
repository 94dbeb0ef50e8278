"""Reading: every form that a report's fields may have, and what is made of forms that they may not."""

from brainsmith.web.design_layers import read_layers
from brainsmith.web.step_result import read_steps
from brainsmith.web.subject import Subject, read_subject


def test_the_subject():
    assert read_subject({"model": {"file": "a\\mlp.onnx"}}).name == "mlp.onnx"
    target = {"part": "xczu7ev", "clock_ns": 5, "fps": 1000}
    record = {"model": {"name": "mlp", "digest": "5f"}, "blueprint": {"file": "b.yaml", "target": target}}
    assert read_subject(record) == Subject("mlp", "", "5f", "b.yaml", "xczu7ev", 5.0, 1000.0)
    record = {"model": {"file": "a/mlp.onnx"}, "blueprint": {"file": "b.yaml"}}
    assert read_subject(record) == Subject("mlp.onnx", "a/mlp.onnx", "", "b.yaml", "", None, None)
    unnamed = Subject("model without a name", "", "", "", "", None, None)
    assert read_subject({}) == read_subject({"model": "a/mlp.onnx", "blueprint": ["b.yaml"]}) == unnamed


def test_steps_and_layers_without_names_get_numbers():
    assert [step.name for step in read_steps({"steps": [{}, "x"]})] == ["step 1", "step 2"]
    (layer,) = read_layers({"layers": [{"cycles": "x", "lut": True, "attributes": []}]})
    assert (layer.name, layer.cycles, layer.resources["lut"], layer.attributes) == ("layer 1", None, None, {})
