"""In which type sums of products are exact, at the very edges of float32 and float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.execution.program.exact_products import sums_of, type_of_bound
from brainsmith.graph.integer_range import IntegerRange, within
from tests.execution.program.one_node import functions, model_of, program_of


def column(*weights):
    return np.asarray(weights, np.float32).reshape(-1, 1)


@pytest.mark.parametrize(
    ("bound", "name"),
    [
        (0, "float32"),
        (2**24, "float32"),
        (2**24 + 1, "float64"),
        (2**53, "float64"),
        (2**53 + 1, "int64"),
    ],
)
def test_the_edges(bound, name):
    assert type_of_bound(bound) == name
    if name != "int64":
        numbers = np.asarray([bound, bound - 1 if bound else 0], name)
        assert [int(number) for number in numbers] == [bound, bound - 1 if bound else 0]


@pytest.mark.parametrize(
    ("span", "weights", "name"),
    [
        ((-(2**12), 2**12 - 1), column(2**11, 2**11), "float32"),
        ((-(2**12), 2**12 - 1), column(2**11, -(2**11), 1), "float64"),
        ((0, 2**24), column(2**24), "float64"),
        ((0, 2**30), column(2**23), "float64"),
        ((0, 2**30), column(2**23, 1), "int64"),
        ((0, 2**40), column(2**23, -(2**23)), "int64"),
    ],
)
def test_weights_and_spans(span, weights, name):
    assert sums_of(within(*span), weights).exact == name


def test_what_may_not_be_whole_is_not_known():
    assert sums_of(None, column(1)) is None
    assert sums_of(within(0, 1), column(0.5)) is None


def test_sums_that_cancel_still_count_in_full():
    found = sums_of(within(-3, 2), column(5, -5))
    assert (found.range.ends, found.bound) == ((-25, 25), 30)


def test_each_term_may_have_a_range_of_its_own():
    given = IntegerRange(np.asarray([-3, 0]), np.asarray([2, 1]))
    found = sums_of(given, np.asarray([[5, 1], [-5, 2]]))
    assert (found.range.low.tolist(), found.range.high.tolist(), found.bound) == ([-20, -3], [10, 4], 20)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(1, 4))
def test_the_span_of_a_product_is_reached(seed, rows, columns):
    random = np.random.default_rng(seed)
    weights, low, high = random.integers(-5, 6, (rows, columns)), -3, 4
    found = sums_of(within(low, high), weights)
    worst = [np.where(weights > 0, low, high), np.where(weights > 0, high, low)]
    assert found.range.low.tolist() == (worst[0] * weights).sum(axis=0).tolist()
    assert found.range.high.tolist() == (worst[1] * weights).sum(axis=0).tolist()
    assert found.bound == 4 * np.abs(weights).sum(axis=0).max()


@given(
    st.integers(-(2**31), 2**31),
    st.integers(0, 2**31),
    st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=5),
    st.data(),
)
@settings(max_examples=100, deadline=None)
def test_no_sum_leaves_its_span_nor_any_part_its_bound(low, width, weights, data):
    span = (low, low + width)
    matrix = column(*weights)
    values = data.draw(st.lists(st.integers(*span), min_size=len(weights), max_size=len(weights)))
    products = [value * weight for value, weight in zip(values, weights, strict=True)]
    found = sums_of(within(*span), matrix)
    assert found.range.ends[0] <= sum(products) <= found.range.ends[1]
    order = data.draw(st.permutations(products))
    assert all(abs(sum(order[:count])) <= found.bound for count in range(len(order) + 1))


@pytest.mark.parametrize(
    ("datatype", "weight", "value", "kind"),
    [
        ("UINT8", 2**14, 255, "float32"),
        ("INT16", 2**8 - 1, -(2**15), "float32"),
        ("INT16", 2**8, -(2**15), "float64"),
        ("UINT32", 2**20 - 1, 2**31, "float64"),
        ("UINT32", 2**20, 2**31, "int64"),
    ],
)
def test_a_product_is_the_exact_sum_rounded_once(datatype, weight, value, kind):
    weights = np.asarray([[weight], [1], [-weight]], np.float32)
    model = model_of("MatMul", {"x": (1, 3), "c": weights}, datatypes={"x": datatype})
    program = program_of(model)
    assert [i.parameters["exact"] for i in program.instructions if i.function == "matrix.product"] == [kind]
    assert functions(program) == ["matrix.product"]
    stack = np.asarray([[[value, 1, value]]], np.float32)
    assert program.run({"x": stack})["y"].tolist() == [[[1.0]]]
    other = np.asarray([[[value, 1, 0]]], np.float32)
    assert program.run({"x": other})["y"].item() == np.float32(value * weight + 1)


def test_a_tensor_that_is_not_held_to_an_annotation_has_no_span():
    model = model_of("MatMul", {"x": (1, 3), "c": column(1, 2, 3)})
    assert functions(program_of(model)) == ["matrix.product"]
    assert functions(program_of(model, faithful=True)) == ["foreign.node"]
