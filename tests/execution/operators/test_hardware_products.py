"""Products of hardware: what the table of layers does not say."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.onnx.rewritten import run_rewritten
from tests.execution.operators.layer_cases import CHANNELS_LAST, filled, mvau_node
from tests.execution.program.one_node import model_of
from tests.execution.program.single_node import FINN, is_foreign, one_node, run_program, run_reference


def draw(random, kind, shape):
    return filled(random, kind, shape[1:], runs=shape[0])


def test_sums_beyond_single_precision_are_exact():
    random = np.random.default_rng(0)
    model = mvau_node(random, (1,), ("INT16", "INT12"), 0, width=600)
    x = draw(random, "INT16", (4, 1, 600))
    exact = x.astype(np.int64) @ model.get_initializer("w").astype(np.int64)
    assert np.abs(exact).max() > 1 << 24
    for run in (run_program, run_rewritten):
        np.testing.assert_array_equal(run(model, {"x": x})["y"], exact.astype(np.float32))
    written = onnx.load_model_from_string(rewrite(model).content).graph.node
    assert "Cast" in [node.op_type for node in written]


def test_sums_beyond_float64_are_refused_in_standard_onnx():
    model = mvau_node(np.random.default_rng(0), (1,), ("INT32", "INT4"), 0, width=2**10, height=1)
    model.set_initializer("w", np.full((2**10, 1), 2**24, np.float32))
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'node' (MVAU) cannot be written with standard ONNX operators: its sums may reach 3.69e+19, beyond 2^53, "
        "where float64 is not exact"
    )


def convolution(last):
    """Return one of many whole numbers, with the channels last or in the second axis."""
    weights = np.full((1, 2**10, 3, 3), 2**5, np.float32)
    if not last:
        return model_of("Conv", {"x": (1, 2**10, 4, 4), "w": weights}, datatypes={"x": "INT16"})
    return one_node(
        "Conv", {"x": (1, 4, 4, 2**10)}, {"y": (1, 2, 2, 1)}, {"w": np.moveaxis(weights, 1, -1)}, domain=CHANNELS_LAST,
        opset=13, kernel_shape=[3, 3], strides=[1, 1], pads=[0] * 4, dilations=[1, 1], group=1, datatypes={"x": "INT16"},
    )  # fmt: skip


@pytest.mark.parametrize("last", [False, True])
def test_a_convolution_beyond_float32_is_refused_in_standard_onnx(last):
    with pytest.raises(ModelError) as caught:
        rewrite(convolution(last))
    assert str(caught.value) == (
        f"node '{'node' if last else 'n'}' (Conv) cannot be written with standard ONNX operators: its sums may reach "
        "9.66e+09, beyond 2^24, where float32 is not exact"
    )


def normalisation(parameters, **stated):
    given = {"x": (1, 2, 2, 4), **({} if "s" in parameters else {"s": (4,)})}
    return one_node(
        "BatchNormalization", given, {"y": (1, 2, 2, 4)}, {name: np.ones(4, np.float32) for name in parameters},
        domain=CHANNELS_LAST, opset=9, epsilon=1e-3, momentum=0.9, **stated,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "stated", "reason"),
    [
        ("bmv", {}, "its scale must be a constant, but is computed"),
        ("sbmv", {"training_mode": 1}, "it is in training mode"),
    ],
)
def test_a_normalisation_of_the_last_axis_is_refused_in_standard_onnx(parameters, stated, reason):
    with pytest.raises(ModelError) as caught:
        rewrite(normalisation(parameters, **stated))
    assert str(caught.value) == (
        f"node 'node' (BatchNormalization) cannot be written with standard ONNX operators: {reason}"
    )


def test_thresholds_of_three_axes_are_left_to_qonnx():
    for single in (False, True):
        model = mvau_node(np.random.default_rng(0), (1, 6), ("INT4", "INT4"), 3, single=single)
        assert is_foreign(lower(runnable_copy(model))) != single


def vvau(random, kinds, steps, lanes, window):
    """Return a VVAU behind a sliding window that gives as many channels at a time."""
    channels, kernel = 4, (3, 2)
    node = helper.make_node(
        "VVAU", ["w", "k", *["t"] * bool(steps)], ["y"], name="node", domain=FINN, PE=lanes, Dim=[4, 5], Kernel=kernel,
        Channels=channels, inputDataType=kinds[0], weightDataType=kinds[1],
        outputDataType="INT8" if steps else "INT32", ActVal=-1, noActivation=int(not steps),
    )  # fmt: skip
    nodes, first = [node], {"w": (1, 4, 5, channels * 6)}
    domains = {FINN, f"{FINN}.{window}" if window else FINN}
    if window:
        first = {"x": (1, 6, 6, channels)}
        nodes.insert(0, helper.make_node(
            f"ConvolutionInputGenerator_{window}", ["x"], ["w"], name="window", domain=f"{FINN}.{window}",
            ConvKernelDim=kernel, IFMChannels=channels, IFMDim=[6, 6], OFMDim=[4, 5], SIMD=lanes, M=1, Stride=[1, 1],
            Dilation=[1, 1], inputDataType=kinds[0], outputDataType=kinds[0], depthwise=1, backend="fpgadataflow",
        ))  # fmt: skip
    ((name, shape),) = first.items()
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in ((name, shape), ("y", (1, 4, 5, 4)))
    ]
    inner = [helper.make_tensor_value_info("w", TensorProto.FLOAT, (1, 4, 5, channels * 6))] if window else []
    graph = helper.make_graph(nodes, "vvau", values[:1], values[1:], value_info=inner)
    opsets = [helper.make_opsetid(domain, 1) for domain in sorted(domains)]
    model = ModelWrapper(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), *opsets], ir_version=10)
    )
    model.set_initializer("k", filled(random, kinds[1], (channels, 1, *kernel))[0])
    if steps:
        thresholds = np.sort(random.integers(-30, 30, (channels, steps)), axis=1).astype(np.float32)
        model.set_initializer("t", thresholds)
    model.set_tensor_datatype(name, DataType[kinds[0]])
    return model


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_vvau_takes_windows_as_its_sliding_window_gives_them(lanes):
    random = np.random.default_rng(lanes)
    results = []
    x = draw(random, "INT4", (3, 1, 6, 6, 4))
    for window in ("hls", "rtl"):
        model = vvau(np.random.default_rng(lanes), ("INT4", "INT4"), 3, lanes, window)
        results.append(run_program(model, {"x": x})["y"])
        np.testing.assert_array_equal(results[-1], run_reference(runnable_copy(model), {"x": x})["y"])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("steps", [0, 3])
def test_the_backend_of_one_bit_weights_is_lowered_as_its_kernel(steps):
    random = np.random.default_rng(steps)
    model = mvau_node(random, (1,), ("INT4", "BIPOLAR"), steps)
    x = draw(random, "INT4", (3, 1, 20))
    wanted = run_reference(model, {"x": x})["y"]
    (node,) = model.graph.node
    node.op_type, node.domain = "BinaryMVAU_rtl", f"{FINN}.rtl"
    model.model.opset_import.append(helper.make_opsetid(node.domain, 1))
    np.testing.assert_array_equal(run_program(model, {"x": x})["y"], wanted)
