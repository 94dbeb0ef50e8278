"""`fold` with a device to fit: what it chooses is legal, is what the estimate then says, and is the best there is."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from onnx import helper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.errors import BuildError
from brainsmith.plugins import steps
from brainsmith.rtl.devices.device import RESOURCES, FpgaDevice
from brainsmith.rtl.fitting.fit import Fit
from brainsmith.rtl.fitting.options import budget_of
from brainsmith.rtl.resource_models import layer_needs
from brainsmith.steps.bit_widths import minimise_bit_widths
from brainsmith.steps.estimate import _compare_with_fit
from brainsmith.steps.folding_options import FRONT, options_of, without_model
from brainsmith.steps.legal_foldings import legal_foldings
from tests.rtl.fitting.drawn_networks import tried
from tests.steps.conftest import Graph, digits_model, hardware, integers

DEVICE = FpgaDevice("xczu7ev", lut=230400, ff=460800, bram18=624, uram=96, dsp=1728)
PYNQ = FpgaDevice("xc7z020", lut=53200, ff=106400, bram18=280, uram=0, dsp=220)


def perceptron():
    """Two products with a quantiser behind each."""
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    graph.node("MatMul", graph.weights(integers(2, 6, 4))).quant(4, scale=16.0)
    return graph.model(1, 4)


def specialized(model, config):
    return steps.specialize(hardware(model, config), config)


def reported(config, name):
    return json.loads((Path(config.output_dir) / "report" / f"{name}.json").read_text())


@pytest.fixture
def fitted(config):
    """A config that fits a device; what else is asked for is given to `Fit`."""

    def of(**wanted):
        config.fit = Fit(wanted.pop("device", DEVICE), **wanted)
        return config

    return of


@pytest.mark.slow
@pytest.mark.parametrize("fps", [1_000_000, 20_000_000])
def test_the_smallest_circuit_is_the_best_of_all_foldings(fitted, fps):
    config = fitted(goal="resources", fps=fps, use=1.0)
    config.kernel_preferences = {"MVAU": ("finn:MVAU_rtl",)}
    model = specialized(perceptron(), config)
    steps.fold(model, config)
    network = options_of(minimise_bit_widths(model, config), config, 36).network
    # All choices are too many: of each layer those that are fast enough, and of these a cheaper one of equal streams.
    interval = int(1e9 / (config.synth_clk_period_ns * fps))
    few = [layer.cycles <= interval for layer in network.layers]
    budget = budget_of(DEVICE)
    least = min(cost for *_, cost in tried(_cheapest_of_equal_streams(network.kept(few), budget), budget))
    found = reported(config, "fit")
    assert found["proven"] and found["cost"] == pytest.approx(least)
    assert found["interval_cycles"] <= interval


def _cheapest_of_equal_streams(network, budget):
    which = []
    for place, layer in enumerate(network.layers):
        ends = [link.given for link in network.links if link.first == place]
        ends += [link.taken for link in network.links if link.second == place]
        best = {}
        for at, cost in enumerate(budget.cost(layer.needs)):
            key = tuple(int(end[at]) for end in ends)
            if key not in best or cost < best[key][0]:
                best[key] = cost, at
        which.append(np.array(sorted(at for _, at in best.values())))
    return network.kept(which)


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["fps", "latency"])
def test_the_estimate_is_what_was_promised(fitted, goal, caplog):
    config = fitted(goal=goal, use=0.025)
    model = steps.estimate(steps.fold(specialized(digits_model("cnn"), config), config), config)
    fit, estimate = reported(config, "fit"), reported(config, "estimates")
    assert fit["proven"] and fit["goal"] == goal
    assert estimate["interval_cycles"] == fit["interval_cycles"]
    assert fit["latency_cycles"] == (estimate["latency_cycles"] if goal == "latency" else None)
    for name in ("lut", "bram18", "dsp", "uram"):
        assert estimate[name] == fit["needs"][name] + fit["deeper"][name] <= fit["limits"][name]
        assert estimate["fifos"][name] == fit["fifos"][name] + fit["deeper"][name]
    assert "the estimate is not what the foldings were chosen for" not in caplog.text
    for node in model.get_nodes_by_op_type("MVAU_rtl"):
        layer = getCustomOp(node)
        assert layer.get_nodeattr("SIMD") == 1 or layer.get_nodeattr("SIMD") < layer.get_nodeattr("MW")


@pytest.mark.slow
@pytest.mark.parametrize("goal", ["fps", "resources"])
def test_what_is_chosen_has_room_for_fifos_as_deep_as_they_will_be(fitted, goal):
    config = fitted(device=PYNQ, use=1.0, goal=goal, fps=1_000_000)
    model = specialized(digits_model("residual"), config)
    steps.fold(model, config)
    first = reported(config, "fit")
    assert first["proven"] and first["deeper"]["lut"] > 0
    there = first["needs"]["lut"] + first["deeper"]["lut"] - 1
    fitted(device=PYNQ, use=(there + 0.5) / PYNQ.lut, goal=goal, fps=1_000_000)
    steps.estimate(steps.fold(model, config), config)
    fit, estimate = reported(config, "fit"), reported(config, "estimates")
    assert estimate["lut"] == fit["needs"]["lut"] + fit["deeper"]["lut"]
    assert estimate["lut"] <= there == fit["limits"]["lut"]
    assert not fit["proven"] and fit["cost_bound"] <= first["cost"] < fit["cost"]
    assert fit["interval_bound"] == (first if goal == "fps" else fit)["interval_cycles"]


@pytest.mark.slow
def test_where_nothing_fits_beside_the_fifos_the_first_choice_stays(fitted):
    config = fitted(device=PYNQ, use=1.0, goal="resources", fps=1_000_000)
    model = specialized(digits_model("residual"), config)
    steps.fold(model, config)
    first = reported(config, "fit")
    there = first["needs"] | {"lut": first["needs"]["lut"] + first["deeper"]["lut"] - 1}
    steps.fold(model, fitted(device=replace(PYNQ, **there), use=1.0, goal="resources", fps=1_000_000))
    fit = reported(config, "fit")
    assert (fit["needs"], fit["deeper"]) == (first["needs"], first["deeper"])
    assert fit["needs"]["lut"] + fit["deeper"]["lut"] == there["lut"] + 1


@pytest.mark.slow
def test_a_step_that_changes_what_was_chosen_is_said(fitted, caplog):
    config = fitted()
    model = steps.fold(specialized(perceptron(), config), config)
    product = next(node for node in model.graph.node if "MVAU" in node.op_type)
    getCustomOp(product).set_nodeattr("PE", 1)
    getCustomOp(product).set_nodeattr("SIMD", 1)
    steps.estimate(model, config)
    assert "the estimate is not what the foldings were chosen for: lut " in caplog.text


def test_a_layer_without_a_model_is_named(fitted, monkeypatch):
    config = fitted()
    model = specialized(perceptron(), config)
    from brainsmith.steps import folding_options

    real = folding_options.needs_of_foldings

    def unknown(layer, *others):
        needs = real(layer, *others)
        return needs * (layer.onnx_node.op_type != "Thresholding_rtl")

    monkeypatch.setattr(folding_options, "needs_of_foldings", unknown)
    with pytest.raises(BuildError) as caught:
        steps.fold(model, config)
    assert str(caught.value).startswith(
        "foldings cannot be fitted to xczu7ev-ffvc1156-2-e: there is no model of what 3 layers take: Thresholding_rtl_0 "
        "(Thresholding_rtl), Thresholding_rtl_1 (Thresholding_rtl), Thresholding_rtl_2 (Thresholding_rtl)\n"
    )


@pytest.mark.slow
def test_layers_without_a_model_are_fitted_by_synthesis_if_asked(fitted, monkeypatch, caplog):
    """What is chosen is what synthesis counts: the estimate that follows says the same, and nothing is warned of."""
    config = fitted(goal="resources", fps=1_000_000)
    model = specialized(perceptron(), config)
    known = layer_needs.has_model
    monkeypatch.setattr(
        layer_needs, "has_model", lambda kind, family: kind != "Thresholding_rtl" and known(kind, family)
    )
    finns = type(getCustomOp(model.get_nodes_by_op_type("Thresholding_rtl")[0]))
    monkeypatch.setattr(finns, "lut_estimation", lambda layer, *part: 0)
    with pytest.raises(BuildError, match=r"have RTL layers counted by synthesis: args: \{fold: \{synth"):
        steps.fold(model, config)
    steps.estimate(steps.fold(model, config, synthesise=True), config)
    estimates = reported(config, "estimates")
    assert estimates["counted"] == [f"Thresholding_rtl_{at}" for at in range(3)]
    assert estimates["lut_not_modelled"] == []
    assert reported(config, "fit")["proven"]
    assert caplog.messages == []


@pytest.mark.slow
def test_what_does_not_fit_ends_the_step(fitted):
    config = fitted(device=replace(DEVICE, lut=100), fps=1000)
    with pytest.raises(
        BuildError, match=r"^no folding fits 80 % of xczu7ev at 1,000 frames per second: .* LUT \("
    ):
        steps.fold(specialized(perceptron(), config), config)


@pytest.mark.slow
def test_fewer_bits_that_would_do_are_said(fitted):
    config = fitted(goal="resources", fps=1000, use=1.0)
    config.kernel_preferences = {"MVAU": ("finn:MVAU_rtl",)}
    model = specialized(perceptron(), config)
    steps.fold(model, config)
    needs = reported(config, "fit")[
        "needs"
    ]  # of the cheapest: what takes no more of the others has no fewer LUTs
    there = {**needs, "lut": needs["lut"] - 1, "ff": DEVICE.ff}
    config.fit = replace(config.fit, device=replace(DEVICE, **there))
    with pytest.raises(BuildError, match=r"\n  weights of at most [23] bits would do$"):
        steps.fold(model, config)


@pytest.mark.slow
def test_a_converter_behind_a_window_that_gives_all_positions_is_counted(fitted, caplog):
    config = fitted(goal="fps", use=1.0)
    graph = Graph(1, 4, 8, 8).quant(4)
    kernel = graph.weights(integers(1, 4, 1, 3, 3))
    graph.node("Conv", kernel, group=4, kernel_shape=[3, 3], pads=[1, 1, 1, 1]).quant(4, scale=16.0)
    model = steps.estimate(steps.fold(specialized(graph.model(1, 4, 8, 8), config), config), config)
    fit, estimate = reported(config, "fit"), reported(config, "estimates")
    assert model.get_nodes_by_op_type("EmbeddedVVAU_rtl")
    assert estimate["lut"] == fit["needs"]["lut"] + fit["deeper"]["lut"]
    assert "the estimate is not what" not in caplog.text


@pytest.mark.slow
def test_without_dsp_slices_another_backend_multiplies(fitted):
    config = fitted(device=replace(DEVICE, dsp=0), use=1.0)
    model = steps.fold(specialized(perceptron(), config), config)
    assert [node.op_type for node in model.graph.node if "MVAU" in node.op_type] == ["EmbeddedMVAU_rtl"] * 2
    assert reported(config, "fit")["needs"]["dsp"] == 0
    chosen = {layer["layer"]: layer["backend"] for layer in reported(config, "backends")["layers"]}
    assert chosen["EmbeddedMVAU_rtl_0"] == "brainsmith:EmbeddedMVAURTL"


@pytest.mark.slow
def test_the_front_lists_the_cheapest_circuits(config):
    steps.rate_front(specialized(perceptron(), config), config)
    found = reported(config, "front")
    intervals = [point["interval_cycles"] for point in found["points"]]
    costs = [point["cost"] for point in found["points"]]
    assert intervals == sorted(set(intervals)) and costs == sorted(set(costs), reverse=True)
    assert found["device"] == "xczu7ev" and set(found["available"]) == set(RESOURCES)
    assert all(point["proven"] for point in found["points"])


def legal(config, model, op_type, weights=36):
    node = model.get_nodes_by_op_type(op_type)[0]
    return [one.own for one in legal_foldings(getCustomOp(node), None, weights)]


@pytest.mark.slow
def test_foldings_are_those_that_a_build_accepts(config):
    config.kernel_preferences = {"MVAU": ("finn:MVAU_rtl",)}
    model = specialized(perceptron(), config)
    found = {(one["SIMD"], one["PE"]) for one in legal(config, model, "MVAU_rtl")}
    assert found == set(product((1, 2, 4), (1, 2, 3, 6)))  # not 8, which is a whole row
    narrow = {one["SIMD"] for one in legal(config, model, "MVAU_rtl", weights=8)}
    assert narrow == {1, 2}  # weights of 4 bits
    assert [one["PE"] for one in legal(config, model, "Thresholding_rtl")] == [1, 2, 4, 8]


def test_what_is_said_of_layers_without_a_model():
    hls = helper.make_node("Pool_hls", ["a"], ["b"], name="Pool_hls_0", domain="finn.x.hls")
    rtl = helper.make_node("SaturateRTL", ["b"], ["c"], name="SaturateRTL_0", domain="brainsmith.x.rtl")
    assert without_model("xc7z020clg400-1", [hls, rtl]) == (
        "foldings cannot be fitted to xc7z020clg400-1: there is no model of what 2 layers take: Pool_hls_0 (Pool_hls), "
        "SaturateRTL_0 (SaturateRTL)\n"
        "  have RTL layers counted by synthesis: args: {fold: {synthesise: true}}\n"
        "  give kernels an RTL backend in place of HLS (`kernels` in the blueprint)\n"
        "  or state a rate in place of `fit`: target: {fps: ...}"
    )
    assert without_model("xc7z020clg400-1", [rtl], FRONT) == (
        "foldings cannot be fitted to xc7z020clg400-1: there is no model of what 1 layer takes: SaturateRTL_0 "
        "(SaturateRTL)\n"
        "  have RTL layers counted by synthesis: brainsmith front --synthesise"
    )


def test_what_is_said_of_an_estimate_that_is_not_the_promise(caplog):
    amounts = {"lut": 100, "ff": 0, "bram18": 0, "uram": 0, "dsp": 4}
    fit = {"needs": amounts, "deeper": dict.fromkeys(amounts, 0), "interval_cycles": 8}
    _compare_with_fit(fit, {**amounts, "lut": 102, "interval_cycles": 8})
    assert caplog.messages == [
        "the estimate is not what the foldings were chosen for: lut 102 in place of 100; a step after fold changed layers"
    ]
