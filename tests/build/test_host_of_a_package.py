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
    """Return the packed module's HostFunctions, imported from the package as a user would."""
    spec = importlib.util.spec_from_file_location("packed_host", package / "host.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.HostFunctions()


def check_in_every_bit(network, result, inputs):
    """Compare what the packed host functions and the simulated circuit give with the network itself; return the host."""
    assert result.package is not None
    host, package = host_of(result.package), read_package(result.package)
    fed = host.before(inputs)
    ran = prepare_package(package, frames=len(next(iter(fed.values()))))
    given = ran.run({stream.layout.tensor: fed[stream.name] for stream in ran.design.inputs}).outputs
    found = host.behind({stream.name: given[stream.layout.tensor] for stream in ran.design.outputs})
    shaped = network.transform(InferShapes())
    inputs = inputs if isinstance(inputs, dict) else {shaped.graph.input[0].name: inputs}
    for at in range(len(next(iter(inputs.values())))):
        feed = {name: values[at].astype(np.float32) for name, values in inputs.items()}
        expected = execute_onnx(shaped, feed)
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name][at], values)
    return host


def two_headed_network():
    """Return a network of floats, (1, 6), with the outputs `head` and `aux`; its arithmetic is exact."""
    rng = np.random.default_rng(0)
    nodes, constants = [], []

    def constant(value):
        constants.append(numpy_helper.from_array(np.asarray(value, np.float32), f"c{len(constants)}"))
        return constants[-1].name

    def node(op_type, *inputs, out="", domain="", **attributes):
        given = [one if isinstance(one, str) else constant(one) for one in inputs]
        out, name = out or f"t{len(nodes)}", f"n{len(nodes)}"
        nodes.append(helper.make_node(op_type, given, [out], name=name, domain=domain, **attributes))
        return out

    def quantised(source, scale, bits, signed=1):
        kind = {"signed": signed, "narrow": 0, "rounding_mode": "ROUND"}
        return node("Quant", source, scale, 0.0, float(bits), domain=CUSTOM, **kind)

    tail = node("MatMul", quantised("x", 0.5, 4), quantised(rng.normal(0, 1, (6, 8)), 0.5, 3))
    tail = quantised(node("Relu", tail), 1.0, 4, signed=0)
    for name, size in (("head", 3), ("aux", 2)):
        node("MatMul", tail, quantised(rng.normal(0, 1, (8, size)), 0.5, 3), out=name)
    graph = helper.make_graph(
        nodes,
        "heads",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 6])],
        [
            helper.make_tensor_value_info("head", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("aux", TensorProto.FLOAT, [1, 2]),
        ],
        constants,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=8))


@pytest.mark.slow
def test_two_outputs_of_an_exact_network_of_floats(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(BLUEPRINT)
    inputs = np.random.default_rng(4).normal(0, 2, (30, 1, 6)).astype(np.float32)
    network = two_headed_network()
    result = build(network, file, tmp_path / "out", verify_inputs=inputs[:8])
    host = check_in_every_bit(network, result, inputs)
    assert [one["stream"] for one in host.description["accelerator"]["outputs"]] == ["m_axis_0", "m_axis_1"]


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
    host = check_in_every_bit(network, result, images.astype(np.uint8) if datatype else images)
    operators = [[node["operator"] for node in host.description[key]] for key in ("before", "behind")]
    assert operators[0] == (
        ["Transpose"] if datatype else ["Div", "Sub", "Div", "Transpose", "Div", "Add", "Quant"]
    )
    assert operators[1] == ["Mul", "Add"]
    assert result.report["targets"]["results"][-1]["agrees"] is True


def two_armed_network():
    """Return a network of the inputs `image`, (1, 6), and `mask`, (1, 5), whose arithmetic is exact."""
    rng = np.random.default_rng(1)
    nodes, constants = [], []

    def constant(value):
        constants.append(numpy_helper.from_array(np.asarray(value, np.float32), f"c{len(constants)}"))
        return constants[-1].name

    def node(op_type, *inputs, out="", **attributes):
        given = [one if isinstance(one, str) else constant(one) for one in inputs]
        out, name = out or f"t{len(nodes)}", f"n{len(nodes)}"
        domain = CUSTOM if op_type == "Quant" else ""
        nodes.append(helper.make_node(op_type, given, [out], name=name, domain=domain, **attributes))
        return out

    def quantised(source, scale, bits):
        return node("Quant", source, scale, 0.0, float(bits), signed=1, narrow=0, rounding_mode="ROUND")

    arms = [
        quantised(node("MatMul", source, quantised(rng.normal(0, 1, (size, 8)), 0.5, 3)), 1.0, 4)
        for source, size in ((node("Div", "image", 64.0), 6), ("mask", 5))
    ]
    tail = quantised(node("Add", *arms), 1.0, 4)
    node("MatMul", tail, quantised(rng.normal(0, 1, (8, 3)), 0.5, 3), out="y")
    ends = [("image", [1, 6]), ("mask", [1, 5]), ("y", [1, 3])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends]
    graph = helper.make_graph(nodes, "arms", values[:2], values[2:], constants)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
    return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=8))


@pytest.mark.slow
def test_two_inputs_with_datatypes_of_their_own(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(BLUEPRINT + "  inputs: {image: {datatype: UINT8}, mask: {datatype: INT2}}\n")
    rng = np.random.default_rng(4)
    inputs = {"image": rng.integers(0, 256, (30, 1, 6)), "mask": rng.integers(-2, 2, (30, 1, 5))}
    network = two_armed_network()
    golden = {name: values[:8] for name, values in inputs.items()}
    result = build(network, file, tmp_path / "out", verify_inputs=golden)
    host = check_in_every_bit(network, result, inputs)
    streams = host.description["accelerator"]["inputs"]
    assert [(one["stream"], one["datatype"]) for one in streams] == [
        ("s_axis_0", "UINT8"),
        ("s_axis_1", "INT2"),
    ]
    assert result.report["targets"]["results"][-1]["agrees"] is True
    assert result.report["golden"]["generated"] > 20
