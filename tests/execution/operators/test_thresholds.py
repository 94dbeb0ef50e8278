"""MultiThreshold: what the table of layers does not say."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.operators.every_form import assert_every_form_right
from tests.execution.program.single_node import one_node


def multi_threshold(thresholds, shape=(1, 5), **stated):
    return one_node(
        "MultiThreshold", {"x": shape}, {"y": shape}, {"t": thresholds}, out_dtype="INT32", **stated
    )


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
    model = multi_threshold((steps**power)[None], data_layout="NC", datatypes={"x": datatype})
    made = [one.function for one in lower(runnable_copy(model)).instructions]
    assert next(name.partition(".")[2] for name in made if name.startswith("thresholds.")) == wanted


def test_thresholds_of_double_precision_are_reached_as_such():
    near = np.float32(1 / 3)
    threshold = np.nextafter(np.float64(near), 1)  # rounds to what does not reach it
    x = np.array([near, np.nextafter(near, np.float32(0)), 0, 1, -1], np.float32).reshape(1, 1, 5)
    assert_every_form_right(multi_threshold(np.array([[threshold]]), data_layout="NC"), x=x)
    bounds = np.array([[0.1, 0.2, 0.3, 0.7]])
    x = np.array([[bounds[0].astype(np.float32)]], np.float32)
    x = np.concatenate([x, np.nextafter(x, 2), np.nextafter(x, -2)], axis=0)
    assert_every_form_right(multi_threshold(bounds, (1, 4)), x=x)


def test_a_value_that_is_no_number_or_infinite_in_a_search():
    bounds = np.arange(-4, 4, dtype=np.float32)[None] * 1.5
    given = assert_rewritten_right(
        multi_threshold(bounds, (1, 3)), x=np.array([[[np.nan, np.inf, -np.inf]]], np.float32)
    )
    assert given["y"].tolist() == [[[0, 8, 0]]]


def test_channels_in_the_first_axis_take_one_run_at_a_time():
    bounds = np.array([[0, 1], [2, 3], [4, 5]], np.float32)
    x = np.arange(6, dtype=np.float32).reshape(2, 3, 1)
    assert_every_form_right(multi_threshold(bounds, (3, 1), data_layout="CN"), mixed=True, x=x)


def test_thresholds_that_do_not_fit_are_refused():
    model = multi_threshold(np.zeros((2, 4), np.float32), (1, 3))
    with pytest.raises(Exception, match="Threshold"):
        lower(runnable_copy(model)).run({"x": np.zeros((2, 1, 3), np.float32)})
    with pytest.raises(ModelError) as caught:
        rewrite(model)
    assert str(caught.value) == (
        "node 'node' (MultiThreshold) cannot be written with standard ONNX operators: its thresholds have shape (2, 4), "
        "its tensor (1, 3) with the channels in axis 1"
    )
