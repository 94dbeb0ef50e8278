"""What a point is built from, by content: it is the same point wherever its files lie, and another one when they change."""

import numpy as np
import onnx
import pytest

from brainsmith.blueprint.space.space import load_space
from brainsmith.errors import ExplorationError
from brainsmith.exploration.point_task import files_of
from tests.cli.command import ROOT

MLP = ROOT / "examples" / "digits" / "mlp.onnx"
SPACE = """\
hw_compiler:
  target: {part: pynq-z2, fps: {choice: [1000, 2000], name: rate}}
  verify: {inputs: x.npy}
"""


def space_in(folder):
    folder.mkdir()
    np.save(folder / "x.npy", np.zeros((2, 64), np.float32))
    (folder / "space.yaml").write_text(SPACE)
    return load_space(folder / "space.yaml")


def test_a_point_is_the_same_wherever_its_files_lie(tmp_path):
    here, there = space_in(tmp_path / "here"), space_in(tmp_path / "there")
    model = tmp_path / "there" / "other.onnx"
    model.write_bytes(MLP.read_bytes())
    one = files_of(here, {"rate": 0}, str(MLP))
    assert one.key("e") == files_of(there, {"rate": 0}, str(MLP)).key("e")
    assert one.key("e") != files_of(here, {"rate": 1}, str(MLP)).key("e")
    assert one.key("e") != one.key("another environment")
    assert one.key("e") != files_of(here, {"rate": 0}, str(model)).key("e")  # reports name the model
    assert sorted(one.files.values()) == sorted([str(MLP), str(tmp_path / "here" / "x.npy")])
    assert one.files[one.model_name] == str(MLP) and one.model_name.endswith("/mlp.onnx")
    (golden,) = (name for name in one.files if name.startswith("files/"))
    assert f'inputs: "{golden}"\n' in one.blueprint and str(tmp_path) not in one.blueprint
    np.save(tmp_path / "here" / "x.npy", np.ones((2, 64), np.float32))
    assert one.key("e") != files_of(here, {"rate": 0}, str(MLP)).key("e")
    (tmp_path / "here" / "x.npy").unlink()
    assert str(tmp_path / "here" / "x.npy") in files_of(here, {"rate": 0}, str(MLP)).blueprint


def test_weights_in_another_file_count_and_must_lie_beside_the_model(tmp_path):
    space, file = space_in(tmp_path / "here"), tmp_path / "m.onnx"
    onnx.save(onnx.load(MLP), file, save_as_external_data=True, location="weights.bin", size_threshold=0)
    one = files_of(space, {"rate": 0}, str(file))
    model, weights = one.model_name, one.model_name.replace("m.onnx", "weights.bin")
    assert one.files[weights] == str(tmp_path / "weights.bin") and one.files[model] == str(file)
    changed = bytearray((tmp_path / "weights.bin").read_bytes())
    changed[0] ^= 1
    (tmp_path / "weights.bin").write_bytes(changed)
    assert one.key("e") != files_of(space, {"rate": 0}, str(file)).key("e")
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(ExplorationError, match=r"weights.bin cannot be read: No such file or directory$"):
        files_of(space, {"rate": 0}, str(file))
    outside = onnx.load(file, load_external_data=False)
    for tensor in outside.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../weights.bin"
    file.write_bytes(outside.SerializeToString())
    with pytest.raises(ExplorationError) as caught:
        files_of(space, {"rate": 0}, str(file))
    assert str(caught.value) == f"{file} keeps weights in ../weights.bin, which is outside of its folder"
