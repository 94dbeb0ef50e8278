"""An image network from PyTorch's form to a package: its host.py and its circuit compute what the network does."""

import importlib.util

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.build import build
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.package.running import prepare_package

CUSTOM = "qonnx.custom_op.general"
BLUEPRINT = """hw_compiler:
  target: {part: xczu7ev-ffvc1156-2-e, clock: 5 ns, fps: 100000}
  steps: [cleanup, integer, hardware_inference, specialize, fold, estimate]
  output: simulated
"""


def image_network():
    """Return a network of images, (1, 2, 4, 4): pixels / 255, mean, deviation, a quantiser; scales are powers of two."""
    rng = np.random.default_rng(3)
    nodes, constants = [], []

    def constant(value):
        constants.append(numpy_helper.from_array(np.asarray(value, np.float32), f"c{len(constants)}"))
        return constants[-1].name

    def node(op_type, *inputs, domain="", **attributes):
        inputs = [one if isinstance(one, str) else constant(one) for one in inputs]
        name = f"{op_type}_{len(nodes)}"
        nodes.append(helper.make_node(op_type, inputs, [f"/{name}"], name=name, domain=domain, **attributes))
        return f"/{name}"

    def quantised(source, scale, bits, zero=0.0, mode="ROUND"):
        kind = {"signed": 1, "narrow": 0, "rounding_mode": mode}
        return node("Quant", source, scale, zero, float(bits), domain=CUSTOM, **kind)

    pixels = node("Div", "image", 255.0)
    pixels = node("Sub", pixels, np.asarray([0.485, 0.406]).reshape(1, 2, 1, 1))
    pixels = node("Div", pixels, np.asarray([0.229, 0.225]).reshape(1, 2, 1, 1))
    tail = quantised(pixels, 0.25, 5, 1.0)
    weights = quantised(rng.normal(0, 1, (3, 2, 2, 2)), 0.5, 3)
    tail = quantised(node("Relu", node("Conv", tail, weights, kernel_shape=[2, 2])), 0.5, 4, mode="FLOOR")
    tail = node("Flatten", tail, axis=1)
    tail = node("MatMul", tail, quantised(rng.normal(0, 1, (27, 4)), 0.5, 3))
    tail = node("Add", tail, np.asarray([0.5, 0, -1.25, 3]))
    nodes[-1].output[0] = "logits"
    graph = helper.make_graph(
        nodes,
        "images",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 2, 4, 4])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 4])],
        constants,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=8))


def host_of(package):
    """Return the packed module's Host, imported from the package as a user would."""
    spec = importlib.util.spec_from_file_location("packed_host", package / "host.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Host()


@pytest.mark.slow
@pytest.mark.parametrize("datatype", ["UINT8", None])
def test_host_and_circuit_of_the_package_compute_the_network_in_every_bit(datatype, tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(BLUEPRINT)
    network = image_network()
    images = np.random.default_rng(4).integers(0, 256, (40, 1, 2, 4, 4)).astype(np.float32)
    images[:3] = np.asarray([0, 255, 128]).reshape(3, 1, 1, 1, 1)
    if datatype is None:
        images += np.random.default_rng(5).normal(0, 40, images.shape).astype(np.float32)
    result = build(network, file, tmp_path / "out", input_datatype=datatype, verify_inputs=images[:8])
    assert result.package is not None
    host = host_of(result.package)
    fed = host.before(images.astype(np.uint8) if datatype else {"image": images})
    ran = prepare_package(read_package(result.package), frames=len(images))
    given = ran.run({stream.layout.tensor: fed[stream.name] for stream in ran.design.inputs}).outputs
    found = host.behind({stream.name: given[stream.layout.tensor] for stream in ran.design.outputs})
    shaped = network.transform(InferShapes())
    expected = np.stack([execute_onnx(shaped, {"image": image})["logits"] for image in images])
    np.testing.assert_array_equal(found["logits"], expected)
    operators = [[node["operator"] for node in host.description[key]] for key in ("before", "behind")]
    assert operators[0] == (
        ["Transpose"] if datatype else ["Div", "Sub", "Div", "Transpose", "Div", "Add", "Quant"]
    )
    assert operators[1] == ["Mul", "Add"]
    assert result.report["targets"]["results"][-1]["agrees"] is True
