"""The combinations of a sum's integers are all that can come in, unless they are too many."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith.graph.integer_range import IntegerRange
from brainsmith.transforms.integer.scaled_sum import Term, row_of

TAP = st.tuples(st.sampled_from([-3, -2, -1, 1, 2, 5]), st.integers(-3, 0), st.integers(0, 3))
TERMS = st.lists(st.lists(TAP, min_size=1, max_size=3), min_size=0, max_size=3)


def reached(taps):
    """Add weights times integers, one combination after the other."""
    ranges = [range(low, high + 1) for _, low, high in taps]
    return sorted(
        {sum(w * n for (w, _, _), n in zip(taps, numbers, strict=True)) for numbers in product(*ranges)}
    )


@settings(deadline=None, max_examples=150)
@given(TERMS, st.integers(1, 400))
def test_they_are_listed_exactly_where_they_are_few(given_terms, most):
    arrays = [[np.asarray(each, np.int64) for each in zip(*taps, strict=True)] for taps in given_terms]
    terms = [Term(0.5 + at, weights, IntegerRange(*ends)) for at, (weights, *ends) in enumerate(arrays)]
    row = row_of(terms, np.zeros(len(terms)), most)
    expected = [reached(taps) for taps in given_terms]
    assert row.range.low.tolist() == [each[0] for each in expected]
    assert row.range.high.tolist() == [each[-1] for each in expected]
    if row.values is not None:
        assert [values.tolist() for values in row.values] == expected
        assert row.points().shape == (len(expected), int(np.prod([len(each) for each in expected])))
    elif most >= 4 * int(np.prod([len(each) for each in expected])) + 64:
        raise AssertionError("they are few enough to be listed")
