"""A model says which ops it uses; what is missing or different is said, with what to do."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith import ops
from brainsmith.autodiff.graphs.model_ops import KEY, note_ops, noted_ops, require_ops, used_ops
from brainsmith.autodiff.graphs.op_definition import definition_hash
from brainsmith.autodiff.tape.tensor import Tensor
from brainsmith.build.model import read_for_build
from brainsmith.errors import MissingOpError
from brainsmith.plugin.manager import reset_plugin_system


def double(inputs):
    return inputs[0] * 2


def triple(inputs):
    return inputs[0] * 3


def times(function=double, version="1.0.0", bundle=""):
    made = ops.CustomOpBuilder("times", 1).forward(function).version(version).build()
    made.bundle = bundle
    return made


@pytest.fixture
def register():
    """Register an op in place of the one before, until the end of the test."""

    def enter(op=None):
        if ops.is_custom_op_registered("times"):
            ops.unregister_custom_op("times")
        if op is not None:
            ops.register_custom_op(op)

    yield enter
    enter()


def model_of(op="times"):
    x = Tensor(np.ones((1, 2), np.float32))
    return ops.export_onnx({"y": ops.execute_custom_op(op, [x]) + 1}, {"x": x})


def texts(model):
    return [(problem.kind, str(problem)) for problem in ops.check_ops(model)]


def test_the_note_has_name_version_definition_and_bundle(register, tmp_path):
    op = times(bundle="acme")
    register(op)
    model = model_of()
    assert noted_ops(model) == {
        "times": {
            "name": "times",
            "version": "1.0.0",
            "sha256": definition_hash(op),
            "bundle": "acme",
            "bundle_version": "",
        }
    }
    assert len(definition_hash(op)) == 64
    ops.save_model(model, tmp_path / "m.onnx")
    loaded = ops.load_model(tmp_path / "m.onnx")
    assert loaded.get_metadata_prop(KEY) == model.get_metadata_prop(KEY)
    assert used_ops(loaded) == ["times"]
    assert texts(loaded) == []


def test_a_model_without_ops_has_no_note():
    x = Tensor(np.ones(2, np.float32))
    model = ops.export_onnx(x * 2, x)
    assert model.get_metadata_prop(KEY) is None
    assert ops.check_ops(model) == []


def test_ops_inside_of_inner_graphs_count():
    inner = helper.make_graph(
        [helper.make_node("deep", ["x"], ["d"], domain="brainsmith.ops")], "inner", [], []
    )
    node = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph(
        [node], "g", [value], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]
    )
    assert used_ops(ModelWrapper(helper.make_model(graph))) == ["deep"]


def test_another_version_and_another_definition_are_warned_of(register, tmp_path):
    register(times())
    ops.save_model(model_of(), tmp_path / "m.onnx")
    register(times(triple))
    changed = "was saved with another definition of operation 'times' 1.0.0; its results may differ"
    with pytest.warns(UserWarning) as warned:
        model = ops.load_model(tmp_path / "m.onnx")
    assert [str(item.message) for item in warned] == [f"{tmp_path / 'm.onnx'} {changed}"]
    assert texts(model) == [("changed", changed)]
    register(times(version="2.0.0"))
    assert texts(model) == [
        ("version", "was saved with version 1.0.0 of operation 'times', and 2.0.0 is here")
    ]


def test_a_missing_op_of_no_bundle_is_said(register, tmp_path):
    register(times())
    path = tmp_path / "m.onnx"
    ops.save_model(model_of(), path)
    register()
    with pytest.raises(MissingOpError) as raised:
        ops.load_model(path)
    assert str(raised.value) == (
        f"{path} uses the operation 'times', which is not registered; "
        "it was saved with version 1.0.0 of it, which came with no bundle\n"
        "  register it: ops.register_custom_op(op), @op in the project's plugins, or load_plugin(path)"
    )


def test_a_missing_op_of_a_bundle_that_nobody_has_is_said(register):
    register(times(bundle="acme"))
    model = model_of()
    register()
    assert texts(model) == [
        (
            "missing",
            "uses the operation 'times', which is not registered; it was saved with that of bundle 'acme'\n"
            '  load it: brainsmith.plugins.load_plugin("<path of acme>")',
        )
    ]


def test_a_bundle_that_offers_a_missing_op_now_is_named(register, tmp_path, monkeypatch):
    register(times(bundle="acme"))
    model = model_of()
    register()
    (tmp_path / ".brainsmith").mkdir()
    folder = tmp_path / "plugins" / "acme"
    folder.mkdir(parents=True)
    (folder / "acme.py").write_text("")
    stated = {
        "name": "acme", "version": "1.2.0", "description": "Ops.", "author": "Acme",
        "min_brainsmith_version": "0.1.0", "module": "acme.py", "ops": ["times"],
    }  # fmt: skip
    (folder / "plugin.json").write_text(json.dumps(stated))
    monkeypatch.chdir(tmp_path)
    reset_plugin_system()
    ((kind, text),) = texts(model)
    assert (kind, text) == (
        "missing",
        "uses the operation 'times', which is not registered; it was saved with that of bundle 'acme'\n"
        f"  bundle 'acme' 1.2.0 offers it: brainsmith.plugins.load_plugin('{folder / 'plugin.json'}')",
    )


def test_the_note_of_an_op_that_is_not_here_stays(register, tmp_path):
    register(times(version="3.1.0"))
    model = model_of()
    register()
    note_ops(model)
    assert noted_ops(model)["times"]["version"] == "3.1.0"
    ops.save_model(model, tmp_path / "m.onnx")
    assert "version 3.1.0 of it" in texts(ModelWrapper(str(tmp_path / "m.onnx")))[0][1]


def test_a_damaged_note_is_as_good_as_none(register):
    register(times())
    model = model_of()
    model.set_metadata_prop(KEY, "{no list")
    assert texts(model) == []
    require_ops(model)


def test_a_build_refuses_the_model_before_any_step(register, tmp_path):
    register(times())
    path = tmp_path / "m.onnx"
    ops.save_model(model_of(), path)
    register()
    with pytest.raises(MissingOpError) as raised:
        read_for_build(path)
    assert str(raised.value).startswith(f"{path} uses the operation 'times', which is not registered; ")


def test_a_compiled_op_has_the_definition_of_the_op_and_a_chain_that_of_its_expression():
    assert definition_hash(ops.compile_op(times())) == definition_hash(times())
    chain, other = ops.fuse([times(), times(triple)]), ops.fuse([times(triple), times()])
    assert len({definition_hash(chain), definition_hash(other), definition_hash(times())}) == 3
    assert definition_hash(chain) == definition_hash(ops.fuse([times(), times(triple)], name="six"))


def test_an_op_has_the_definition_of_the_ops_that_it_inherits_from(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    hashes = []
    for name, factor in (("doubled", 2), ("tripled", 3)):
        (tmp_path / f"{name}.py").write_text(
            "from brainsmith.autodiff.op import Op\n\n\nclass Base(Op):\n"
            f"    def forward(self, x):\n        return x * {factor}\n\n\nclass Scaled(Base):\n    name = 'scaled'\n"
        )
        hashes.append(definition_hash(object.__new__(__import__(name).Scaled)))
    assert len(set(hashes)) == 2


def test_code_that_was_typed_in_has_no_hash(register):
    scope = {}
    exec("def typed(inputs):\n    return inputs[0] * 2", scope)
    op = times(scope["typed"])
    assert definition_hash(op) == ""
    register(op)
    model = model_of()
    register(times())
    assert texts(model) == []
