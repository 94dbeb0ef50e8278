"""The steps from qonnx_to_finn to streamline, on small models."""

from pathlib import Path

import numpy as np
import pytest
import qonnx
from onnx import TensorProto
from qonnx.core.onnx_exec import execute_onnx

from brainsmith.errors import ModelError
from brainsmith.plugins import steps
from tests.steps.conftest import QONNX, Graph, digits_model, integers, op_types


def run(model, x):
    return execute_onnx(model, {model.graph.input[0].name: x})[model.graph.output[0].name]


def test_quantisers_become_thresholds_and_integer_weights(config, dense):
    model = steps.qonnx_to_finn(steps.cleanup(dense(), config), config)
    assert "Quant" not in op_types(model)
    assert op_types(model).count("MultiThreshold") == 2
    product = model.get_nodes_by_op_type("MatMul")[0]
    assert model.get_tensor_datatype(product.input[1]).name == "INT4"


def test_without_cleanup_before_it_the_result_is_the_same(config, dense):
    x = integers(3, 1, 8)
    assert np.array_equal(
        run(steps.qonnx_to_finn(dense(), config), x), run(steps.cleanup(dense(), config), x)
    )


@pytest.mark.parametrize("factors", [{"alpha": 2.0, "beta": 0.5}, {"alpha": 0.5}, {"beta": 2.0}, {}])
def test_a_gemm_with_factors_becomes_a_product_of_float32(config, factors):
    graph = Graph(1, 8).quant(4)
    made = graph.node("Gemm", graph.weights(integers(1, 6, 8)), integers(2, 6), transB=1, **factors).quant(
        5, 2.0
    )
    model = steps.cleanup(made.model(1, 6), config)
    x = integers(3, 1, 8)
    converted = steps.qonnx_to_finn(model, config)
    assert np.array_equal(run(converted, x), run(model, x))
    assert "Gemm" not in op_types(converted)
    kinds = {tensor.data_type for tensor in converted.graph.initializer}
    assert TensorProto.DOUBLE not in kinds


def test_an_activation_too_wide_for_thresholds_stays(config, caplog):
    graph = Graph(1, 8).quant(12)
    model = steps.cleanup(graph.node("MatMul", graph.weights(integers(1, 8, 6))).model(1, 6), config)
    assert "Quant" in op_types(steps.qonnx_to_finn(model, config))
    assert "bit width of 12" in caplog.text


def test_the_builders_own_limit_is_taken(config, dense):
    config.max_multithreshold_bit_width = 3
    assert op_types(steps.qonnx_to_finn(steps.cleanup(dense(), config), config)).count("Quant") == 2


@pytest.mark.slow
def test_streamlining_leaves_integers_only(config):
    model = steps.qonnx_to_finn(steps.cleanup(digits_model("mlp"), config), config)
    model = steps.streamline(model, config)
    assert op_types(model) == ["MultiThreshold", "MatMul"] * 3


@pytest.mark.slow
def test_convolutions_are_lowered(config):
    model = steps.qonnx_to_finn(steps.cleanup(digits_model("cnn"), config), config)
    model = steps.streamline(model, config)
    kinds = op_types(model)
    assert (kinds.count("Im2Col"), kinds.count("MaxPoolNHWC"), kinds[-1]) == (2, 2, "TopK")
    assert not {"Conv", "MaxPool"} & set(kinds)


@pytest.mark.slow
def test_a_real_super_resolution_network_becomes_hardware(config):
    """QONNX's own example, with an upsampling by nearest neighbours: all but its layout and last scale."""
    from qonnx.core.modelwrapper import ModelWrapper

    path = Path(qonnx.__file__).parent / "data" / "onnx" / "bsd300x3-espcn" / "nn_resize" / "quant_model.onnx"
    model = ModelWrapper(str(path))
    for name in (
        "cleanup",
        "qonnx_to_finn",
        "streamline",
        "hardware_inference",
        "specialize",
        "fold",
        "estimate",
    ):
        model = steps[name](model, config)
    on_host = [node.op_type for node in model.graph.node if not node.domain.startswith("finn.")]
    assert set(on_host) <= {"Transpose", "Mul"}
    assert op_types(model).count("MVAU_rtl") == 4
    assert "UpsampleNearestNeighbour_rtl" in op_types(model)
    assert not [node for node in op_types(model) if node.endswith("_hls")]


def truncated(side, bits):
    """Return an average of side x side pixels of 4 bits, of whose sum a Trunc keeps 4 bits."""
    graph = Graph(1, 1, side, side).node(
        "Quant", 1.0, 0.0, 4.0, domain=QONNX, signed=0, narrow=0, rounding_mode="ROUND"
    )
    graph.node("AveragePool", kernel_shape=[side, side], strides=[side, side], pads=[0] * 4)
    graph.node("Mul", np.float32(side * side))
    graph.node("Trunc", 1.0, 0.0, float(bits), 4.0, domain=QONNX, rounding_mode="FLOOR")
    return graph.model(1, 1, 1, 1, datatype="UINT4")


def test_a_truncated_average_computes_what_qonnx_computes(config):
    model = steps.cleanup(truncated(4, 8), config)
    changed = steps.qonnx_to_finn(steps.cleanup(truncated(4, 8), config), config)
    assert "QuantAvgPool2d" in op_types(changed)
    for x in np.random.default_rng(0).integers(0, 16, (5, 1, 1, 4, 4)).astype(np.float32):
        assert run(changed, x) == run(model, x)


def test_a_trunc_of_which_finns_pool_drops_other_bits_is_refused(config):
    with pytest.raises(ModelError) as caught:
        steps.qonnx_to_finn(steps.cleanup(truncated(6, 8), config), config)
    assert str(caught.value) == (
        "Trunc 'trunc3' drops 4 of 8 bits after an average of 36 pixels, where FINN's pool drops 3: use a window whose "
        "pixels are a power of two, or a Quant in place of the Trunc"
    )
