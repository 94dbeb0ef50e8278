"""MultiThreshold and Thresholding: their programs against the reference, bit for bit, by each way of counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.program.single_node import FINN, assert_lowered_right, one_node, whole_numbers

prepare_finn()
SEEDS = st.integers(0, 10_000)
SHAPES = {
    "": (2, 5),
    "NC": (1, 5),
    "NWC": (1, 3, 5),
    "NCHW": (2, 5, 3, 2),
    "NHWC": (1, 2, 3, 5),
    "NCW": (1, 5, 70),
}


def way(model):
    """Return which instruction counts."""
    made = [one.function for one in lower(runnable_copy(model)).instructions]
    return next(name.partition(".")[2] for name in made if name.startswith("thresholds."))


def multi_threshold(layout, thresholds, datatype="FLOAT32", **attributes):
    shape = SHAPES[layout]
    given = {"data_layout": layout} if layout else {}
    return one_node(
        "MultiThreshold", {"x": shape}, {"y": shape}, {"t": thresholds}, datatypes={"x": datatype},
        out_dtype="INT32", **given, **attributes,
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)), SEEDS, st.sampled_from([1, 2, 7, 15, 110]), st.booleans(),
    st.sampled_from([(1.0, 0.0), (2.0, -1.0), (0.3, 0.7), (-1.0, 0.0)]),
)  # fmt: skip
def test_any_numbers(layout, seed, count, single, scaled):
    random = np.random.default_rng(seed)
    rows = 1 if single else 5
    thresholds = random.normal(0, 2, (rows, count)).astype(np.float32)
    if random.integers(2):
        thresholds[:] = np.linspace(-3, 3, count, dtype=np.float32) + random.normal(0, 1, (rows, 1))
    if not random.integers(4):
        thresholds[0, -1] = random.choice([np.inf, -np.inf, np.nan])
    x = random.normal(0, 3, (3, *SHAPES[layout])).astype(np.float32)
    x.reshape(-1)[:8] = [
        0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        *thresholds[0, :1],
        np.float32(1e30),
        np.float32(-1e-40),
    ]
    model = multi_threshold(layout, thresholds, out_scale=scaled[0], out_bias=scaled[1])
    assert_lowered_right(model, x=x)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(SHAPES)), SEEDS, st.sampled_from([1, 7, 15, 255]), st.booleans())
def test_whole_numbers(layout, seed, count, single):
    random = np.random.default_rng(seed)
    thresholds = np.round(random.normal(0, 60, (1 if single else 5, count)) * 2).astype(np.float32) / 2
    if not random.integers(4):
        thresholds[0] = random.choice([np.inf, -np.inf, np.nan, 1e9])
    x = whole_numbers(random, -128, 127, (3, *SHAPES[layout]))
    assert_lowered_right(multi_threshold(layout, thresholds, "INT8"), x=x)


@pytest.mark.parametrize(
    ("datatype", "count", "power", "wanted"),
    [
        ("FLOAT32", 3, 1, "compare_each"),
        ("INT8", 15, 1, "look_up"),
        ("FLOAT32", 31, 1, "look_up_bins"),
        ("FLOAT32", 31, 9, "compare_each"),
        ("FLOAT32", 127, 9, "search"),
    ],
)
def test_each_way_is_taken_where_it_is_the_fastest(datatype, count, power, wanted):
    steps = (np.arange(count, dtype=np.float32) - count // 2) / 8
    model = multi_threshold("NC", (steps**power)[None], datatype)
    assert way(model) == wanted


def test_thresholds_of_double_precision_are_reached_as_such():
    near = np.float32(1 / 3)
    threshold = np.nextafter(np.float64(near), 1)  # rounds to what does not reach it
    model = multi_threshold("NC", np.array([[threshold]]))
    x = np.array([near, np.nextafter(near, np.float32(0)), 0, 1, -1], np.float32).reshape(1, 1, 5)
    assert_lowered_right(model, x=x)


@settings(max_examples=40, deadline=None)
@given(
    SEEDS, st.sampled_from([(1, 6), (1, 2, 3, 6), (2, 3, 6)]), st.sampled_from([1, 3, 15]), st.integers(-8, 3)
)
def test_thresholding(seed, shape, count, bias):
    random = np.random.default_rng(seed)
    bipolar = count == 1 and bias == 0
    thresholds = np.sort(random.integers(-40, 40, (6, count)), axis=1).astype(np.float32)
    model = one_node(
        "Thresholding", {"x": shape}, {"y": shape}, {"t": thresholds}, domain=FINN, PE=1, NumChannels=6,
        inputDataType="INT8", weightDataType="INT8", outputDataType="BIPOLAR" if bipolar else "INT8",
        ActVal=bias, numSteps=count, numInputVectors=list(shape[:-1]), datatypes={"x": "INT8"},
    )  # fmt: skip
    assert_lowered_right(model, x=whole_numbers(random, -128, 127, (3, *shape)))


def test_other_channels_than_thresholds_are_refused():
    with pytest.raises(Exception, match="Threshold"):
        lower(runnable_copy(multi_threshold("NC", np.zeros((3, 2), np.float32)))).run(
            {"x": np.zeros((2, 1, 5), np.float32)}
        )
