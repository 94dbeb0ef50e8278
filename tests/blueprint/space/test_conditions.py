"""Conditions: what Python says of them, for one point and for many; and nothing else of Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.space.conditions import MOST_CHARACTERS, Condition
from brainsmith.errors import ConditionError

names = st.sampled_from(["a", "b", "c"])
leaves = names | st.integers(-5, 5).map(str) | st.sampled_from(["0.5", "2.0", "True"])
numbers = st.recursive(
    leaves,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner)
        | st.builds("-{}".format, leaves)
        | st.builds("min({}, {})".format, inner, inner)
        | st.builds("max({}, {}, 1)".format, inner, inner)
    ),
    max_leaves=6,
)
comparisons = st.builds(
    "{} {} {}".format, numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers
) | st.builds("{} {} [{}, {}]".format, numbers, st.sampled_from(["in", "not in"]), numbers, numbers)
conditions = st.recursive(
    comparisons | st.builds("{} < {} <= {}".format, numbers, numbers, numbers),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | st.builds("(not {})".format, inner)
    ),
    max_leaves=5,
)
values = st.integers(-9, 9) | st.sampled_from([0.5, 1.5])


@given(conditions, st.lists(st.tuples(values, values, values), min_size=1, max_size=5))
def test_it_is_what_python_says_one_by_one_and_all_at_once(text, rows):
    condition = Condition(text)
    expected = [
        bool(eval(text, {"min": min, "max": max}, dict(zip("abc", row, strict=True)))) for row in rows
    ]
    columns = {
        name: np.array(column, object) for name, column in zip("abc", zip(*rows, strict=True), strict=True)
    }
    assert np.broadcast_to(condition(columns), len(rows)).tolist() == expected
    assert [bool(condition(dict(zip("abc", row, strict=True)))) for row in rows] == expected
    assert set(condition.names) == {
        name for name in "abc" if name in text.replace("and", "").replace("max", "")
    }


def test_names_may_be_those_of_keys_and_strings_are_compared():
    condition = Condition(
        "target.fps > 3 and steps[2] == 'a' and x is_not_used"
        if False
        else "steps[2] == 'a' and target.fps > 3"
    )
    assert condition.names == ("steps[2]", "target.fps")
    assert condition({"steps[2]": np.array(["a", "b"], object), "target.fps": np.array([4, 4])}).tolist() == [
        True,
        False,
    ]
    assert bool(Condition("x in ['a', None]")({"x": None}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a condition: invalid syntax"),
        ("a <", "'a <' is not a condition: invalid syntax"),
        ("__import__('os').system('x')", "has \"__import__('os').system('x')\""),
        ("a.__class__()", "has 'a.__class__()'"),
        ("(lambda: 1)() < 2", "has '(lambda: 1)()'"),
        ("[x for x in a] == 1", "has '[x for x in a]'"),
        ("a ** 99999999999 > 1", "has 'a ** 99999999999'"),
        ("a << 3 > 1", "has 'a << 3'"),
        ("f'{a}' == 'b'", "has \"f'{a}'\""),
        ("a if b else c", "has 'a if b else c'"),
        ("a in b", "has 'a in b'"),
        ("a[b] > 1", "has 'a[b]'"),
        ("open('x')", "has \"open('x')\""),
        ("min(a, key=b)", "has 'min(a, key=b)'"),
        ("(a := 3) > 1", "has '(a := 3)'"),
        ("1j > a", "has '1j'"),
        ("a" * (MOST_CHARACTERS + 1), "a condition may have 1000 characters, and this one has 1001"),
        ("(" * 400 + ")" * 400, "is not a condition"),
        ("-" * 900 + "1", "is not a condition"),
    ],
)
def test_nothing_else_of_python_can_be_said(text, message):
    with pytest.raises(ConditionError) as caught:
        Condition(text)({"a": 1, "b": 1, "c": 1})
    assert message in str(caught.value)


def test_values_that_cannot_be_compared_are_said():
    with pytest.raises(ConditionError, match=r"'a < 3' cannot be worked out: .*'<' not supported"):
        Condition("a < 3")({"a": np.array(["x"], object)})
