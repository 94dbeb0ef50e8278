"""The groups, run on real quantised networks: all members exist, and the predictions stay."""

from pathlib import Path

import numpy as np
import pytest
import qonnx
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.util.cleanup import cleanup_model

from brainsmith.plugin.core import get_registry
from brainsmith.transforms.groups import GROUPS

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
NETWORKS = Path(qonnx.__path__[0]) / "data" / "onnx" / "bsd300x3-espcn"
BEFORE_HARDWARE = ("cleanup_transforms", "quantization", "folding")
STREAMLINE = ("ConvertQONNXtoFINN", "AbsorbScalarBiasIntoMultiThreshold", "Streamline")
LOWER = (
    "qonnx:LowerConvsToMatMul",
    "AbsorbTransposeIntoMultiThreshold",
    "AbsorbConsecutiveTransposes",
    "Streamline",
)
INFER = ("InferThresholdingLayer", "InferQuantizedMatrixVectorActivation", "InferConvInpGen")


def transformed(model, names):
    for name in names:
        grouped = any(name in members for members in GROUPS.values())
        qualified = name if grouped or ":" in name else f"finn:{name}"
        model = model.transform(get_registry().get("transform", qualified)())
    return model


def to_hardware(model):
    lower = LOWER if model.get_nodes_by_op_type("Conv") else ()
    return transformed(model, [*STREAMLINE, *lower, "qonnx:InferDataLayouts", *INFER])


def run(model, images):
    source, output = model.graph.input[0].name, model.graph.output[0].name
    return np.concatenate([execute_onnx(model, {source: image[None]})[output] for image in images])


def ops(model):
    return [node.op_type for node in model.graph.node]


@pytest.fixture(params=["mlp", pytest.param("cnn", marks=pytest.mark.slow)])
def network(request):
    """Give a network of the shipped example and eight of its held-out images."""
    model = cleanup_model(ModelWrapper(str(DIGITS / f"{request.param}.onnx")))
    return model, np.load(DIGITS / f"digits_{request.param}_x.npy")[:8].astype(np.float32)


def test_the_registry_has_the_groups_and_all_their_members():
    registry = get_registry()
    for name, members in GROUPS.items():
        assert registry.group(name) == tuple(members)
        for member in members:
            info = registry.resolve("transform", member)
            required = [parameter.name for parameter in info.parameters if parameter.required]
            assert (member, required) == (member, [])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Assuming:UserWarning")
def test_a_network_stays_what_it_is_and_its_layers_shrink(network):
    model, images = network
    expected = run(model, images)
    grouped = model
    for name in BEFORE_HARDWARE:
        grouped = transformed(grouped, GROUPS[name])
        np.testing.assert_array_equal(run(grouped, images), expected, err_msg=name)
    hardware = to_hardware(grouped)
    assert ops(hardware) == ops(to_hardware(model))
    optimised = transformed(hardware, GROUPS["optimization_transforms"])
    for layers in (hardware, optimised):
        np.testing.assert_array_equal(run(layers, images), expected)
    assert ops(optimised) == ops(hardware)
    assert accumulator_bits(optimised) < accumulator_bits(hardware) / 2


def accumulator_bits(model):
    outputs = [node.output[0] for node in model.get_nodes_by_op_type("MVAU")]
    return sum(model.get_tensor_datatype(name).bitwidth() for name in outputs)


@pytest.mark.filterwarnings("ignore:Assuming:UserWarning")
@pytest.mark.slow
def test_every_group_can_run_twice(network):
    model, images = network
    expected = run(model, images)
    for name in BEFORE_HARDWARE * 2:
        model = transformed(model, GROUPS[name])
    np.testing.assert_array_equal(run(model, images), expected)
    hardware = to_hardware(model)
    for _ in range(2):
        hardware = transformed(hardware, GROUPS["optimization_transforms"])
    np.testing.assert_array_equal(run(hardware, images), expected)


@pytest.mark.parametrize(
    "variant", [pytest.param(name, marks=pytest.mark.slow) for name in ("nn_resize", "subpixel")]
)
def test_a_network_with_free_scales_moves_few_pixels_by_few_levels(variant):
    model = cleanup_model(ModelWrapper(str(NETWORKS / variant / "quant_model.onnx")))
    images = np.random.default_rng(0).random((1, 3, 128, 128)).astype(np.float32)
    expected = run(model, images)
    grouped = transformed(model, [member for name in BEFORE_HARDWARE for member in GROUPS[name]])
    assert "BatchNormalization" in ops(model)
    assert "BatchNormalization" not in ops(grouped)
    levels = np.abs(run(grouped, images) - expected) * 255
    assert levels.max() < 3.5
    assert (levels > 0.5).mean() < 1e-3
