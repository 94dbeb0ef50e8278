import os

import numpy as np
import onnx
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build.model import read_for_build
from brainsmith.cli.main import main
from brainsmith.errors import BuildError, ModelError
from brainsmith.execution.program.lower import lower
from brainsmith.execution.read_model import read_model
from brainsmith.graph.evaluated_text import is_literal
from brainsmith.graph.sound import TRUSTED, require_sound
from tests.build import graphs

CODE = "__import__('pathlib').Path({path!r}).touch() or ['N', 'C']"


def with_entry(key, text, tensor="x"):
    model = graphs.quant_mlp()
    annotation = next(
        (a for a in model.graph.quantization_annotation if a.tensor_name == tensor),
        None,
    ) or model.graph.quantization_annotation.add(tensor_name=tensor)
    annotation.quant_parameter_tensor_names.add(key=key, value=text)
    return model


@pytest.mark.parametrize("key", ["tensor_layout", "tensor_sparsity"])
@pytest.mark.parametrize("read", [read_model, read_for_build])
@pytest.mark.parametrize("form", ["path", "object"])
def test_python_in_an_entry_is_refused_and_does_not_run(tmp_path, key, read, form):
    text = CODE.format(path=str(tmp_path / "ran"))
    model, path = with_entry(key, text), tmp_path / "model.onnx"
    onnx.save(model.model, path)
    with pytest.raises(ModelError) as caught:
        read(path if form == "path" else model)
    assert str(caught.value) == (
        f"{path if form == 'path' else 'the model'}: tensor 'x' has {key} = {text!r}, which QONNX would run as "
        f"Python; it must be a list or a table of plain values{TRUSTED}"
    )
    assert not (tmp_path / "ran").exists()
    assert model.get_tensor_layout("x" if key == "tensor_layout" else "m1") in (["N", "C"], None)
    assert (tmp_path / "ran").exists() == (key == "tensor_layout")  # QONNX itself does run it


def test_whoever_trusts_its_maker_opens_it_and_clients_cannot(tmp_path, monkeypatch):
    model = with_entry("tensor_layout", CODE.format(path=str(tmp_path / "ran")))
    monkeypatch.setenv("BRAINSMITH_TRUST_MODELS", "1")
    assert read_model(model) is model
    with pytest.raises(ModelError, match=r"^what was sent: tensor 'x' has tensor_layout"):
        require_sound(model.model, "what was sent", of_client=True)
    model.model.graph.node[0].domain = "no.such:domain"
    model.model.graph.node.append(helper.make_node("Relu", ["x"], ["x"]))
    with pytest.raises(ModelError):  # whatever else is wrong with it is refused all the same
        read_model(model)


def test_the_option_opens_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BRAINSMITH_TRUST_MODELS", "")
    onnx.save(with_entry("tensor_layout", CODE.format(path=str(tmp_path / "ran"))).model, tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.ones((1, 6), np.float32))
    words = ["run", str(tmp_path / "m.onnx"), "--input", str(tmp_path / "x.npy"), "--target", "reference"]
    assert main(words) == 1
    assert capsys.readouterr().err.count("--trust-model") == 1
    assert main([*words, "--trust-model"]) == 0


def test_python_in_a_graph_inside_of_a_node_is_refused():
    value = helper.make_tensor_value_info("y", 1, [1])
    inner = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "inner", [], [value])
    annotation = inner.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="tensor_layout", value="list('NC')")
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    model = helper.make_model(helper.make_graph([node], "g", [], [value]))
    with pytest.raises(
        ModelError, match=r"^the model: tensor 'y' has tensor_layout = \"list\('NC'\)\", which "
    ):
        read_model(model)


def test_a_partition_s_model_is_refused(tmp_path):
    onnx.save(with_entry("tensor_layout", "exit()").model, tmp_path / "inner.onnx")
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("i", [1, 6]), ("o", [1, 3]))]
    node = helper.make_node(
        "GenericPartition",
        ["i"],
        ["o"],
        name="p",
        domain="qonnx.custom_op.general",
        model=str(tmp_path / "inner.onnx"),
    )
    outer = ModelWrapper(helper.make_model(helper.make_graph([node], "g", values[:1], values[1:])))
    with pytest.raises(
        BuildError, match=r"^node 'p' \(GenericPartition\) cannot .* tensor_layout = 'exit\(\)'"
    ):
        lower(outer)


@pytest.mark.parametrize(
    ("setter", "value"),
    [
        ("set_tensor_layout", ["N", "H", "W", "C"]),
        ("set_tensor_layout", []),
        ("set_tensor_sparsity", {"dw": {"kernel_shape": [3, 3]}}),
        ("set_tensor_sparsity", {0: {1, 2}, 1: set()}),
        ("set_tensor_sparsity", {}),
    ],
)
def test_what_qonnx_and_finn_write_is_read(tmp_path, setter, value):
    model = graphs.quant_mlp()
    getattr(model, setter)("x", value)
    onnx.save(model.model, tmp_path / "model.onnx")
    assert getattr(read_model(tmp_path / "model.onnx"), setter.replace("set_", "get_"))("x") == value
    read_for_build(tmp_path / "model.onnx")


@pytest.mark.parametrize("text", ["", "[", "NC", "print()", "(" * 10_000, "[x for x in 'NC']", "__import__"])
def test_what_is_no_literal(text):
    assert not is_literal(text)


def with_layer(**attributes):
    """A model with one of FINN's layers, which names what executing it runs."""
    made = graphs.quant_mlp()
    domain = "finn.custom_op.fpgadataflow.hls"
    node = helper.make_node("CheckSum_hls", ["x"], ["c", "d"], name="sum", domain=domain, **attributes)
    made.model.graph.node.append(node)
    made.model.opset_import.append(helper.make_opsetid(domain, 1))
    return made


@pytest.mark.parametrize(
    ("attributes", "named"),
    [
        ({"exec_mode": "cppsim", "executable_path": "./evil.sh"}, "executable_path = './evil.sh'"),
        ({"executable_path": "/bin/sh"}, "executable_path = '/bin/sh'"),
        ({"rtlsim_so": "evil.so"}, "rtlsim_so = 'evil.so'"),
        ({"exec_mode": "rtlsim", "code_gen_dir_ipgen": "/tmp/evil"}, "code_gen_dir_ipgen = '/tmp/evil'"),
    ],
)
def test_a_program_that_a_layer_names_is_not_run(attributes, named):
    with pytest.raises(ModelError) as caught:
        read_model(with_layer(**attributes))
    assert str(caught.value) == (
        f"the model: node 'sum' (CheckSum_hls) has {named}, which executing it would run{TRUSTED}"
    )


def test_what_this_users_simulations_compiled_and_what_a_layer_only_says_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("FINN_BUILD_DIR", str(tmp_path))
    own = {"exec_mode": "cppsim", "executable_path": str(tmp_path / "a" / "node_model")}
    for attributes in (own, {"exec_mode": "cppsim", "code_gen_dir_ipgen": "/out/rtl/layers/a"}):
        assert read_model(with_layer(**attributes))
    own["executable_path"] = f"{tmp_path}/../evil"
    with pytest.raises(ModelError, match=r"which executing it would run"):
        read_model(with_layer(**own))


@pytest.mark.parametrize("key", ["vivado_stitch_ifnames", "res_total_ooc_synth"])
@pytest.mark.parametrize("where", ["model", "graph"])
def test_metadata_that_finn_evaluates_must_be_plain(key, where):
    made = graphs.quant_mlp()
    place = made.model if where == "model" else made.model.graph
    entry = place.metadata_props.add(key=key, value="{'LUT': 3}")
    assert read_model(made)
    entry.value = "__import__('os').system('true')"
    with pytest.raises(ModelError) as caught:
        read_model(made)
    assert str(caught.value) == (
        f"the model: its metadata has {key} = {entry.value!r}, which FINN would run as Python; "
        f"it must be a list or a table of plain values{TRUSTED}"
    )


def test_a_partition_s_model_is_looked_at_however_deep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    onnx.save(with_entry("tensor_layout", "exit()").model, "inner.onnx")
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("i", [1, 6]), ("o", [1, 3]))]

    def around(path, name):
        node = helper.make_node(
            "GenericPartition", ["i"], ["o"], name="p", domain="qonnx.custom_op.general", model=path
        )
        made = helper.make_model(helper.make_graph([node], "g", values[:1], values[1:]))
        onnx.save(made, name)
        return made

    around("inner.onnx", "middle.onnx")
    outer = around("middle.onnx", "outer.onnx")
    with pytest.raises(ModelError) as caught:
        read_model("outer.onnx")
    assert str(caught.value).startswith(
        "outer.onnx: its partition middle.onnx: its partition inner.onnx: tensor 'x' has tensor_layout = 'exit()', "
    )
    around("outer.onnx", "middle.onnx")  # a cycle ends, and says nothing here
    assert read_model(outer)
    os.mkfifo("pipe.onnx")
    assert read_model(around("pipe.onnx", "last.onnx"))
