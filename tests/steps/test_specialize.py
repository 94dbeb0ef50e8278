import json
from contextlib import contextmanager
from pathlib import Path

import pytest
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugins import steps
from brainsmith.transforms.specialize_kernels import SpecializeKernels
from tests.steps.conftest import PART, Graph, digits_model, hardware, integers, op_types

REFUSED = (
    "FINN's rules refuse it: Please check the bit-widths to be <= 8 and ensure the thresholds are implemented as "
    "standalone layer"
)


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        pytest.param({"*": ("rtl", "hls")}, ["Thresholding_rtl", "MVAU_rtl"], marks=pytest.mark.slow),
        ({"MVAU": ("hls",), "*": ("rtl",)}, ["Thresholding_rtl", "MVAU_hls"]),
        pytest.param({"*": ("hls",)}, ["Thresholding_hls", "MVAU_hls"], marks=pytest.mark.slow),
        ({"finn:MVAU": ("finn:MVAU_hls", "finn:MVAU_rtl")}, ["Thresholding_rtl", "MVAU_hls"]),
        ({}, ["Thresholding_rtl", "MVAU_rtl"]),
    ],
)
@pytest.mark.slow
def test_layers_get_the_preferred_backend(config, preferences, expected):
    config.kernel_preferences = preferences
    model = steps.specialize(hardware(digits_model("mlp"), config), config)
    assert op_types(model) == expected * 3


@pytest.mark.slow
def test_a_backend_that_is_not_possible_gives_way_to_the_next(config, caplog):
    graph = Graph(1, 8).quant(4)
    model = graph.node("MatMul", graph.weights(integers(1, 8, 6, low=-1, high=1), bits=2)).model(1, 6)
    model = hardware(model, config)
    product = getCustomOp(model.get_nodes_by_op_type("MVAU")[0])
    product.set_nodeattr("noActivation", 0)  # merged thresholds: HLS only
    model = steps.specialize(model, config)
    assert "MVAU_hls" in op_types(model)


def test_a_backend_that_is_not_allowed_is_an_error(config):
    config.kernel_preferences = {"MVAU": ("rtl",)}
    model = hardware(digits_model("mlp"), config)
    getCustomOp(model.get_nodes_by_op_type("MVAU")[0]).set_nodeattr("noActivation", 0)
    with pytest.raises(BuildError) as caught:
        steps.specialize(model, config)
    lines = str(caught.value).splitlines()
    assert lines[:2] == [
        "no allowed backend implements these layers on xczu7ev-ffvc1156-2-e:",
        "  MVAU_0 (finn:MVAU), listed for MVAU:",
    ]
    assert f"    finn:MVAU_rtl: {REFUSED}" in lines
    assert "    not listed: finn:MVAU_hls (hls)" in lines


@contextmanager
def finns_operators_alone(monkeypatch):
    """Hide the plugins that this process has entered in FINN's table, as another process would not have them."""
    from finn.custom_op.fpgadataflow.rtl import custom_op

    with monkeypatch.context() as patch:
        for name in [name for name, cls in custom_op.items() if not cls.__module__.startswith("finn.")]:
            patch.delitem(custom_op, name)
        yield


@pytest.mark.parametrize("name", ["mlp", "cnn"])
@pytest.mark.parametrize("style", ["rtl", "hls"])
@pytest.mark.slow
def test_of_finns_backends_it_chooses_what_finn_does(name, style, config, monkeypatch):
    from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers

    finns = Registry()
    for info in get_plugin_manager().all_records()[0].records(framework="finn"):
        finns.register(info)
    model = hardware(digits_model(name), config)
    chosen = SpecializeKernels(PART, {"*": (style, "rtl" if style == "hls" else "hls")}, finns)
    ours = model.transform(chosen)
    for node in model.graph.node:
        if node.domain == "finn.custom_op.fpgadataflow":
            getCustomOp(node).set_nodeattr("preferred_impl_style", style)
    with finns_operators_alone(monkeypatch):
        theirs = model.transform(SpecializeLayers(PART))
    assert ours.graph.node == theirs.graph.node
    assert [choice.layer for choice in chosen.choices] == [
        node.name for node in ours.graph.node if node.domain.startswith("finn.custom_op.fpgadataflow.")
    ]


def own_kernel(config):
    graph = Graph(1, 4, 4).quant(4)
    one = graph.tail
    graph.node("Transpose", perm=[0, 2, 1])
    return hardware(graph.node("MatMul", one).model(1, 4, 4), config)


@pytest.mark.parametrize(("style", "backend"), [("hls", "MatMulHLS"), ("rtl", "MatMulRTL")])
@pytest.mark.slow
def test_a_kernel_of_another_framework_gets_its_backend(style, backend, config):
    config.kernel_preferences = {"MatMul": (style,)}
    model = steps.specialize(own_kernel(config), config)
    assert (f"brainsmith.backends.{style}", backend) in {(n.domain, n.op_type) for n in model.graph.node}


def test_the_report_says_which_backend_and_why(config, capsys):
    config.kernel_preferences = {"MVAU": ("MVAU_rtl", "MVAU_hls")}
    model = hardware(digits_model("mlp"), config)
    getCustomOp(model.get_nodes_by_op_type("MVAU")[1]).set_nodeattr("noActivation", 0)
    model = steps.specialize(model, config)
    report = json.loads((Path(config.output_dir) / "report" / "backends.json").read_text())
    assert [layer["layer"] for layer in report["layers"]] == [
        node.name for node in model.graph.node if node.domain.startswith("finn")
    ]
    assert report["layers"][3] == {
        "node": "MVAU_1",
        "layer": "MVAU_hls_0",
        "kernel": "finn:MVAU",
        "backend": "finn:MVAU_hls",
        "backend_type": "hls",
        "reason": "choice 2 of 2, listed for MVAU",
        "refused": [{"backend": "finn:MVAU_rtl", "reason": REFUSED}],
    }
    assert capsys.readouterr().out.splitlines()[0] == (
        "Thresholding_rtl_0: finn:Thresholding_rtl "
        "(choice 1 of 3, nothing is listed for Thresholding: RTL first, then HLS)"
    )


def test_a_model_that_the_host_computes_is_an_error_that_names_its_nodes(config):
    with pytest.raises(BuildError) as caught:
        steps.specialize(steps.cleanup(Graph(1, 4).node("Relu").model(1, 4), config), config)
    assert str(caught.value) == (
        "no node of the model is a hardware layer, so the host would compute all of it: node 'relu0' (Relu)\n"
        "  hardware_inference makes layers of what follows a quantiser, or an input of integers: add a product or a "
        "quantiser there, such as a MatMul by quantised weights"
    )
