"""The ONNX node that a primitive says it is computes what the primitive computes, in every opset that it allows."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.op import attributes_of
from brainsmith.autodiff.primitives import elementwise as e
from brainsmith.autodiff.primitives import gathers as c
from brainsmith.autodiff.primitives import movements as s
from brainsmith.autodiff.primitives import normalisations as n
from brainsmith.autodiff.primitives import products as p
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE as E
from brainsmith.autodiff.primitives.onnx_form import OnnxCall, OnnxForm
from brainsmith.autodiff.primitives.reductions import REDUCTIONS as R
from brainsmith.errors import OpError

OPSETS = [11, 13, 17, 18]
random = np.random.default_rng(7)
X = random.uniform(-2, 2, (2, 3, 4)).astype(np.float32)
Y = random.uniform(-2, 2, (3, 1)).astype(np.float32)
POSITIVE = np.abs(X) + 0.25
TRUTH = X > 0
CASES = [
    *[
        (op, [X], {})
        for op in (
            E["neg"],
            E["exp"],
            E["abs"],
            E["sin"],
            E["cos"],
            E["tanh"],
            E["sigmoid"],
            E["erf"],
            E["relu"],
        )
    ],
    *[(op, [X], {}) for op in (E["round"], E["floor"], E["sign"])],
    *[(op, [POSITIVE], {}) for op in (E["log"], E["sqrt"])],
    *[(op, [X, Y], {}) for op in (E["add"], E["sub"], E["mul"], E["div"], E["maximum"], E["minimum"])],
    *[(op, [X, Y], {}) for op in (E["greater"], E["less"], E["greater_equal"], E["less_equal"], E["equal"])],
    *[(op, [TRUTH, Y > 0], {}) for op in (E["logical_and"], E["logical_or"])],
    (E["logical_not"], [TRUTH], {}),
    (E["pow"], [POSITIVE, Y], {}),
    (E["round"], [np.array([0.5, 1.5, -0.5, 2.5], np.float32)], {}),
    (p.MATMUL, [X, X[0].T.copy()], {}),
    *[
        (op, [X], {"axis": axis, "keepdims": keepdims})
        for op in (R["sum"], R["mean"], R["max"], R["min"])
        for axis, keepdims in ((None, False), (-1, True), ((0, 2), False))
    ],
    (s.RESHAPE, [X], {"shape": (6, -1)}),
    (s.TRANSPOSE, [X], {}),
    (s.TRANSPOSE, [X], {"axes": (1, -1, 0)}),
    (s.SLICE, [X], {"starts": (1, 3), "stops": (2, None), "axes": (0, 2), "steps": (1, -2)}),
    (s.SLICE, [X], {"starts": (2,), "stops": (0,), "axes": (1,), "steps": (-1,)}),
    (s.EXPAND_DIMS, [X], {"axis": (1, -1)}),
    (s.EXPAND_DIMS, [X], {"axis": 0}),
    (s.SQUEEZE, [X[:, None]], {"axis": 1}),
    (s.SQUEEZE, [X[:, None, :, :, None]], {"axis": (-1, 1)}),
    (s.EXPAND, [Y], {"shape": (2, 3, 4)}),
    (s.PAD, [X], {"widths": ((0, 0), (1, 2), (3, 0))}),
    (s.concat_of(2), [X, X[:, :1]], {"axis": -2}),
    (e.CLIP, [X], {"low": -1, "high": 0.5}),
    (e.CLIP, [X], {"high": 0.5}),
    (e.CLIP, [X], {"low": 0}),
    (e.WHERE, [TRUTH, X, Y], {}),
    (e.CAST, [X], {"dtype": "int32"}),
    (c.ARGMAX, [X], {"axis": 1}),
    (c.ARGMAX, [np.ones((2, 3), np.float32)], {"keepdims": True}),
    (c.GATHER, [X, np.array([[1, 0], [-1, 1]])], {"axis": -1}),
    (c.GATHER_ND, [X, np.array([[0, 2], [1, -1]])], {}),
    (n.SOFTMAX, [X], {}),
    (n.LOG_SOFTMAX, [X], {"axis": 2}),
    (n.SOFTMAX, [X], {"axis": 0}),
    (n.LAYER_NORM, [X, np.full(4, 1.5, np.float32), np.arange(4, dtype=np.float32)], {"epsilon": 1e-3}),
]


def run_node(node, inputs, expected, opset):
    """One node as a model, checked, and run by onnxruntime."""
    given = {f"in{at}": array for at, array in enumerate(inputs)}
    constants = {f"constant{at}": array for at, array in enumerate(node.constants) if array is not None}
    after = [f"constant{at}" if f"constant{at}" in constants else "" for at in range(len(node.constants))]
    made = helper.make_node(node.op_type, [*given, *after], ["out"], domain=node.domain, **node.attributes)
    graph = helper.make_graph(
        [made],
        "one_node",
        [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in given.items()
        ],
        [
            helper.make_tensor_value_info(
                "out", helper.np_dtype_to_tensor_dtype(expected.dtype), expected.shape
            )
        ],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, given)[0]


@pytest.mark.slow
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(
    ("op", "inputs", "attributes"), CASES, ids=[f"{case[0].name}-{case[2]}" for case in CASES]
)
def test_the_node_computes_the_same(op, inputs, attributes, opset):
    whole = attributes_of(op, attributes)
    call = OnnxCall(whole, tuple(array.shape for array in inputs), opset, inputs[0].dtype)
    expected = call_op(op, inputs, attributes)
    try:
        node = op.onnx.node(call)
    except OpError as error:
        assert opset < 17, "the newest opsets write every primitive"
        assert f"opset {opset}" in str(error) or f"not {opset}" in str(error)
        return
    found = run_node(node, inputs, expected, opset)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (
            n.LAYER_NORM,
            [X, Y, Y],
            "ONNX's LayerNormalization needs opset 17 or newer, not 11",
        ),
        (
            n.SOFTMAX,
            [X],
            "the ONNX operators Softmax and LogSoftmax are over one axis since opset 13; for opset 11 it must be the "
            "last one, not 0 of 3 axes",
        ),
    ],
)
def test_an_opset_that_is_too_old_is_refused(op, inputs, message):
    attributes = {"axis": 0} if op is n.SOFTMAX else {}
    call = OnnxCall(attributes_of(op, attributes), tuple(array.shape for array in inputs), 11)
    with pytest.raises(OpError) as caught:
        op.onnx.node(call)
    assert str(caught.value) == message


def test_what_opset_11_cannot_say_is_known():
    """FINN and QONNX write opset 11."""
    late = {op.name for op, _, _ in CASES if op.onnx.since > 11}
    assert late == {"greater_equal", "less_equal", "layer_norm"}


def test_a_form_without_functions_is_the_operator_alone():
    node = OnnxForm("Custom", domain="acme").node(OnnxCall({}, ((2,),), 11))
    assert (node.op_type, node.domain, dict(node.attributes), node.constants) == ("Custom", "acme", {}, ())


INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("name", ["bool", *INTEGERS, "float16", "float32", "float64"])
def test_a_cast_names_every_dtype_by_its_number_in_onnx(name):
    to = e.CAST.onnx.node(OnnxCall({"dtype": name}, ((2,),), 17)).attributes["to"]
    assert TensorProto.DataType.Name(to).lower() == {"float32": "float", "float64": "double"}.get(name, name)
