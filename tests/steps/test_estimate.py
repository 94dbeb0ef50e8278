import json
from pathlib import Path

import pytest
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.plugins import steps
from brainsmith.rtl.resource_models import layer_needs
from tests.steps.conftest import digits_model
from tests.steps.test_fold import specialized


def estimates(model, config, **options):
    steps.estimate(model, config, **options)
    return json.loads((Path(config.output_dir) / "report" / "estimates.json").read_text())


@pytest.mark.slow
def test_cycles_and_rate_follow_from_the_folding(config):
    config.target_fps = 200_000
    report = estimates(steps.fold(specialized(digits_model("mlp"), config), config), config)
    cycles = {layer["name"]: layer["cycles"] for layer in report["layers"]}
    assert cycles == {
        "Thresholding_rtl_0": 64,
        "StreamingDataWidthConverterAny_rtl_0": 64,
        "MVAU_rtl_0": 64 * 64 // 8,
        "Thresholding_rtl_1": 64,
        "StreamingDataWidthConverterAny_rtl_1": 64,
        "MVAU_rtl_1": 64 * 32 // 4,
        "Thresholding_rtl_2": 32,
        "MVAU_rtl_2": 32 * 10,
    }
    assert report["interval_cycles"] == 512
    assert (report["latency_cycles"], report["latency_assumed"]) == (1430, [])
    assert (report["fifo_bits"], report["gauge_bits"]) == (752, 1008)
    assert report["fps"] == 1e9 / (512 * 5.0)


@pytest.mark.slow
def test_every_layer_states_its_backend_resources_and_parallelism(config):
    config.target_fps = 200_000
    report = estimates(steps.fold(specialized(digits_model("mlp"), config), config), config)
    layer = report["layers"][2]
    assert (layer["op_type"], layer["backend"], layer["dsp"]) == ("MVAU_rtl", "rtl", 8)
    assert {name: layer["attributes"][name] for name in ("PE", "SIMD", "MW", "MH")} == {
        "PE": 1,
        "SIMD": 8,
        "MW": 64,
        "MH": 64,
    }
    assert layer["ff"] > 100
    for name in ("lut", "ff", "bram18", "dsp", "uram"):
        assert report[name] == report["fifos"][name] + sum(entry[name] for entry in report["layers"])
    assert report["fifos"] == {"lut": 222, "ff": 176, "bram18": 0, "dsp": 0, "uram": 0}


@pytest.fixture
def unknown_products(monkeypatch):
    """FINN's matrix-vector unit has no model."""
    monkeypatch.setattr(layer_needs, "has_model", lambda op_type, family: op_type == "Thresholding_rtl")


@pytest.mark.slow
@pytest.mark.parametrize("part", ["xczu7ev-ffvc1156-2-e", "xcvc1902-vsva2197-2MP-e-S"])
def test_every_layer_has_a_model_of_its_luts(config, part):
    config.fpga_part = part
    assert estimates(specialized(digits_model("mlp"), config), config)["lut_not_modelled"] == []


@pytest.mark.slow
@pytest.mark.usefixtures("unknown_products")
def test_layers_without_a_model_of_their_luts_are_listed(config):
    report = estimates(specialized(digits_model("mlp"), config), config)
    assert report["lut_not_modelled"] == ["MVAU_rtl_0", "MVAU_rtl_1", "MVAU_rtl_2"]


@pytest.mark.slow
@pytest.mark.usefixtures("unknown_products")
def test_layers_without_a_model_are_counted_alone_if_asked(config):
    report = estimates(specialized(digits_model("mlp"), config), config, synthesise=True)
    assert report["counted"] == ["MVAU_rtl_0", "MVAU_rtl_1", "MVAU_rtl_2"]
    assert report["lut_not_modelled"] == []
    counted = [layer for layer in report["layers"] if layer["name"] in report["counted"]]
    assert all(layer["lut"] > 50 and layer["ff"] > 50 and layer["dsp"] > 0 for layer in counted)


@pytest.mark.slow
def test_converters_are_those_of_the_circuit(config):
    config.target_fps = 200_000
    model = steps.fold(specialized(digits_model("mlp"), config), config)
    report = estimates(model, config)
    assert [node.name for node in model.graph.node if "WidthConverter" in node.op_type] == []
    circuit = steps.rtl_codegen(model, config)
    cycles = {node.name: getCustomOp(node).get_exp_cycles() for node in circuit.graph.node}
    assert {layer["name"]: layer["cycles"] for layer in report["layers"]} == cycles
    converter = report["layers"][1]
    assert converter["backend"] == "rtl"
    assert converter["lut"] > 0


def test_a_model_without_backends_is_an_error(config):
    with pytest.raises(BuildError) as caught:
        steps.estimate(digits_model("mlp"), config)
    assert str(caught.value) == (
        "there is nothing to estimate: no layer has a backend yet. Run the step specialize first"
    )
