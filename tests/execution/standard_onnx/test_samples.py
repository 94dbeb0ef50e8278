"""Runs one after the other in the first axis: what keeps them apart, and that what is said to do so does."""

import numpy as np
import pytest

from brainsmith.execution.standard_onnx.rewrite import rewrite
from tests.execution.lowering.one_node import model_of
from tests.execution.standard_onnx.rewritten import assert_rewritten_right

IMAGE, ROWS, LISTS = (1, 4, 6, 6), (2, 3), (2, 3, 4)
WEIGHTS = np.random.default_rng(0).normal(size=(5, 4, 3, 3)).astype(np.float32)
MATRIX = np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


APART = {
    "Relu": ("Relu", {"x": LISTS}, {}),
    "Clip": ("Clip", {"x": LISTS, "low": np.array(-0.5, np.float32), "high": np.array(0.5, np.float32)}, {}),
    "Add of a vector": ("Add", {"x": LISTS, "c": MATRIX[:, 0]}, {}),
    "Add of two": ("Add", {"x": LISTS, "z": LISTS}, {}),
    "Reshape": ("Reshape", {"x": LISTS, "s": ints(6, -1)}, {}),
    "Reshape away from the batch": ("Reshape", {"x": (1, 3, 4), "s": ints(3, 4)}, {}),
    "Flatten": ("Flatten", {"x": LISTS}, {"axis": 1}),
    "Unsqueeze in front": ("Unsqueeze", {"x": LISTS, "a": ints(0)}, {}),
    "Squeeze the batch": ("Squeeze", {"x": (1, 3, 4), "a": ints(0)}, {}),
    "Softmax": ("Softmax", {"x": LISTS}, {"axis": -1}),
    "Conv": ("Conv", {"x": IMAGE, "w": WEIGHTS}, {"pads": [1, 1, 1, 1]}),
    "MaxPool": ("MaxPool", {"x": IMAGE}, {"kernel_shape": [2, 2]}),
    "ReduceMean": ("ReduceMean", {"x": LISTS}, {"axes": [1], "keepdims": 0}),
    "ReduceSum": ("ReduceSum", {"x": LISTS, "a": ints(-1)}, {}),
    "MatMul": ("MatMul", {"x": LISTS, "w": MATRIX}, {}),
    "MatMul of two": ("MatMul", {"x": LISTS, "z": (2, 4, 3)}, {}),
    "MatMul of a constant": ("MatMul", {"w": MATRIX.T, "x": (2, 4, 3)}, {}),
    "Gemm": ("Gemm", {"x": (2, 4), "w": MATRIX, "c": np.ones(5, np.float32)}, {}),
    "Transpose": ("Transpose", {"x": LISTS}, {"perm": [0, 2, 1]}),
    "Transpose of the batch": ("Transpose", {"x": LISTS}, {"perm": [1, 0, 2]}),
    "Transpose of all": ("Transpose", {"x": LISTS}, {}),
    "Gather": ("Gather", {"x": LISTS, "i": ints(2, 0)}, {"axis": 1}),
    "Gather from a table": ("Gather", {"t": MATRIX, "i": ((2, 3), np.int64)}, {"axis": 0}),
    "Pad": ("Pad", {"x": LISTS, "p": ints(0, 1, 0, 0, 2, 1)}, {}),
    "Slice": ("Slice", {"x": LISTS, "s": ints(1), "e": ints(3), "a": ints(2)}, {}),
    "Concat": ("Concat", {"x": LISTS, "z": LISTS}, {"axis": 1}),
    "Tile": ("Tile", {"x": LISTS, "t": ints(1, 2, 1)}, {}),
    "Resize": ("Resize", {"x": IMAGE, "r": None, "s": np.float32([1, 1, 2, 2])}, {"mode": "nearest"}),
}  # fmt: skip

MIXED = {
    "Add of rows": ("Add", {"x": ROWS, "c": MATRIX[:2, :3]}, {}, "constant 'c' differs along the first axis"),
    "Add of a smaller":
        ("Add", {"x": LISTS, "z": (3, 4)}, {}, "input 'z' of shape (3, 4) is repeated along the first axis"),
    "Softmax": ("Softmax", {"x": LISTS}, {"axis": 0}, "it works along the first axis"),
    "Concat": ("Concat", {"x": LISTS, "z": LISTS}, {"axis": 0}, "it works along the first axis"),
    "Concat of a constant":
        ("Concat", {"x": (1, 2), "c": np.ones((1, 2), np.float32)}, {"axis": 1}, "constant 'c' has no runs"),
    "ReduceMax": ("ReduceMax", {"x": LISTS}, {"axes": [0]}, "it reduces the first axis"),
    "ReduceSum of all": ("ReduceSum", {"x": LISTS}, {"keepdims": 1}, "it reduces the first axis"),
    "MatMul": ("MatMul", {"x": ROWS, "z": (3, 2)}, {}, "its second matrix is the run's own"),
    "Gather": ("Gather", {"x": LISTS, "i": ints(1)}, {"axis": 0}, "it chooses in the first axis"),
    "Pad": ("Pad", {"x": ROWS, "p": ints(1, 0, 0, 0)}, {}, "it pads the first axis"),
    "Slice": ("Slice", {"x": LISTS, "s": ints(0), "e": ints(1), "a": ints(0)}, {}, "it cuts the first axis"),
    "a scalar": ("ReduceSum", {"x": LISTS}, {"keepdims": 0}, "a result has no axis"),
    "Einsum": ("Einsum", {"x": ROWS}, {"equation": "ij->ji"}, "nothing is known of how it treats its first axis"),
}  # fmt: skip


def stacks_of(model):
    random = np.random.default_rng(7)
    stacks = {}
    for spec in rewrite(model).signature.inputs:
        whole = spec.dtype == "int64"
        stacks[spec.name] = (
            random.integers(0, 3, (3, *spec.shape)) if whole else random.normal(size=(3, *spec.shape))
        )
        stacks[spec.name] = stacks[spec.name].astype(spec.dtype)
    return stacks


@pytest.mark.parametrize("case", APART)
def test_all_runs_at_once(case):
    op_type, inputs, attributes = APART[case]
    model = model_of(op_type, inputs, **attributes)
    assert_rewritten_right(model, relative=1e-6, **stacks_of(model))


@pytest.mark.parametrize("case", MIXED)
def test_one_run_at_a_time(case):
    op_type, inputs, attributes, reason = MIXED[case]
    model = model_of(op_type, inputs, **attributes)
    assert rewrite(model).mixed == f"node 'n' ({op_type}): {reason}"
    assert_rewritten_right(model, relative=1e-6, mixed=True, **stacks_of(model))


def test_softmax_of_old_opsets_takes_all_axes_from_the_second_on():
    model = model_of("Softmax", {"x": LISTS}, opset=11)
    assert_rewritten_right(model, relative=1e-6, **stacks_of(model))
