"""ONNX's operators as programs and as standard ONNX, against QONNX's own execution: exactly, or within 1e-6.

Each case is (operator, inputs, attributes); one table serves both forms, and `test_ends.py`.
"""

import platform

import numpy as np
import pytest
from onnx import helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.operators.readers import readers
from tests.execution.onnx.rewritten import run_rewritten
from tests.execution.program.one_node import expected, floats_of, functions, model_of, program_of, stacks_of
from tests.execution.program.single_node import assert_same_bits

F = np.float32


def floats(*shape, seed=5):
    return np.random.default_rng(seed).normal(size=shape).astype(F)


def whole(*shape, seed=5, low=-8, high=8):
    return np.random.default_rng(seed).integers(low, high, shape, endpoint=True).astype(F)


def longs(*values):
    return np.asarray(values, np.int64)


GRUS = {"w": (1, 6, 4), "r": (1, 6, 2), "v": (1, 9, 2), "s": (1, 9, 3)}
IMAGE, ROWS, LISTS = (1, 4, 6, 6), (2, 3), (2, 3, 4)


def channels(count):
    """Return the parameters of a normalisation."""
    return {"s": floats(count) + 2, "b": floats(count), "m": floats(count), "v": np.abs(floats(count)) + 1}


CHANNELS = channels(4)

EXACT = [
    ("Add", {"x": (1, 3), "c": floats(3)}, {}),
    ("Add", {"x": (3,), "z": (2, 3)}, {}),
    ("Add", {"x": (1, 3), "c": floats(2, 1, 3)}, {}),
    ("Sub", {"c": floats(3), "x": (1, 3)}, {}),
    ("Mul", {"x": (1, 2, 3), "c": floats(2, 1)}, {}),
    ("Div", {"x": (1, 3), "c": floats(3)}, {}),
    ("Div", {"x": ((1, 5), np.int64), "c": longs(2, -3, 4, 7, -1)}, {}),
    ("Max", {"x": (1, 3), "z": (3,), "c": floats(1)}, {}),
    ("Min", {"x": (1, 3), "c": floats(3)}, {}),
    ("Sum", {"x": (1, 3), "z": (1, 3), "c": floats(3)}, {}),
    ("Greater", {"x": (1, 3), "c": floats(3)}, {}),
    ("LessOrEqual", {"x": (1, 3), "z": (1, 3)}, {}),
    ("Equal", {"x": ((1, 3), np.int64), "c": longs(1, 2, 3)}, {}),
    ("And", {"x": ((1, 3), bool), "z": ((1, 3), bool)}, {}),
    ("Not", {"x": ((1, 3), bool)}, {}),
    ("Where", {"x": ((1, 3), bool), "a": (1, 3), "c": floats(3)}, {}),
    ("Pow", {"x": (1, 3), "c": np.asarray(2, F)}, {}),
    *[(name, {"x": (1, 4)}, {}) for name in ("Abs", "Ceil", "Floor", "Neg", "Round", "Sign", "Relu", "Identity")],
    ("LeakyRelu", {"x": (1, 4)}, {"alpha": 0.3}),
    ("PRelu", {"x": (1, 4, 2), "c": floats(4, 1)}, {}),
    ("Clip", {"x": (1, 4), "l": np.asarray(-1, F), "h": np.asarray(2, F)}, {}),
    ("Clip", {"x": (1, 4), "l": None, "h": np.asarray(2, F)}, {}),
    ("Cast", {"x": (1, 4)}, {"to": 7}),
    ("Cast", {"x": ((1, 4), np.int64)}, {"to": 1}),
    ("BatchNormalization", {"x": (1, 4, 3, 2), **CHANNELS}, {"epsilon": 1e-4}),
    ("BatchNormalization", {"x": (1, 40, 3, 2), **channels(40)}, {"epsilon": 1e-3}),
    ("QuantizeLinear", {"x": (1, 9), "s": np.asarray(0.25, F), "z": np.asarray(3, np.uint8)}, {}),
    ("QuantizeLinear", {"x": (2, 3, 4), "s": np.asarray([0.01, 0.3, 7], F), "z": np.asarray([0, -9, 4], np.int8)}, {}),
    ("QuantizeLinear", {"x": (2, 3), "s": np.asarray(0.03, F)}, {}),
    ("DequantizeLinear", {"x": ((1, 9), np.uint8), "s": np.asarray(0.3, F), "z": np.asarray(3, np.uint8)}, {}),
    ("DequantizeLinear", {"x": ((2, 4, 2), np.int8), "s": np.asarray([0.01, 7], F), "z": np.asarray([-9, 4], np.int8)},
     {"axis": 2}),
    ("Reshape", {"x": (1, 4, 3), "c": longs(2, -1)}, {}),
    ("Flatten", {"x": (1, 4, 3)}, {"axis": 2}),
    ("Squeeze", {"x": (1, 4, 1), "c": longs(2)}, {}),
    ("Unsqueeze", {"x": (1, 4), "c": longs(0, 3)}, {}),
    ("Transpose", {"x": (1, 4, 3)}, {"perm": [2, 0, 1]}),
    ("Transpose", {"x": (1, 4, 3)}, {}),
    ("Expand", {"x": (4, 1), "c": longs(2, 4, 3)}, {}),
    ("Tile", {"x": (1, 2), "c": longs(2, 3)}, {}),
    ("Concat", {"x": (1, 2), "c": floats(1, 3), "z": (1, 1)}, {"axis": -1}),
    ("Slice", {"x": (1, 6), "a": longs(-2), "b": longs(-20), "c": longs(1), "d": longs(-2)}, {}),
    ("Slice", {"x": (3, 6), "a": longs(1, 2), "b": longs(3, 100)}, {}),
    ("Pad", {"x": (1, 1, 3, 4), "p": longs(0, 0, 1, 0, 0, 0, 2, 3), "v": np.asarray(5, F)}, {}),
    ("Pad", {"x": (1, 1, 3, 4), "p": longs(0, 0, 1, 0, 0, 0, 2, 3)}, {"mode": "reflect"}),
    ("Pad", {"x": (1, 1, 3, 4), "p": longs(0, 0, 1, 0, 0, 0, 2, 3)}, {"mode": "edge"}),
    ("Gather", {"x": (1, 4, 2), "c": longs(3, -4, 1)}, {"axis": 1}),
    ("Gather", {"x": (3, 2), "c": np.asarray(1)}, {"axis": 0}),
    ("Gather", {"c": floats(9, 3), "x": ((1, 2), np.int64)}, {"axis": 0}),
    ("DepthToSpace", {"x": (1, 8, 2, 3)}, {"blocksize": 2}),
    ("DepthToSpace", {"x": (1, 8, 2, 3)}, {"blocksize": 2, "mode": "CRD"}),
    ("SpaceToDepth", {"x": (1, 2, 4, 6)}, {"blocksize": 2}),
    ("MaxPool", {"x": (1, 2, 7, 6)}, {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    ("MaxPool", {"x": (1, 2, 7)}, {"kernel_shape": [3], "strides": [3], "ceil_mode": 1}),
    ("MaxPool", {"x": (1, 2, 7, 7)}, {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("MaxPool", {"x": (1, 1, 7, 7)}, {"kernel_shape": [2, 2], "dilations": [2, 1]}),
    ("GlobalMaxPool", {"x": (1, 2, 3, 3)}, {}),
    ("Resize", {"x": (1, 2, 3, 3), "r": None, "s": np.asarray([1, 1, 2, 3], F)}, {"mode": "nearest"}),
    ("ReduceMax", {"x": (1, 3, 4)}, {"axes": [1, -1]}),
    ("ReduceMin", {"x": (1, 3, 4)}, {"axes": [2], "keepdims": 0}),
    ("ArgMax", {"x": (1, 6)}, {"axis": 1}),
    ("ArgMax", {"x": (1, 6)}, {"axis": -1, "select_last_index": 1, "keepdims": 0}),
    ("ArgMin", {"x": (2, 6)}, {"axis": 0}),
    ("Reciprocal", {"x": (1, 6)}, {}),
    ("Add", {"x": LISTS, "c": floats(4)}, {}),
    ("Add", {"x": LISTS, "z": LISTS}, {}),
    ("Add", {"x": LISTS, "z": (3, 4)}, {}),
    ("Add", {"x": ROWS, "c": floats(2, 3)}, {}),
    ("Relu", {"x": LISTS}, {}),
    ("Clip", {"x": LISTS, "l": np.asarray(-0.5, F), "h": np.asarray(0.5, F)}, {}),
    ("Reshape", {"x": LISTS, "c": longs(6, -1)}, {}),
    ("Reshape", {"x": (1, 3, 4), "c": longs(3, 4)}, {}),
    ("Flatten", {"x": LISTS}, {"axis": 1}),
    ("Unsqueeze", {"x": LISTS, "c": longs(0)}, {}),
    ("Squeeze", {"x": (1, 3, 4), "c": longs(0)}, {}),
    ("Transpose", {"x": LISTS}, {"perm": [0, 2, 1]}),
    ("Transpose", {"x": LISTS}, {"perm": [1, 0, 2]}),
    ("Transpose", {"x": LISTS}, {}),
    ("Gather", {"x": LISTS, "c": longs(2, 0)}, {"axis": 1}),
    ("Gather", {"x": LISTS, "c": longs(1)}, {"axis": 0}),
    ("Gather", {"c": floats(3, 9), "x": (ROWS, np.int64)}, {"axis": 1}),
    ("Pad", {"x": LISTS, "p": longs(0, 1, 0, 0, 2, 1)}, {}),
    ("Pad", {"x": ROWS, "p": longs(1, 0, 0, 0)}, {}),
    ("Slice", {"x": LISTS, "a": longs(1), "b": longs(3), "c": longs(2)}, {}),
    ("Slice", {"x": LISTS, "a": longs(-1), "b": longs(-9), "c": longs(0), "d": longs(-1)}, {}),
    ("Concat", {"x": LISTS, "z": LISTS}, {"axis": 1}),
    ("Concat", {"x": LISTS, "z": LISTS}, {"axis": 0}),
    ("Concat", {"x": (1, 2), "c": floats(1, 2)}, {"axis": 1}),
    ("Split", {"x": LISTS, "c": longs(3)}, {"axis": 1}),
    ("Split", {"x": LISTS, "c": longs(2)}, {"axis": 0}),
    ("DepthToSpace", {"x": IMAGE}, {"blocksize": 2}),
    ("Tile", {"x": LISTS, "c": longs(1, 2, 1)}, {}),
    ("Tile", {"x": LISTS, "c": longs(2, 1, 3)}, {}),
    ("Expand", {"x": (3, 1), "c": longs(2, 3, 4)}, {}),
    ("Resize", {"x": IMAGE, "r": None, "s": np.asarray([1, 1, 2, 2], F)}, {"mode": "nearest"}),
    ("MaxPool", {"x": IMAGE}, {"kernel_shape": [2, 2]}),
    ("ReduceMax", {"x": LISTS}, {"axes": [0]}),
]  # fmt: skip

SUMS = [
    ("MatMul", {"x": (1, 5), "c": whole(5, 3)}, {}),
    ("MatMul", {"x": (2, 3, 5), "c": whole(5, 3)}, {}),
    ("MatMul", {"x": (5,), "c": whole(5, 3)}, {}),
    ("MatMul", {"c": whole(3, 5), "x": (5, 2)}, {}),
    ("MatMul", {"x": (2, 3, 5), "z": (2, 5, 4)}, {}),
    ("MatMul", {"x": (3, 5), "z": (2, 5, 4)}, {}),
    ("MatMul", {"x": (2, 3, 5), "z": (5,)}, {}),
    ("MatMul", {"x": (1, 5), "c": whole(2, 5, 3)}, {}),
    ("Gemm", {"x": (2, 5), "c": whole(3, 5), "b": whole(3)}, {"transB": 1}),
    ("Gemm", {"x": (5, 2), "c": whole(5, 3)}, {"transA": 1}),
    ("Gemm", {"x": (2, 5), "c": whole(5, 3), "z": (3,)}, {"alpha": 2.0, "beta": 3.0}),
    ("Conv", {"x": (1, 2, 6, 5), "c": whole(4, 2, 3, 2), "b": whole(4)}, {"pads": [1, 0, 0, 1]}),
    ("Conv", {"x": (1, 2, 6, 5), "c": whole(4, 2, 3, 3)}, {"strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", {"x": (1, 4, 6, 6), "c": whole(6, 2, 3, 3)}, {"group": 2, "auto_pad": "SAME_LOWER"}),
    ("Conv", {"x": (1, 4, 6, 6), "c": whole(4, 1, 3, 3)}, {"group": 4}),
    ("Conv", {"x": (1, 4, 20, 20), "c": whole(3, 4, 1, 1)}, {}),
    ("Conv", {"x": (1, 2, 20, 20), "c": whole(3, 2, 2, 2)}, {}),
    ("Conv", {"x": (2, 3, 9), "c": whole(4, 3, 2)}, {}),
    ("ReduceSum", {"x": (1, 3, 4), "c": longs(-1)}, {}),
    ("ReduceSum", {"x": LISTS, "c": longs(-1)}, {}),
    ("ReduceSum", {"x": LISTS}, {"keepdims": 1}),
    ("ReduceSum", {"x": LISTS}, {"keepdims": 0}),
    ("MatMul", {"x": LISTS, "c": whole(4, 5)}, {}),
    ("MatMul", {"x": LISTS, "z": (2, 4, 3)}, {}),
    ("MatMul", {"c": whole(5, 4), "x": (2, 4, 3)}, {}),
    ("MatMul", {"x": ROWS, "z": (3, 2)}, {}),
    ("Gemm", {"x": (2, 4), "c": whole(4, 5), "b": whole(5)}, {}),
    ("Conv", {"x": IMAGE, "c": whole(5, 4, 3, 3)}, {"pads": [1, 1, 1, 1]}),
]  # fmt: skip

ROUNDED = [
    *[(name, {"x": (1, 40)}, {}) for name in ("Cos", "Exp", "Sigmoid", "Sin", "Tanh", "HardSigmoid")],
    ("Softmax", {"x": (2, 5)}, {"axis": 0}),
    ("LogSoftmax", {"x": (2, 5)}, {}),
    ("ReduceMean", {"x": (1, 3, 4)}, {"axes": [1], "keepdims": 0}),
    ("ReduceProd", {"x": (1, 3, 4)}, {}),
    ("AveragePool", {"x": (1, 2, 6, 6)}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", {"x": (1, 2, 6)}, {"kernel_shape": [3], "pads": [1, 1], "count_include_pad": 1}),
    ("GlobalAveragePool", {"x": (1, 2, 5, 5)}, {}),
    ("Pow", {"x": (1, 4), "c": np.asarray(3, F)}, {}),
    ("Mean", {"x": (1, 4), "z": (1, 4), "c": floats(4)}, {}),
    ("Softmax", {"x": LISTS}, {"axis": -1}),
    ("Softmax", {"x": LISTS}, {"axis": 0}),
    ("Softmax", {"x": LISTS}, {"opset": 11}),
    ("ReduceMean", {"x": LISTS}, {"axes": [1], "keepdims": 0}),
]  # fmt: skip

LEFT = [
    ("DequantizeLinear", {"x": ((2, 3), np.int32), "s": np.asarray([0.3, 2], F)}, {"axis": 0}),
    ("DequantizeLinear", {"x": ((2, 3), np.int32), "s": np.asarray(0.3, F)}, {}),
    ("QuantizeLinear", {"x": (2, 3), "s": np.asarray([0.3, 2], F)}, {"axis": 0}),
    ("Einsum", {"x": ROWS}, {"equation": "ij->ji"}),
    ("Erf", {"x": LISTS}, {}),
    ("Gather", {"x": LISTS, "z": ((2,), np.int64)}, {"axis": 1}),
    ("Pad", {"x": LISTS, "p": longs(2, -1), "v": np.asarray(3, F), "a": longs(-1)}, {"opset": 18}),
    ("Resize", {"x": IMAGE, "r": None, "s": None, "n": longs(1, 4, 12, 12)}, {"mode": "linear"}),
]  # fmt: skip
"""What programs leave to ONNX Runtime."""

MIXED = {
    "Add((1, 3), (2, 1, 3))": "input 'x' of shape (1, 3) is repeated along the first axis",
    "Add((2, 3), (2, 3))": "constant 'c' differs along the first axis",
    "Add((2, 3, 4), (3, 4))": "input 'z' of shape (3, 4) is repeated along the first axis",
    "Add((3,), (2, 3))": "input 'x' of shape (3,) is repeated along the first axis",
    "ArgMin((2, 6)){'axis': 0}": "it works along the first axis",
    "Concat((1, 2), (1, 2)){'axis': 1}": "constant 'c' has no runs",
    "Concat((1, 2), (1, 3), (1, 1)){'axis': -1}": "constant 'c' has no runs",
    "Concat((2, 3, 4), (2, 3, 4)){'axis': 0}": "it works along the first axis",
    "DequantizeLinear(((2, 3), <class 'numpy.int32'>), (2,)){'axis': 0}": "it works along the first axis",
    "Einsum((2, 3)){'equation': 'ij->ji'}": "nothing is known of how it treats its first axis",
    "Gather((2, 3, 4), ((2,), <class 'numpy.int64'>)){'axis': 1}": "its table must be a constant, but is computed",
    "Gather((3, 9), ((2, 3), <class 'numpy.int64'>)){'axis': 1}":
        "the axis of its table is not the first one",
    "Gemm((2, 5), (5, 3), (3,)){'alpha': 2.0, 'beta': 3.0}":
        "more than its first matrix holds runs, or this one is transposed",
    "Gemm((5, 2), (5, 3)){'transA': 1}": "more than its first matrix holds runs, or this one is transposed",
    "MatMul((1, 5), (2, 5, 3))": "its second matrix has a first axis of its own",
    "MatMul((2, 3), (3, 2))": "its second matrix is the run's own",
    "MatMul((2, 3, 5), (5,))": "its second matrix is the run's own",
    "MatMul((3, 5), (2, 5, 4))": "its matrices are repeated along the first axis",
    "MatMul((3, 5), (5, 2))": "its second matrix is the run's own",
    "MatMul((5,), (5, 3))": "its second matrix has a first axis of its own",
    "Max((1, 3), (3,), (1,))": "input 'z' of shape (3,) is repeated along the first axis",
    "QuantizeLinear((2, 3), (2,)){'axis': 0}": "it works along the first axis",
    "ReduceMax((2, 3, 4)){'axes': [0]}": "it reduces the first axis",
    "ReduceProd((1, 3, 4))": "it reduces the first axis",
    "ReduceSum((2, 3, 4)){'keepdims': 0}": "a result has no axis",
    "ReduceSum((2, 3, 4)){'keepdims': 1}": "it reduces the first axis",
    "Resize((1, 4, 6, 6), None, None, (4,)){'mode': 'linear'}":
        "it resizes the first axis, or to a stated size",
    "Softmax((2, 3, 4)){'axis': 0}": "it works along the first axis",
    "Softmax((2, 5)){'axis': 0}": "it works along the first axis",
    "Split((2, 3, 4), (1,)){'axis': 0}": "it works along the first axis",
}  # fmt: skip
"""Why a case takes one run at a time as standard ONNX; all others take all runs at once."""


OTHER_ENDS = {
    "ArgMax", "ArgMin", "GlobalMaxPool", "Max", "MaxPool", "Min", "PRelu", "QuantizeLinear", "ReduceMax",
    "ReduceMin", "TopK",
}  # fmt: skip
"""Of which NaN, infinities or signs of zeros come out in another way, unless the program is faithful."""


def identity(case):
    op_type, inputs, attributes = case
    told = [str(v.shape if isinstance(v, np.ndarray) else v) for v in inputs.values()]
    return f"{op_type}({', '.join(told)}){attributes or ''}"


def compare(case, make, tolerance, datatypes=None, faithful=False):
    op_type, inputs, attributes = case
    model = model_of(op_type, inputs, datatypes=datatypes, **attributes)
    stacks = make(model)
    program = program_of(model, faithful)
    forms = [program.run(stacks)]
    if not faithful:
        reason = MIXED.get(identity(case))
        assert rewrite(model).mixed == (f"node 'n' ({op_type}): {reason}" if reason else "")
        forms.append(run_rewritten(model, stacks))
    wanted = expected(model, stacks)
    for found in forms:
        assert list(found) == list(wanted)
        for name, reference in wanted.items():
            assert (found[name].dtype, found[name].shape) == (reference.dtype, reference.shape)
            np.testing.assert_allclose(
                found[name], reference, rtol=tolerance, atol=tolerance * largest(reference)
            )
    return program


def largest(values):
    """What the sums of a tensor are as large as: where terms cancel, an error is small beside them, not beside the rest."""
    return np.abs(values[np.isfinite(values)]).max(initial=1) if values.dtype.kind == "f" else 1


@pytest.mark.parametrize("case", EXACT, ids=identity)
def test_operators_that_are_exact(case):
    for make in (stacks_of, floats_of):
        assert not any(name.startswith("foreign") for name in functions(compare(case, make, 0)))
        left = functions(compare(case, make, 0, faithful=True)) == ["foreign.node"]
        assert left == (case[0] in OTHER_ENDS)


@pytest.mark.parametrize("case", SUMS, ids=identity)
def test_sums_of_whole_numbers_are_exact(case):
    varying = [name for name, value in case[1].items() if isinstance(value, tuple)]
    program = compare(case, stacks_of, 0, dict.fromkeys(varying, "INT8"), faithful=True)
    assert not any(name.startswith("foreign") for name in functions(program))
    compare(case, floats_of, 2e-6)


@pytest.mark.parametrize("case", ROUNDED, ids=identity)
def test_operators_that_round(case):
    program = compare(case, floats_of, 1e-6)
    assert not any(name.startswith("foreign") for name in functions(program))
    faithful = compare(case, floats_of, 0, faithful=True)
    assert functions(faithful) == ["foreign.node"]


@pytest.mark.parametrize("case", LEFT, ids=identity)
def test_operators_that_are_left_to_onnx_runtime(case):
    whole_table = case[0] == "Gather"  # whose numbers must name entries
    make = (lambda model: stacks_of(model, low=0, high=2)) if whole_table else floats_of
    assert functions(compare(case, make, 1e-6))[-1] == "foreign.node"


def test_the_table_of_reasons_names_cases():
    assert set(MIXED) <= {identity(case) for case in (*EXACT, *SUMS, *ROUNDED, *LEFT)}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.float64])
def test_products_are_computed_in_the_type_of_their_tensors(dtype):
    model = model_of("MatMul", {"x": ((2, 2), dtype), "z": ((2, 2), dtype)})
    values = np.asarray([[[4097, 1], [1, 1]]] * 2, dtype)
    found = program_of(model).run({"x": values, "z": values})["y"]
    assert found.dtype == dtype
    assert found[0].tolist() == [[16785410, 4098], [4098, 2]]
    np.testing.assert_array_equal(found, expected(model, {"x": values, "z": values})["y"])


@pytest.mark.parametrize(
    ("op_type", "shape", "weights"),
    [("Gemm", (2, 2), np.ones((2, 2))), ("Conv", (1, 1, 2, 2), np.ones((1, 1, 1, 1)))],
)
def test_a_product_of_another_type_with_constants_is_left_to_onnx_runtime(op_type, shape, weights):
    model = model_of(op_type, {"x": (shape, np.float64), "c": weights})
    stacks = {"x": np.full((2, *shape), 16777217.0)}
    assert functions(program_of(model)) == ["foreign.node"]
    if op_type == "Gemm":  # ONNX Runtime has no Conv of float64 on processors
        found = program_of(model).run(stacks)["y"]
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected(model, stacks)["y"])


SIGNED_ZEROS = [
    ("Relu", {"x": (1, 37)}, {}),
    ("Clip", {"x": (1, 37), "l": np.asarray(0, F), "h": np.asarray(1, F)}, {}),
    ("Clip", {"x": (1, 37), "l": np.asarray(-1, F), "h": np.asarray(0, F)}, {}),
    ("Conv", {"x": (1, 4, 3, 3), "c": whole(4, 1, 1, 1)}, {"group": 4}),
    ("LeakyRelu", {"x": (1, 37)}, {"alpha": 0.3}),
    ("Floor", {"x": (1, 37)}, {}),
    ("Add", {"x": (1, 37), "z": (1, 37)}, {}),
    ("Mul", {"x": (1, 37), "z": (1, 37)}, {}),
]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs a processor of which of two zeros is known")
@pytest.mark.parametrize("case", SIGNED_ZEROS, ids=identity)
def test_zeros_have_the_sign_of_the_reference(case):
    op_type, inputs, attributes = case
    model = model_of(op_type, inputs, **attributes)
    stacks = stacks_of(model, samples=20, low=-1, high=1)
    for stack in stacks.values():
        stack[stack == 0] *= np.resize(np.asarray([-1, 1, 1], F), int((stack == 0).sum()))
    assert_same_bits(program_of(model).run(stacks)["y"], expected(model, stacks)["y"])


def test_nodes_whose_first_output_nobody_wants_have_their_own_constants():
    graph = helper.make_graph(
        [
            helper.make_node("GRU", ["x", "w", "r"], ["", "h"], name="one", hidden_size=2),
            helper.make_node("GRU", ["h", "v", "s"], ["", "g"], name="two", hidden_size=3),
        ],
        "grus",
        [helper.make_tensor_value_info("x", 1, [1, 1, 4])],
        [helper.make_tensor_value_info("g", 1, [1, 1, 3])],
        [numpy_helper.from_array(floats(*shape), name) for name, shape in GRUS.items()],
        value_info=[helper.make_tensor_value_info("h", 1, [1, 1, 2])],
    )
    found = program_of(ModelWrapper(helper.make_model(graph))).run({"x": floats(2, 1, 1, 4)})["g"]
    assert found.shape == (2, 1, 1, 3)


def test_split_and_top_k_give_several():
    model = model_of("Split", {"x": (1, 6), "c": longs(2, 4)}, outputs=2, axis=1)
    stacks = stacks_of(model)
    found = program_of(model).run(stacks)
    assert found["y"].tolist() == stacks["x"][:, :, :2].tolist()
    assert found["y1"].tolist() == stacks["x"][:, :, 2:].tolist()


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("count", [1, 3])
def test_equal_values_keep_their_order_in_top_k(largest, count):
    model = model_of("TopK", {"x": (1, 9), "k": longs(count)}, outputs=2, largest=largest)
    stacks = stacks_of(model, samples=20, low=0, high=3)
    found = program_of(model).run(stacks)
    for name, reference in expected(model, stacks).items():
        np.testing.assert_array_equal(found[name], reference)


def test_layer_normalisation():
    model = model_of("LayerNormalization", {"x": (1, 3, 8), "s": floats(8), "b": floats(8)}, opset=17)
    stacks = floats_of(model)
    np.testing.assert_allclose(
        program_of(model).run(stacks)["y"], expected(model, stacks)["y"], rtol=1e-6, atol=1e-6
    )


LEFT_TO_ONNX_RUNTIME = {
    "Acos", "Asin", "Atan", "BitShift", "ConvTranspose", "Cosh", "CumSum", "Elu", "Erf", "GatherElements", "Gelu",
    "GlobalLpPool", "HardSwish", "Hardmax", "InstanceNormalization", "IsInf", "LRN", "LpNormalization", "LpPool", "Mish",
    "Mod", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare",
    "Selu", "Sinh", "Softplus", "Softsign", "Tan", "ThresholdedRelu",
}  # fmt: skip
SAME_FUNCTION = {
    "Dropout", "GreaterOrEqual", "IsNaN", "Less", "Log", "Or", "Sqrt", "Upsample", "Xor",
}  # fmt: skip


def test_the_table_of_operators():
    known = {kind for family, kind in readers() if family == ""}
    tested = {case[0] for case in (*EXACT, *SUMS, *ROUNDED)} | {"TopK", "LayerNormalization"}
    assert known - LEFT_TO_ONNX_RUNTIME - tested == SAME_FUNCTION
