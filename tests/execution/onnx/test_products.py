"""Matrix products in standard operators: exact in float32, in float64, or refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right, run_rewritten
from tests.execution.program.one_node import model_of
from tests.execution.program.single_node import FINN, one_node, whole_numbers


def operators(model):
    import onnx

    return [node.op_type for node in onnx.load_model_from_string(rewrite(model).content).graph.node]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 6))
def test_xnor(seed, inner, columns):
    random = np.random.default_rng(seed)
    weights = random.integers(0, 2, (inner, columns)).astype(np.float32)
    model = one_node("XnorPopcountMatMul", {"x": (2, inner)}, {"y": (2, columns)}, {"w": weights})
    assert_rewritten_right(model, x=random.integers(0, 2, (3, 2, inner)).astype(np.float32))


def mvau(weights, vectors=(1,), thresholds=None, given="INT4", result="INT32", **more):
    inner, columns = weights.shape
    constants = {"w": weights, **({} if thresholds is None else {"t": thresholds})}
    stated = {
        "MW": inner,
        "MH": columns,
        "SIMD": 1,
        "PE": 1,
        "numInputVectors": list(vectors),
        "ActVal": 0,
        **more,
    }
    return one_node(
        "MVAU", {"x": (*vectors, inner)}, {"y": (*vectors, columns)}, constants, domain=FINN, datatypes={"x": given},
        inputDataType=given, outputDataType=result, noActivation=int(thresholds is None), **stated,
        **({} if "weightDataType" in more else {"weightDataType": "INT4"}),
    )  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([(1,), (1, 3, 2)]), st.sampled_from([None, "INT4", "BIPOLAR"]))
def test_mvau(seed, vectors, result):
    random = np.random.default_rng(seed)
    weights = random.integers(-8, 8, (9, 5)).astype(np.float32)
    steps = 1 if result == "BIPOLAR" else 15
    thresholds = (
        None if result is None else np.sort(random.integers(-90, 90, (5, steps)), axis=1).astype(np.float32)
    )
    more = {} if result in (None, "BIPOLAR") else {"ActVal": -8}
    model = mvau(weights, vectors, thresholds, result=result or "INT32", **more)
    assert_rewritten_right(model, x=whole_numbers(random, -8, 7, (3, *vectors, 9)))


@pytest.mark.parametrize(("xnor", "low"), [(1, 0), (0, -1)])
def test_binary_mvau(xnor, low):
    random = np.random.default_rng(3)
    draw = lambda *shape: random.choice(np.float32([low, 1]), shape)  # noqa: E731
    datatype = "BINARY" if xnor else "BIPOLAR"
    thresholds = random.integers(0, 20, (5, 1)).astype(np.float32)
    model = mvau(
        draw(20, 5), (1,), thresholds, datatype, "BIPOLAR", weightDataType=datatype, binaryXnorMode=xnor
    )
    assert_rewritten_right(model, x=draw(3, 1, 20))


def test_sums_beyond_float32_are_exact():
    weights = np.float32([[7]] * 20 + [[-7]] * 20 + [[1]])
    model = mvau(weights, given="INT20")
    assert "Cast" in operators(model)
    x = np.random.default_rng(0).integers(2**18, 2**19, (4, 1, 41)).astype(np.float32)
    x[:, 0, 20:40] = x[:, 0, 19::-1]
    assert run_rewritten(model, {"x": x})["y"].reshape(-1).tolist() == x[:, 0, 40].tolist()


def test_sums_beyond_float64_are_refused():
    with pytest.raises(ModelError) as caught:
        rewrite(mvau(np.full((2**10, 1), 2**24, np.float32), given="INT32"))
    assert str(caught.value) == (
        "node 'node' (MVAU) cannot be written with standard ONNX operators: its sums may reach 3.69e+19, beyond 2^53, "
        "where float64 is not exact"
    )


def test_a_convolution_beyond_float32_is_refused():
    weights = np.full((1, 2**10, 3, 3), 2**5, np.float32)
    model = model_of("Conv", {"x": (1, 2**10, 4, 4), "w": weights}, datatypes={"x": "INT16"})
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'n' (Conv) cannot be written with standard ONNX operators: its sums may reach 9.66e+09, beyond 2^24, "
        "where float32 is not exact"
    )


@pytest.mark.parametrize("producer", ["kernel", "rtl"])
def test_vvau(producer):
    """Windows of a kernel hold all channels of a position; others groups of PE channels."""
    random = np.random.default_rng(5)
    weights = random.integers(-8, 8, (4, 1, 3, 3)).astype(np.float32)
    stated = {"Channels": 4, "Kernel": [3, 3], "Dim": [2, 2], "PE": 2 if producer == "rtl" else 4, "SIMD": 1}
    model = one_node(
        "VVAU", {"x": (1, 2, 2, 36)}, {"y": (1, 2, 2, 4)}, {"w": weights}, domain=FINN, datatypes={"x": "INT4"},
        inputDataType="INT4", weightDataType="INT4", outputDataType="INT16", noActivation=1, **stated,
    )  # fmt: skip
    assert_rewritten_right(model, x=whole_numbers(random, -8, 7, (3, 1, 2, 2, 36)))
