"""The section of the integers: what each tensor is made of, and the host's part."""

from brainsmith.web.integers_section import integers_section
from tests.web.pages import Page

TENSOR = {
    "tensor": "conv1", "operator": "MatMul", "origin": "Conv 'conv1'", "network": ["a"], "shape": [1, 8, 8, 2],
    "datatype": "INT14", "low": -7056, "high": 7530, "scale": [0.5, 0.25], "offset": [0.0], "zero_point": 0,
    "pending": ["BatchNormalization", "Relu"],
}  # fmt: skip


def text(found):
    parsed = Page(str(integers_section(found)))
    assert not parsed.problems
    return parsed.text


def test_a_tensor_is_a_row_with_its_range_scale_and_zero_point():
    found = text({"host": ["quantises input 'x' to 0 to 7: scale 0.5"], "tensors": [TENSOR]})
    assert "The host quantises input 'x' to 0 to 7: scale 0.5." in found
    assert (
        "conv1 Conv 'conv1' MatMul [1, 8, 8, 2] -7,056 7,530 INT14 0.25 to 0.5 (2 channels) 0 BatchNormalization, Relu"
        in found
    )


def test_offsets_stand_where_there_is_no_zero_point_and_a_dash_where_nothing_is_known():
    one = {**TENSOR, "scale": [0.5], "offset": [0.1], "zero_point": None, "pending": []}
    assert "INT14 0.5 offset 0.1 –" in text({"tensors": [one]})
    none = {**TENSOR, "scale": None, "offset": None, "zero_point": None, "pending": []}
    assert "INT14 – – –" in text({"tensors": [none]})


def test_a_report_without_integers_says_so():
    for found in (None, {}, {"tensors": []}):
        assert "The report has no integers of tensors: the step integer did not run" in text(found)
