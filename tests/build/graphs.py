"""Small quantised networks, made in memory: real QONNX graphs for the tests of the build."""

from itertools import pairwise

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper

CUSTOM = "qonnx.custom_op.general"


def _quant(name, source, target, initializers, scale=0.25, bits=4.0, zero=0.0):
    for suffix, value in (("s", scale), ("z", zero), ("b", bits)):
        initializers[f"{name}_{suffix}"] = np.asarray(value, np.float32)
    return helper.make_node(
        "Quant",
        [source, f"{name}_s", f"{name}_z", f"{name}_b"],
        [target],
        name=name,
        domain=CUSTOM,
        signed=1,
        narrow=0,
        rounding_mode="ROUND",
    )


def _model(nodes, initializers, in_shape, out_shape, output):
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in initializers.items()]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, in_shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, out_shape)],
        initializer=tensors,
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(CUSTOM, 1)]
    return ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=opsets))


def quant_mlp(sizes=(6, 8, 3), seed=0, batch=1):
    """Return a fully connected network: 4-bit weights and activations, input (batch, sizes[0])."""
    rng = np.random.default_rng(seed)
    nodes, tensors, current = [], {}, "x"
    for at, (wide, high) in enumerate(pairwise(sizes)):
        nodes.append(_quant(f"act{at}", current, f"a{at}", tensors))
        tensors[f"w{at}"] = rng.normal(size=(wide, high)).astype(np.float32)
        nodes.append(_quant(f"weight{at}", f"w{at}", f"wq{at}", tensors))
        nodes.append(helper.make_node("MatMul", [f"a{at}", f"wq{at}"], [f"m{at}"], name=f"matmul{at}"))
        current = f"m{at}"
    return _model(nodes, tensors, [batch, sizes[0]], [batch, sizes[-1]], current)


def quant_cnn(seed=0):
    """Return a convolution with a classifier behind it: input (1, 2, 6, 6), output (1, 4)."""
    rng = np.random.default_rng(seed)
    tensors = {
        "w": rng.normal(size=(3, 2, 3, 3)).astype(np.float32),
        "f": rng.normal(size=(48, 4)).astype(np.float32),
        "shape": np.asarray([1, -1], np.int64),
    }
    nodes = [
        _quant("qx", "x", "xq", tensors),
        _quant("qw", "w", "wq", tensors),
        helper.make_node(
            "Conv",
            ["xq", "wq"],
            ["c"],
            name="conv",
            kernel_shape=[3, 3],
            strides=[1, 1],
            pads=[0, 0, 0, 0],
            dilations=[1, 1],
            group=1,
        ),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        _quant("qr", "r", "rq", tensors),
        helper.make_node("Reshape", ["rq", "shape"], ["flat"], name="reshape"),
        _quant("qf", "f", "fq", tensors),
        helper.make_node("MatMul", ["flat", "fq"], ["y"], name="fc"),
    ]
    return _model(nodes, tensors, [1, 2, 6, 6], [1, 4], "y")


def float_mlp():
    """Return a network without any quantisation."""
    weights = np.ones((6, 3), np.float32)
    return _model(
        [helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")], {"w": weights}, [1, 6], [1, 3], "y"
    )


def samples(model, count=40, seed=1):
    """Return random inputs for a model: (count, *input shape without its batch dimension)."""
    shape = model.get_tensor_shape("x")[1:]
    return np.random.default_rng(seed).normal(size=(count, *shape)).astype(np.float32)
