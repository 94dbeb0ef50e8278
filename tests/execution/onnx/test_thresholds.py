"""Thresholds in standard operators, against QONNX's and FINN's own execution: compared, looked up and searched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.program.single_node import FINN, one_node

SHAPES = [("NC", (1, 3), 1), ("NHWC", (1, 2, 3, 4), 3), ("NCHW", (1, 4, 2, 3), 1), ("", (1, 4, 3, 2), 1)]


def bounds_and_values(seed, shape, axis, count, whole, shared):
    """Return thresholds with some of them equal or infinite, and values that hit them."""
    random = np.random.default_rng(seed)
    rows = 1 if shared else shape[axis]
    bounds = np.sort(random.normal(0, 20, (rows, count)), axis=1)
    bounds = np.rint(bounds) if whole else bounds
    bounds = bounds.astype(np.float32)
    if count > 2:
        bounds[0, 1] = bounds[0, 0]
        bounds[-1, -1] = np.inf
    x = (
        np.rint(random.normal(0, 25, (3, *shape)))
        if whole
        else random.choice(bounds.reshape(-1), (3, *shape))
    )
    x = np.where(random.random(x.shape) < 0.3, 0, x).astype(np.float32)
    return bounds, np.where(np.isfinite(x), x, 3).astype(np.float32)


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(SHAPES), st.integers(0, 1000), st.sampled_from([1, 2, 3, 7, 15, 255]), st.booleans(),
    st.booleans(), st.sampled_from([(1.0, 0.0), (2.0, -1.0), (0.25, -1.5)]), st.sampled_from([11, 17]),
)  # fmt: skip
def test_multi_threshold(layout, seed, count, whole, shared, line, opset):
    name, shape, axis = layout
    bounds, x = bounds_and_values(seed, shape, axis, count, whole, shared)
    datatypes = {"x": "INT8"} if whole else {}
    model = one_node(
        "MultiThreshold", {"x": shape}, {"y": shape}, {"t": bounds}, datatypes=datatypes,
        out_dtype="INT8", out_scale=line[0], out_bias=line[1], data_layout=name,
    )  # fmt: skip
    model.model.opset_import[0].version = opset
    assert_rewritten_right(model, x=np.clip(x, -128, 127) if whole else x)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([1, 3, 15]), st.booleans(), st.booleans())
def test_thresholding(seed, count, bipolar, whole):
    shape = (1, 2, 3, 4)
    bounds, x = bounds_and_values(seed, shape, 3, count, whole, shared=False)
    stated = {"NumChannels": 4, "numSteps": count, "weightDataType": "INT8", "numInputVectors": [1, 2, 3]}
    model = one_node(
        "Thresholding", {"x": shape}, {"y": shape}, {"t": bounds}, domain=FINN, PE=1, **stated,
        inputDataType="INT8", outputDataType="BIPOLAR" if bipolar else "INT8", ActVal=0 if bipolar else -4,
    )  # fmt: skip
    if whole:
        from qonnx.core.datatype import DataType

        model.set_tensor_datatype("x", DataType["INT8"])
    assert_rewritten_right(model, x=np.clip(x, -128, 127))


def test_a_value_that_is_no_number_or_infinite_in_a_search():
    bounds = np.arange(-4, 4, dtype=np.float32)[None] * 1.5
    model = one_node("MultiThreshold", {"x": (1, 3)}, {"y": (1, 3)}, {"t": bounds}, out_dtype="INT8")
    given = assert_rewritten_right(model, x=np.array([[[np.nan, np.inf, -np.inf]]], np.float32))
    assert given["y"].tolist() == [[[0, 8, 0]]]


def test_thresholds_of_float64_say_the_same_of_float32():
    bounds = np.array([[0.1, 0.2, 0.3, 0.7]])
    model = one_node("MultiThreshold", {"x": (1, 4)}, {"y": (1, 4)}, {"t": bounds}, out_dtype="INT8")
    x = np.array([[bounds[0].astype(np.float32)]], np.float32)
    assert_rewritten_right(model, x=np.concatenate([x, np.nextafter(x, 2), np.nextafter(x, -2)], axis=0))


def test_channels_in_the_first_axis_take_one_run_at_a_time():
    bounds = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
    model = one_node(
        "MultiThreshold", {"x": (3, 1)}, {"y": (3, 1)}, {"t": bounds}, out_dtype="INT8", data_layout="CN"
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
    assert_rewritten_right(model, mixed=True, x=x)


def test_thresholds_that_do_not_fit_are_refused():
    model = one_node(
        "MultiThreshold", {"x": (1, 3)}, {"y": (1, 3)}, {"t": np.zeros((2, 4), np.float32)}, out_dtype="INT8"
    )
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'node' (MultiThreshold) cannot be written with standard ONNX operators: its thresholds have shape (2, 4), "
        "its tensor (1, 3) with the channels in axis 1"
    )
