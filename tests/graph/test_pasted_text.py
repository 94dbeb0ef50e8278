"""Texts of layers that become part of C++ and Verilog, and models that are opened from the folder of a build."""

import onnx
import pytest
from onnx import TensorProto, helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import ModelError
from brainsmith.execution.read_model import read_model
from brainsmith.graph.pasted_text import is_plain
from brainsmith.graph.sound import TRUSTED
from brainsmith.ops import load_model
from brainsmith.steps.host_ends import PARENT, parent_model
from brainsmith.targets import build_folder

FINN = "finn.custom_op.fpgadataflow.hls"
STATEMENT = '0; system("touch ran"); //'


def model_of(*nodes, functions=()):
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    domains = {one.domain for one in (*nodes, *functions)} | {""}
    opsets = [helper.make_opsetid(domain, 1 if domain else 17) for domain in sorted(domains)]
    graph = helper.make_graph(list(nodes), "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


def layer(name="layer_0", domain=FINN, **attributes):
    return helper.make_node("CheckSum_hls", ["x"], ["y"], name=name, domain=domain, **attributes)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        (
            {"name": "f(); int q = g(); void f"},
            "a name that can become part of C++ or Verilog, and must be letters, digits, spaces and ./:-",
        ),
        (
            {"ram_style": STATEMENT},
            f"ram_style = {STATEMENT!r}, which can become part of C++ or Verilog, and must be "
            "a plain word, or a list or a table of plain values",
        ),
        (
            {"styles": ["auto", "auto\n$system"]},
            f"styles = {'auto' + chr(10) + '$system'!r}, which can become part of C++ or Verilog, and must be "
            "a plain word, or a list or a table of plain values",
        ),
        (
            {"code_gen_dir_cppsim": STATEMENT},
            f"code_gen_dir_cppsim = {STATEMENT!r}, which can become part of C++ or Verilog, and must be "
            "a path without quotes and $",
        ),
    ],
)
def test_what_could_be_a_statement_of_a_layers_code_is_refused(attributes, said, monkeypatch):
    made = layer(**attributes)
    with pytest.raises(ModelError) as caught:
        read_model(model_of(made))
    assert str(caught.value) == f"the model: node '{made.name}' (CheckSum_hls) has {said}{TRUSTED}"
    monkeypatch.setenv("BRAINSMITH_TRUST_MODELS", "1")
    assert read_model(model_of(made))


@pytest.mark.parametrize(
    "node",
    [
        layer(
            "/block.0/act-1/sum:0", ram_style="auto", ip_vlnv="xilinx.com:hls:a:1.0", shape="[1, (2, 'NHWC')]"
        ),
        layer(code_gen_dir_ipgen="/home/me (1)/out/ä=b", inputDataType="FIXED<8,4>"),
        layer("add;sum(1)", domain="com.microsoft", how=STATEMENT),
        layer("add;sum(1)", domain="qonnx.custom_op.general", how=STATEMENT),
    ],
)
def test_what_layers_say_and_what_makes_no_code_is_read(node):
    assert read_model(model_of(node))


@pytest.mark.parametrize("text", ['"a"', "'\\x24'", "f(1)", "[1]; f", "`a`", "a#b", "$a", "{\n}"])
def test_what_is_not_plain(text):
    assert not is_plain(text)


def test_a_branch_inside_of_a_function_is_looked_at():
    inner = helper.make_node("E", ["x"], ["s"], domain="wave", name="e")
    end = helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, 4])
    branches = {f"{one}_branch": helper.make_graph([inner], one, [], [end]) for one in ("then", "else")}
    body = [
        helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True])),
        helper.make_node("If", ["c"], ["y"], **branches),
    ]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("wave", 1)]
    function = helper.make_function("nowhere.at.all", "F", ["x"], ["y"], body, opsets)
    call = helper.make_node("F", ["x"], ["y"], domain="nowhere.at.all", name="call")
    with pytest.raises(
        ModelError, match=r"^the model: node 'e' \(E\) is of domain 'wave', for which QONNX would import"
    ):
        read_model(model_of(call, functions=[function]))


@pytest.fixture
def stranger(tmp_path):
    """The folder of a build, whose model around the accelerator is somebody's who wants to run code."""
    part = helper.make_node(
        "StreamingDataflowPartition",
        ["a"],
        ["y"],
        name="p",
        domain="finn.custom_op.fpgadataflow",
        model="none.onnx",
    )
    (tmp_path / PARENT).parent.mkdir()
    onnx.save(model_of(helper.make_node("E", ["x"], ["a"], domain="wave", name="e"), part), tmp_path / PARENT)
    return tmp_path


@pytest.mark.parametrize(
    ("open_it", "path"),
    [(parent_model, ""), (build_folder._host, ""), (load_model, PARENT)],
)
def test_the_model_around_an_accelerator_and_a_model_with_ops_are_looked_at(stranger, open_it, path):
    with pytest.raises(ModelError) as caught:
        open_it(stranger / path)
    assert str(caught.value) == (
        f"{stranger / PARENT}: node 'e' (E) is of domain 'wave', for which QONNX would import the module 'wave', which is "
        "not a domain of QONNX, FINN, BrainSmith or a plugin that is found here. If you trust the module, import it first, "
        "or make its operators plugins (`brainsmith plugins list` shows what is found); else remove the node"
        + TRUSTED
    )
    onnx.save(model_of(helper.make_node("Relu", ["x"], ["y"])), stranger / PARENT)
    assert isinstance(load_model(stranger / PARENT), ModelWrapper)
