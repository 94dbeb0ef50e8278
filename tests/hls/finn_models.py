"""Models of single layers of FINN in HLS, made by hand, and samples for them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

DOMAIN = "finn.custom_op.fpgadataflow.hls"
SHAPE = (1, 3, 4)

ELEMENTWISE = {
    "AbsDiff": ("INT4", "INT5", "INT6"),
    "Add": ("INT4", "INT5", "INT6"),
    "And": ("BINARY", "BINARY", "BINARY"),
    "BitwiseAnd": ("UINT5", "UINT5", "UINT5"),
    "BitwiseOr": ("UINT5", "UINT5", "UINT5"),
    "BitwiseXor": ("UINT5", "UINT5", "UINT5"),
    "Equal": ("INT4", "INT4", "BINARY"),
    "Greater": ("INT4", "INT5", "BINARY"),
    "GreaterOrEqual": ("INT4", "INT5", "BINARY"),
    "Less": ("INT4", "INT5", "BINARY"),
    "LessOrEqual": ("INT4", "INT5", "BINARY"),
    "Max": ("INT4", "INT5", "INT5"),
    "Mul": ("INT4", "INT5", "INT9"),
    "Or": ("BINARY", "BINARY", "BINARY"),
    "Sub": ("INT4", "INT5", "INT6"),
    "Xor": ("BINARY", "BINARY", "BINARY"),
}
"""Operators with the datatypes of both inputs and the output."""


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def model_of(nodes, inputs, outputs, constants=None, datatypes=None, inner=None):
    """Make a model; tensors are given with their shapes."""
    graph = helper.make_graph(
        nodes,
        "model",
        [value(name, shape) for name, shape in inputs.items()],
        [value(name, shape) for name, shape in outputs.items()],
        [
            numpy_helper.from_array(np.asarray(values, np.float32), name)
            for name, values in (constants or {}).items()
        ],
        value_info=[value(name, shape) for name, shape in (inner or {}).items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    model = ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=9))
    for name, datatype in (datatypes or {}).items():
        model.set_tensor_datatype(name, DataType[datatype])
    return model


def layer(op_type, inputs, outputs, constants=None, datatypes=None, **attributes):
    """Make a model of one layer."""
    names = [*inputs, *(constants or {})]
    node = helper.make_node(
        op_type,
        names,
        list(outputs),
        name=f"{op_type}_0",
        domain=DOMAIN,
        backend="fpgadataflow",
        **attributes,
    )
    return model_of([node], inputs, outputs, constants, datatypes)


def elementwise_node(operator, inputs, output, datatypes, rhs_shape=SHAPE, rhs="input", pe=2, **more):
    lhs_kind, rhs_kind, kind = datatypes
    return helper.make_node(
        f"Elementwise{operator}_hls",
        list(inputs),
        [output],
        name=f"{operator}_{output}",
        domain=DOMAIN,
        backend="fpgadataflow",
        lhs_shape=list(SHAPE),
        rhs_shape=list(rhs_shape),
        out_shape=list(SHAPE),
        lhs_dtype=lhs_kind,
        rhs_dtype=rhs_kind,
        out_dtype=kind,
        lhs_style="input",
        rhs_style=rhs,
        PE=pe,
        **more,
    )


def elementwise(operator, datatypes=None, rhs_shape=SHAPE, constant=None, **more):
    kinds = datatypes or ELEMENTWISE[operator]
    rhs = "input" if constant is None else "const"
    node = elementwise_node(operator, ("x", "k"), "y", kinds, rhs_shape, rhs, **more)
    inputs = {"x": SHAPE} | ({"k": rhs_shape} if constant is None else {})
    constants = None if constant is None else {"k": constant}
    return model_of([node], inputs, {"y": SHAPE}, constants, dict(zip("xky", kinds, strict=True)))


def label_select():
    kinds = {"inputDataType": "INT8", "outputDataType": "UINT8"}
    return layer(
        "LabelSelect_hls", {"x": (1, 10)}, {"y": (1, 1)}, None, {"x": "INT8", "y": "UINT8"},
        Labels=10, PE=1, K=1, numInputVectors=[1], **kinds,
    )  # fmt: skip


def lookup(entries=16):
    table = np.random.default_rng(0).integers(-8, 8, (entries, 8))
    return layer(
        "Lookup_hls", {"x": (1, 6)}, {"y": (1, 6, 8)}, {"table": table},
        {"x": "UINT4", "y": "INT4", "table": "INT4"},
        NumEmbeddings=entries, EmbeddingDim=8, EmbeddingType="INT4", InputType="UINT4", InputShape=[1, 6],
        mem_mode="internal_embedded",
    )  # fmt: skip


def requant():
    generator = np.random.default_rng(0)
    constants = {"scale": generator.uniform(0.1, 1, 4), "bias": generator.normal(size=4)}
    return layer(
        "Requant_hls", {"x": SHAPE}, {"y": SHAPE}, constants, {"x": "INT8", "y": "INT4"},
        NumChannels=4, PE=2, inputDataType="INT8", outputDataType="INT4", numInputVectors=[1, 3],
    )  # fmt: skip


def squeeze():
    return layer(
        "Squeeze_hls", {"x": (1, 3, 1, 4)}, {"y": SHAPE}, None, {"x": "INT4", "y": "INT4"},
        inp_shape=[1, 3, 1, 4], out_shape=list(SHAPE), inp_dtype="INT4", out_dtype="INT4", PE=2,
    )  # fmt: skip


def unsqueeze():
    return layer(
        "Unsqueeze_hls", {"x": SHAPE}, {"y": (1, 3, 1, 4)}, None, {"x": "INT4", "y": "INT4"},
        inp_shape=list(SHAPE), out_shape=[1, 3, 1, 4], inp_dtype="INT4", out_dtype="INT4", PE=2,
    )  # fmt: skip


def replicate():
    return layer(
        "ReplicateStream_hls", {"x": (3, 4)}, {"y": (3, 4), "z": (3, 4)}, None, dict.fromkeys("xyz", "INT4"),
        num=2, dtype="INT4", num_elems=4, num_inputs=[3], PE=2,
    )  # fmt: skip


def samples(model, count, seed=0):
    """Return random stacks of a model's inputs, by name."""
    generator = np.random.default_rng(seed)
    found = {}
    for one in model.graph.input:
        kind = model.get_tensor_datatype(one.name)
        size = (count, *model.get_tensor_shape(one.name))
        if kind.is_integer():
            drawn = generator.integers(int(kind.min()), int(kind.max()) + 1, size)
        else:
            drawn = generator.normal(size=size)
        found[one.name] = drawn.astype(np.float32)
    return found
