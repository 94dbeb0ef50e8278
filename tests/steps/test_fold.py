import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op.registry import getCustomOp

from brainsmith.plugins import steps
from brainsmith.rtl.cores.frame_cycles import frame_cycles
from brainsmith.steps.backend_choice import chosen_before
from brainsmith.steps.rows_at_once import avoid_whole_rows
from tests.steps.conftest import Graph, digits_model, hardware, integers
from tests.steps.test_networks import max_pool_and_arg_max
from tests.steps.test_specialize import own_kernel
from tests.transforms.test_specialize_kernels import forks


def specialized(model, config):
    return steps.specialize(hardware(model, config), config)


def folding(model, op_type="MVAU_rtl"):
    layers = [getCustomOp(node) for node in model.get_nodes_by_op_type(op_type)]
    return [(layer.get_nodeattr("PE"), layer.get_nodeattr("SIMD")) for layer in layers]


@pytest.mark.slow
def test_without_a_target_rate_nothing_is_unfolded(config):
    assert folding(steps.fold(specialized(digits_model("mlp"), config), config)) == [(1, 1)] * 3


@pytest.mark.parametrize("fps", [50_000, 200_000, 1_000_000])
@pytest.mark.slow
def test_every_layer_reaches_the_target_rate(config, fps):
    config.target_fps = fps
    model = steps.fold(specialized(digits_model("mlp"), config), config)
    cycles = [getCustomOp(node).get_exp_cycles() for node in model.graph.node]
    assert max(cycles) <= 1e9 / config.synth_clk_period_ns / fps


@pytest.mark.slow
def test_no_rtl_product_takes_a_whole_row_at_once(config, caplog):
    config.target_fps = 100_000_000
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    model = steps.fold(specialized(graph.model(1, 6), config), config)
    ((pe, simd),) = folding(model)
    assert (pe, simd) == (6, 4)
    said = (
        "MVAU_rtl_0 takes 2 cycles per frame, and the target is 2: in RTL it cannot take a whole row at once"
    )
    assert said not in caplog.messages


@pytest.mark.slow
def test_a_product_that_is_too_slow_without_whole_rows_gets_another_backend(config, caplog):
    config.target_fps = 200_000_000
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    graph.node("MatMul", graph.weights(integers(2, 6, 1))).quant(4, scale=16.0)  # one row: nothing to raise
    graph.node("MatMul", graph.weights(integers(3, 1, 6))).quant(4, scale=16.0)  # one column
    model = steps.fold(specialized(graph.model(1, 6), config), config)
    assert folding(model, "EmbeddedMVAU_rtl") == [(6, 8), (1, 6), (6, 1)]
    assert [one["layer"] for one in chosen_before(config)] == [node.name for node in model.graph.node][:-1]
    assert caplog.messages == []


def test_a_product_that_is_too_slow_without_whole_rows_is_warned_of(config, caplog):
    config.target_fps = 200_000_000
    config.kernel_preferences = {"MVAU": ("finn:MVAU_rtl",)}
    graph = Graph(1, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0)
    model = steps.fold(specialized(graph.model(1, 6), config), config)
    assert folding(model) == [(6, 4)]
    said = (
        "MVAU_rtl_0 takes 2 cycles per frame, and the target is 1: in RTL it cannot take a whole row at once"
    )
    assert said in caplog.messages


@pytest.mark.parametrize(("kernel", "before", "after"), [([3, 3], 9, (6, 3)), ([1, 1], 1, (1, 1))])
def test_no_rtl_window_is_taken_at_once(config, kernel, before, after):
    node = helper.make_node(
        "VVAU_rtl", ["x", "w"], ["y"], domain="finn.custom_op.fpgadataflow.rtl", PE=1, SIMD=before, Channels=6,
        Kernel=kernel, Dim=[4, 4],
    )  # fmt: skip
    model = ModelWrapper(helper.make_model(helper.make_graph([node], "window", [], [])))
    avoid_whole_rows(model, config, 1)
    assert folding(model, "VVAU_rtl") == [after]


@pytest.mark.slow
def test_a_node_on_the_host_does_not_disturb_folding(config):
    config.target_fps = 5_000_000
    graph = Graph(1, 2, 4, 4).quant(4)
    graph.node("Conv", graph.weights(integers(1, 2, 2, 3, 3)), kernel_shape=[3, 3]).quant(4, scale=8.0)
    model = steps.fold(specialized(graph.model(1, 2, 2, 2), config), config)
    assert model.graph.node[0].op_type == "Transpose"
    assert folding(model) != [(1, 1)]


@pytest.mark.slow
def test_a_layer_of_another_framework_is_folded(config):
    config.kernel_preferences = {"MatMul": ("hls",), "*": ("rtl", "hls")}
    config.target_fps = 10_000_000
    model = steps.fold(steps.specialize(own_kernel(config), config), config)
    ((pe, simd),) = folding(model, "MatMulHLS")
    assert pe * simd > 1


@pytest.mark.slow
def test_a_transpose_on_the_chip_gets_backends(config):
    config.target_fps = 1_000_000
    graph = Graph(1, 4, 8).quant(4)
    graph.node("MatMul", graph.weights(integers(1, 8, 6))).quant(4, scale=16.0).node(
        "Transpose", perm=[0, 2, 1]
    )
    graph.node("MatMul", graph.weights(integers(2, 4, 5))).quant(4, scale=8.0)
    model = hardware(graph.model(1, 6, 5), config)
    assert "Shuffle" in {node.op_type for node in model.graph.node}
    chosen = steps.specialize(model, config)
    model = steps.fold(chosen, config)
    kinds = {node.op_type for node in model.graph.node}
    assert "Shuffle" not in kinds
    assert kinds & {"InnerShuffle_rtl", "OuterShuffle_hls"}
    report = chosen_before(config)
    named = {node.name for node in model.graph.node if node.domain.startswith("finn.")}
    assert sorted(layer["layer"] for layer in report) == sorted(named)
    steps.fold(chosen, config)
    assert chosen_before(config) == report


@pytest.mark.parametrize(("frames", "lanes"), [(50_000_000, 1), (70_000_000, 2), (200_000_000, 4)])
def test_a_layer_that_states_its_parallelism_is_as_fast_as_asked(config, frames, lanes):
    config.target_fps = frames
    model = steps.specialize(forks(2), config)
    model = steps.fold(model, config)
    (layer,) = [getCustomOp(node) for node in model.graph.node]
    assert (layer.onnx_node.op_type, layer.get_nodeattr("PE")) == ("DuplicateStreams_rtl", lanes)
    assert layer.onnx_node.domain == "finn.custom_op.fpgadataflow.rtl"


@pytest.mark.slow
def test_if_one_layer_cannot_be_as_fast_the_others_are_as_slow(config, caplog):
    config.target_fps = 200_000_000
    graph = Graph(1, 32).quant(4)
    model = graph.node("MatMul", graph.weights(integers(1, 32, 1))).quant(4, scale=16.0).model(1, 1)
    model = specialized(model, config)
    model.graph.node.remove(model.graph.node[-1])  # the host's, or all would be as fast as asked
    model = steps.fold(model, config)
    said = "MVAU_rtl_0 takes 4 cycles per frame, and the target is 1: all layers are folded for its rate"
    assert said in caplog.messages
    assert folding(model, "MVAU_rtl") == [(1, 8)]
    assert getCustomOp(model.graph.node[0]).get_nodeattr("PE") == 8


@pytest.mark.parametrize(
    "frames", [200_000, *(pytest.param(high, marks=pytest.mark.slow) for high in (800_000, 1_600_000))]
)
@pytest.mark.slow
def test_a_pool_and_the_window_in_front_are_equally_wide_and_both_fast_enough(frames, config):
    config.target_fps = frames
    before = specialized(max_pool_and_arg_max(), config)
    model = steps.fold(before, config)
    (pool,) = model.get_nodes_by_op_type("Pool_rtl")
    layer, window = getCustomOp(pool), getCustomOp(model.find_producer(pool.input[0]))
    assert window.get_nodeattr("depthwise") == 1
    assert layer.get_nodeattr("PE") == window.get_nodeattr("SIMD")
    assert max(layer.get_exp_cycles(), frame_cycles(window)) <= 1e9 / config.synth_clk_period_ns / frames
    assert {node.domain for node in before.graph.node} == {node.domain for node in model.graph.node}
