"""PlainGemm: the graph computes the same with the factors of a Gemm as operators of their own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from brainsmith.plugins import transforms as tfm
from brainsmith.testing.small_models import make_model, op_types
from brainsmith.testing.transform_laws import check_same_function

FACTORS = st.sampled_from([1.0, 0.5, -2.0, 4.0, 0.0])


@settings(max_examples=30, deadline=None)
@given(
    alpha=FACTORS,
    beta=FACTORS,
    rows=st.booleans(),
    columns=st.booleans(),
    added=st.sampled_from([(), (3,), (2, 3)]),
)
def test_a_gemm_of_whole_numbers_computes_the_same(alpha, beta, rows, columns, added):
    rng = np.random.default_rng(0)
    shape, weights = ((4, 2) if rows else (2, 4)), ((3, 4) if columns else (4, 3))
    constants = {"w": rng.integers(-4, 4, weights).astype(np.float32)}
    if added:
        constants["c"] = rng.integers(-4, 4, added).astype(np.float32)
    gemm = helper.make_node(
        "Gemm", ["x", *constants], ["y"], "g", alpha=alpha, beta=beta, transA=rows, transB=columns
    )
    model = make_model([gemm], {"x": shape}, ["y"], constants)
    feeds = {"x": rng.integers(-4, 4, shape).astype(np.float32)}
    after, modified = check_same_function(tfm.PlainGemm(), model, feeds)
    assert modified == (alpha != 1 or beta != 1 or rows)
    (plain,) = (node for node in after.graph.node if node.op_type == "Gemm")
    assert not {each.name for each in plain.attribute} & {"alpha", "beta", "transA"} or not modified


@pytest.mark.parametrize(("factors", "wanted"), [
    ({"alpha": 0.5}, ["Gemm", "Mul", "Add"]),
    ({"beta": 0.5}, ["Gemm", "Mul", "Add"]),
    ({"transA": 1}, ["Transpose", "Gemm", "Add"]),
    ({"beta": 0.0}, ["Gemm"]),
])  # fmt: skip
def test_only_what_is_stated_is_written_out(factors, wanted):
    constants = {"w": np.eye(2, dtype=np.float32), "c": np.ones(2, np.float32)}
    model = make_model(
        [helper.make_node("Gemm", ["x", "w", "c"], ["y"], "g", **factors)], {"x": (2, 2)}, ["y"], constants
    )
    assert op_types(model.transform(tfm.PlainGemm())) == wanted
