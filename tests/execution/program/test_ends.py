"""What lowered operators make of NaN, infinities and zeros of both signs, against QONNX's own execution."""

import platform

import numpy as np
import pytest
from onnx import helper, numpy_helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from tests.execution.operators.test_standard_operators import (
    EXACT,
    OTHER_ENDS,
    ROUNDED,
    F,
    identity,
    longs,
)
from tests.execution.program.one_node import expected, functions, model_of, program_of
from tests.execution.program.single_node import assert_same_bits

LONG = [
    ("Max", {"x": (1, 37), "z": (1, 37)}, {}),
    ("Min", {"x": (1, 37), "c": np.zeros(37, F)}, {}),
    ("Where", {"k": ((1, 37), bool), "x": (1, 37), "z": (1, 37)}, {}),
    ("Where", {"k": ((1, 37), bool), "c": np.asarray(-0.0, F), "x": (1, 37)}, {}),
    ("PRelu", {"x": (1, 37), "c": np.zeros(1, F)}, {}),
    ("Relu", {"x": (1, 37)}, {}),
    ("Clip", {"x": (1, 37), "l": np.asarray(-1, F), "h": None}, {}),
    ("Clip", {"x": (1, 37)}, {}),
    ("Pow", {"x": (1, 9), "c": np.asarray(0.5, F)}, {}),
    ("MaxPool", {"x": (1, 2, 16, 16)}, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("GlobalMaxPool", {"x": (1, 3, 8, 8)}, {}),
    ("ReduceMax", {"x": (1, 37)}, {}),
    ("ArgMin", {"x": (1, 37)}, {"axis": 1, "select_last_index": 1}),
    ("TopK", {"x": (1, 9), "k": longs(3)}, {}),
]  # fmt: skip


def ends_of(model, values, seed):
    """Return stacks of some floats for each input; of 0 and 1 for one of another type."""
    generator = np.random.default_rng(seed)
    return {
        spec.name: generator.choice(values if spec.dtype == "float32" else [0, 1], (12, *spec.shape)).astype(
            spec.dtype
        )
        for spec in program_of(model).signature.inputs
    }


ENDS = [
    [0.0, -0.0, 1.0, -2.5, np.nan],
    [0.0, 0.5, -7.0, np.inf, -np.inf],
    [0.0, -0.0, 1e-40, -1e-40],
]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs a processor of which of two zeros is known")
@pytest.mark.parametrize("case", [*EXACT, *ROUNDED, *LONG], ids=identity)
def test_a_faithful_program_gives_every_bit_of_nan_infinities_and_zeros(case):
    op_type, inputs, attributes = case
    model = model_of(op_type, inputs, outputs=2 if op_type == "TopK" else 1, **attributes)
    programs = {"faithful": program_of(model, faithful=True)}
    if op_type not in OTHER_ENDS and case not in ROUNDED:
        programs["plain"] = program_of(model)
    for seed, values in enumerate(ENDS):
        stacks = ends_of(model, values, seed)
        with np.errstate(all="ignore"):
            wanted = expected(model, stacks)
            for kind, program in programs.items():
                for _ in range(2):  # the first decides whether a batch is used
                    found = program.run(stacks)
                for name, reference in wanted.items():
                    if kind == "plain" and op_type == "Pow":
                        np.testing.assert_allclose(found[name], reference, rtol=1e-6)
                    else:
                        assert_same_bits(found[name], reference)


def test_a_span_outlasts_a_node_that_is_left_to_the_reference():
    node = helper.make_node("MaxPool", ["x"], ["m"], name="pool", kernel_shape=[2, 2])
    graph = helper.make_graph(
        [node, helper.make_node("Add", ["m", "one"], ["y"], name="add")],
        "pooled",
        [helper.make_tensor_value_info("x", 1, [1, 1, 4, 4])],
        [helper.make_tensor_value_info("y", 1, [1, 1, 3, 3])],
        [numpy_helper.from_array(np.ones(1, F), "one")],
    )
    model = ModelWrapper(helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)]))
    for name, datatype in (("x", "INT4"), ("m", "INT4"), ("y", "INT5")):
        model.set_tensor_datatype(name, DataType[datatype])
    program = program_of(model, faithful=True)
    checked = [made.outputs for made in program.instructions if made.function.startswith("datatype_checks.")]
    assert (functions(program), checked) == (["foreign.node", "arithmetic.apply"], [("x",)])
