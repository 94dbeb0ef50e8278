"""host.py of a package: it needs numpy alone, and each operator gives what QONNX's and ONNX Runtime's give, bit by bit."""

import ast
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.general.intquant import int_quant
from qonnx.transformation.infer_shapes import InferShapes

from brainsmith.rtl.package.bench.host_functions import INEXACT, OPERATORS, ROUNDING, HostFunctions, quantised
from brainsmith.rtl.package.host_description import host_description
from brainsmith.rtl.package.pack import BENCH_FILES

QONNX = "qonnx.custom_op.general"
PARTITION = ("StreamingDataflowPartition", "finn.custom_op.fpgadataflow")

NORMALISED = [np.asarray(v) for v in ([1.1, -2, 3], [0.1, 0, 1], [0.3, 2, 1], [1, 0.7, 4])]

# Operator, shape of one frame, further operands, attributes.
CASES = [
    ("Add", (1, 3, 2), [np.asarray([[0.1], [0.2], [0.3]])], {}),
    ("ArgMax", (1, 7), [], {"axis": 1, "keepdims": 0}),
    ("ArgMax", (1, 7), [], {"axis": -1}),
    ("BatchNormalization", (1, 3, 2, 2), NORMALISED, {"epsilon": 1e-3}),
    ("BipolarQuant", (1, 5), [np.asarray(0.3)], {}),
    ("Cast", (1, 5), [], {"to": TensorProto.FLOAT}),
    ("Clip", (1, 5), [np.asarray(-0.4), np.asarray(0.9)], {}),
    ("Div", (1, 3, 2, 2), [np.asarray([0.229, 0.224, 0.225]).reshape(3, 1, 1)], {}),
    ("Elu", (1, 5), [], {"alpha": 0.7}),
    ("Exp", (1, 5), [], {}),
    ("Flatten", (1, 3, 2), [], {"axis": 1}),
    ("Flatten", (1, 3, 2), [], {"axis": -1}),
    ("Gather", (1, 4), [np.asarray([3, 0, 2, 1])], {"axis": 1}),
    ("Identity", (1, 4), [], {}),
    ("LeakyRelu", (1, 9), [], {"alpha": 0.1}),
    ("LogSoftmax", (1, 9), [], {}),
    ("Mul", (2, 3), [np.asarray([0.1, 0.2, 0.3])], {}),
    ("Neg", (2, 3), [], {}),
    ("PRelu", (1, 3, 2, 2), [np.asarray([0.1, -0.3, 2.0]).reshape(3, 1, 1)], {}),
    ("Quant", (1, 9), [np.asarray(v) for v in (0.3, 2.0, 4.0)], {"signed": 1, "narrow": 1, "rounding_mode": "FLOOR"}),
    ("Relu", (1, 9), [], {}),
    ("Reshape", (1, 6), [np.asarray([0, 2, -1])], {}),
    ("Sigmoid", (1, 9), [], {}),
    ("Softmax", (2, 3, 2), [], {"axis": 1}),
    ("Softplus", (1, 9), [], {}),
    ("Squeeze", (1, 3, 1), [np.asarray([0, 2])], {}),
    ("Squeeze", (1, 3, 1), [], {}),
    ("Sub", (1, 3, 2, 2), [np.asarray([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1)], {}),
    ("Tanh", (1, 9), [], {}),
    ("TopK", (1, 9), [np.asarray([2])], {}),
    ("TopK", (1, 9), [np.asarray([3])], {"largest": 0}),
    ("Transpose", (1, 2, 3, 4), [], {"perm": [0, 2, 3, 1]}),
    ("Transpose", (2, 3), [], {}),
    ("Unsqueeze", (1, 3), [np.asarray([-1])], {}),
]  # fmt: skip


def test_it_needs_numpy_alone():
    tree = ast.parse((BENCH_FILES / "host_functions.py").read_text("utf-8"))
    found = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert found == {"__future__", "json", "pathlib", "typing", "numpy"}


def test_each_operator_has_a_case():
    assert set(OPERATORS) - {op_type for op_type, *_ in CASES} == {
        "Sqrt"
    }  # of negative numbers there is none
    assert set(INEXACT) <= set(OPERATORS)


def network(op_type, shape, operands, attributes, behind):
    """Return a parent model whose host part is one node in front of, or behind, an accelerator of the same integers."""
    tensors = [
        numpy_helper.from_array(np.asarray(v, np.int64 if v.dtype.kind == "i" else np.float32), f"c{at}")
        for at, v in enumerate(operands)
    ]
    names = [tensor.name for tensor in tensors]
    domain = QONNX if op_type.endswith("Quant") else ""
    results = ["values", "y"] if op_type == "TopK" else ["y"]
    node = helper.make_node(op_type, ["x", *names], results, domain=domain, **attributes)
    kind = TensorProto.INT64 if op_type in ("TopK", "ArgMax") else TensorProto.FLOAT
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("y", kind, None),
    ]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid(QONNX, 1)]

    def wrapped(nodes, ins, outs):
        graph = helper.make_graph(nodes, "host", ins, outs, tensors)
        return ModelWrapper(helper.make_model(graph, opset_imports=opsets, ir_version=8))

    alone = wrapped([node], ends[:1], ends[1:]).transform(InferShapes())
    given = ends[0] if behind else alone.graph.output[0]
    if behind:
        node.input[0] = "taken"
        taken = helper.make_node(PARTITION[0], ["x"], ["taken"], domain=PARTITION[1])
        parent = wrapped([taken, node], ends[:1], [alone.graph.output[0]])
        parent.set_tensor_shape("taken", list(shape))
    else:
        taken = helper.make_node(PARTITION[0], ["y"], ["taken"], domain=PARTITION[1])
        out = helper.make_tensor_value_info("taken", kind, alone.get_tensor_shape("y"))
        parent = wrapped([node, taken], ends[:1], [out])
        parent.set_tensor_shape("y", alone.get_tensor_shape("y"))
    return alone, parent, given


class OneStream:
    """What a description needs of a design whose one input and one output carry a tensor."""

    def __init__(self, shape, fed, given):
        from brainsmith.rtl.stitching.design import Layout

        self.inputs = (Stream(fed, Layout("taken", tuple(shape), 1, 8, True)),)
        self.outputs = (Stream(given, Layout("taken", tuple(shape), 1, 8, True)),)


class Stream:
    def __init__(self, name, layout):
        self.name, self.layout = name, layout


@pytest.mark.parametrize(("op_type", "shape", "operands", "attributes"), CASES)
def test_an_operator_behind_the_accelerator_gives_what_the_network_gives(
    op_type, shape, operands, attributes, tmp_path
):
    alone, parent, _ = network(op_type, shape, operands, attributes, behind=True)
    description = host_description(OneStream(shape, "s_axis_0", "m_axis_0"), parent)
    (tmp_path / "host.json").write_text(json.dumps(description))
    samples = np.random.default_rng(0).integers(-6, 7, (12, *shape)).astype(np.float32)
    found = HostFunctions(tmp_path / "host.json").behind({"m_axis_0": samples})
    expected = np.stack([execute_onnx(alone, {"x": one})["y"] for one in samples])
    (name,) = found
    assert (name, found[name].dtype, found[name].shape) == ("y", expected.dtype, expected.shape)
    assert description["inexact"] == [op_type] * (op_type in INEXACT)
    if op_type in INEXACT:
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-7)
    else:
        np.testing.assert_array_equal(found[name], expected)


def test_what_the_accelerator_takes_is_whole_and_in_range(tmp_path):
    operands = [np.asarray(v) for v in (0.5, 0.0, 8.0)]
    _, parent, _ = network(
        "Quant", (1, 4), operands, {"signed": 1, "narrow": 0, "rounding_mode": "ROUND"}, False
    )
    parent.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.asarray(1.0, np.float32), "c0"))
    description = host_description(OneStream((4,), "s_axis_0", "m_axis_0"), parent)
    (tmp_path / "host.json").write_text(json.dumps(description))
    host = HostFunctions(tmp_path / "host.json")
    taken = host.before(np.asarray([[[0.5, 1.5, -300, 7]]]))["s_axis_0"]
    assert (taken.dtype, taken.tolist()) == (np.int8, [[0, 2, -128, 7]])
    assert description["accelerator"]["inputs"] == [
        {
            "stream": "s_axis_0", "tensor": "y", "tensor_shape": [1, 4], "shape": [4], "datatype": "INT8",
            "range": [-128, 127], "dtype": "int8",
            "quantiser": {
                "scale": [1.0], "zero_point": 0.0, "bits": 8.0, "signed": 1, "narrow": 0, "rounding_mode": "ROUND",
            },
        }
    ]  # fmt: skip
    host.description["before"] = []
    host.description["accelerator"]["inputs"][0]["tensor"] = host.description["inputs"][0]["tensor"]
    with pytest.raises(
        ValueError, match=r"s_axis_0 takes whole numbers from -128 to 127, not 0.5 at \[0, 0, 1\]"
    ):
        host.before(np.asarray([[[3, 0.5, 0, 0]]]))
    with pytest.raises(
        ValueError, match=r"s_axis_0 takes whole numbers from -128 to 127, not 128.0 at \[0, 0, 0\]"
    ):
        host.before(np.asarray([[[128, 0, 0, 0]]]))


@given(
    st.sampled_from(sorted(ROUNDING)), st.integers(1, 8), st.booleans(), st.booleans(), st.integers(-4, 4),
    st.sampled_from([0.5, 1.0, 0.3, -0.25]), st.lists(st.floats(-20, 20, width=32), min_size=1, max_size=30),
)  # fmt: skip
def test_a_quantiser_gives_qonnxs_own_levels(mode, bits, signed, narrow, zero, scale, values):
    x = np.asarray([*values, 0.75, 1.25, -0.25], np.float32)
    operands = [np.asarray(v, np.float32) for v in (scale, zero, bits)]
    expected = int_quant(x, *operands, int(signed), int(narrow), mode)
    found = quantised({"signed": int(signed), "narrow": int(narrow), "rounding_mode": mode}, x, *operands)
    np.testing.assert_array_equal(found, expected.astype(np.float32))
    assert found.dtype == np.float32


def test_an_operator_that_it_does_not_compute_is_named(tmp_path):
    _, parent, _ = network("Relu", (1, 4), [], {}, behind=True)
    parent.graph.node[1].op_type = "Erf"
    description = host_description(OneStream((1, 4), "s_axis_0", "m_axis_0"), parent)
    assert description["not_in_host_py"] == ["Erf"]
    (tmp_path / "host.json").write_text(json.dumps(description))
    with pytest.raises(
        NotImplementedError, match=r"host.py does not compute Erf: run intermediate_models/dataflow_"
    ):
        HostFunctions(tmp_path / "host.json").behind({"m_axis_0": np.zeros((1, 1, 4))})


def test_another_format_is_refused(tmp_path):
    (tmp_path / "host.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match="has the format 2, and 1 is expected"):
        HostFunctions(tmp_path / "host.json")
