"""What is advised for a layer without RTL: a backend, unless it refuses the layer."""

from types import SimpleNamespace

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import BuildError, PluginLoadError
from brainsmith.rtl.cores.node_support import SUPPORTED, unsupported
from brainsmith.rtl.stitching import suitable


def backend(name, answer):
    """A record of an RTL backend of kernel Pool that gives an answer, or raises it."""

    def supports(node, part=""):
        if isinstance(answer, Exception):
            raise answer
        return answer

    described = SimpleNamespace() if answer is None else SimpleNamespace(supports=supports)
    return SimpleNamespace(qualified=name, framework="acme", backend_type="rtl", load=lambda: described)


TAKE = (
    "list it in the blueprint, hw_compiler: kernels: [{kernel: finn:Pool, backends: [rtl]}]; specialize chooses "
    "it if it supports this layer, and gives the reason if not"
)
WIDE = unsupported("its window is 9 wide")


@pytest.mark.parametrize(
    ("backends", "advice"),
    [
        ([backend("a:PoolRTL", WIDE)], "a:PoolRTL, which does not support this layer: its window is 9 wide"),
        (
            [backend("a:PoolRTL", WIDE), backend("b:PoolRTL", False)],
            "a:PoolRTL, which does not support this layer: its window is 9 wide; b:PoolRTL, which does not support this "
            "layer: it does not say why",
        ),
        ([backend("a:PoolRTL", WIDE), backend("b:PoolRTL", SUPPORTED)], f"b:PoolRTL: {TAKE}"),
        ([backend("a:PoolRTL", None)], f"a:PoolRTL: {TAKE}"),
        (
            [backend("a:PoolRTL", ValueError("x"))],
            "a:PoolRTL, which does not support this layer: its `supports` raised ValueError: x",
        ),
        (
            [backend("a:PoolRTL", PluginLoadError("a.py cannot be loaded")), backend("b:PoolRTL", SUPPORTED)],
            f"b:PoolRTL: {TAKE}",
        ),
    ],
)
def test_a_backend_that_refuses_the_layer_is_not_advised(monkeypatch, backends, advice):
    domain = "finn.custom_op.fpgadataflow.hls"
    node = helper.make_node("Pool_hls", ["x"], ["y"], domain=domain, name="pool")
    kernel = SimpleNamespace(name="Pool", qualified="finn:Pool")
    monkeypatch.setattr(suitable, "_kernel_of", lambda registry, node: kernel)
    monkeypatch.setattr(suitable, "backends_of", lambda registry, kernel: backends)
    assert suitable._what_to_do(node, None, "") == f"kernel Pool has the RTL backend {advice}"


ZYNQ, VERSAL = "xczu7ev-ffvc1156-2-e", "xcvc1902-vsva2197-2MP-e-S"
TAKE_WINDOWS = TAKE.replace("Pool", "VVAU")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "alone", "advice"),
    [
        (ZYNQ, 1, f"brainsmith:EmbeddedVVAURTL: {TAKE_WINDOWS}"),
        (VERSAL, 1, f"brainsmith:EmbeddedVVAURTL, finn:VVAU_rtl: {TAKE_WINDOWS}"),
        (
            ZYNQ,
            0,
            "brainsmith:EmbeddedVVAURTL, which does not support this layer: it has thresholds inside, and its core "
            "computes the sums alone; finn:VVAU_rtl, which does not support this layer: FINN's rules refuse it: Please "
            "check the bit-widths to be <= 8 and ensure the thresholds are implemented as standalone layer. Note that "
            "the RTL-variant of this layer is only supported on Versal boards",
        ),
    ],
)
def test_a_backend_that_refuses_a_layer_by_finn_s_rules_or_its_own_is_not_advised(part, alone, advice):
    """FINN has a depthwise unit in RTL for Versal devices alone."""
    domain = "finn.custom_op.fpgadataflow.hls"
    ends = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 4, 4, 36]), ("y", [1, 4, 4, 4]))
    }
    node = helper.make_node(
        "VVAU_hls", ["x", "w"], ["y"], domain=domain, name="depthwise", backend="fpgadataflow", PE=1, SIMD=1,
        Channels=4, Kernel=[3, 3], Dim=[4, 4], noActivation=alone, inputDataType="INT4", weightDataType="INT4",
        outputDataType="INT12",
    )  # fmt: skip
    weights = [numpy_helper.from_array(np.ones((4, 1, 3, 3), np.float32), "w")]
    model = ModelWrapper(helper.make_model(helper.make_graph([node], "g", [ends["x"]], [ends["y"]], weights)))
    model.set_tensor_datatype("x", DataType["INT4"])
    model.set_tensor_datatype("w", DataType["INT4"])
    assert (
        suitable._what_to_do(model.graph.node[0], model, part) == f"kernel VVAU has the RTL backend {advice}"
    )


def test_branches_of_different_scales_are_named_as_the_cause():
    domain = "finn.custom_op.fpgadataflow.hls"
    tensors = ("x", "z", "s", "t", "y")
    ends = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in tensors}
    nodes = [
        helper.make_node("ElementwiseMul_hls", ["x", "c"], ["s"], domain=domain, name="scaled"),
        helper.make_node("ElementwiseMul_hls", ["z", "c"], ["t"], domain=domain, name="scaled_too"),
        helper.make_node("ElementwiseAdd_hls", ["s", "t"], ["y"], domain=domain, name="sum"),
    ]
    constants = [numpy_helper.from_array(np.float32([0.5]), "c")]
    graph = helper.make_graph(nodes, "g", [ends["x"], ends["z"]], [ends["y"]], constants)
    with pytest.raises(BuildError) as caught:
        suitable.check_layers(ModelWrapper(helper.make_model(graph)))
    assert str(caught.value).splitlines()[-1] == (
        "  the streams that meet in sum have different scales, so they can only be added as floats: quantise all that "
        "is added there with one scale; then no multiplications and shuffles are needed before it"
    )
