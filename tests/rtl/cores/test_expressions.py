"""Whole numbers from short expressions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.rtl.cores.expressions import evaluate, fill

VALUES = {"PE": 2, "CHANNELS": 12, "STYLE": "block"}


@pytest.mark.parametrize(
    ("text", "value"),
    [(3, 3), ("3", 3), ("CHANNELS // PE", 6), ("-PE + 3*(CHANNELS-2)", 28), ("max(PE, 5, 1) % 3", 2), (" PE ", 2)],
)  # fmt: skip
def test_values(text, value):
    assert evaluate(text, VALUES) == value


NUMBERS = st.integers(0, 99).map(str)


@given(st.recursive(NUMBERS, lambda part: st.tuples(part, st.sampled_from("+-*"), part).map(" ".join)))
def test_it_is_what_python_gives(text):
    assert evaluate(text, {}) == eval(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SIMD", "'SIMD': unknown name 'SIMD'; known are PE, CHANNELS, STYLE"),
        ("STYLE", "'STYLE': 'STYLE' is the text 'block', not a number"),
        ("1 +", "'1 +' is not an expression"),
        ("PE // 0", "'PE // 0' divides by zero"),
        ("2 ** 9", "'2 ** 9': '2 ** 9' is not allowed: only numbers, names, + - * // % ( ) max min are"),
        ("open('a')", '"open(\'a\')": "open(\'a\')" is not allowed: only numbers, names, + - * // % ( ) max min are'),
        ("True", "'True': 'True' is not allowed: only numbers, names, + - * // % ( ) max min are"),
        ("1.5", "'1.5': '1.5' is not allowed: only numbers, names, + - * // % ( ) max min are"),
    ],
)  # fmt: skip
def test_what_is_none(text, said):
    with pytest.raises(ValueError) as raised:
        evaluate(text, VALUES)
    assert str(raised.value) == said


def test_texts_are_filled():
    assert fill("INT{PE*4}", VALUES) == "INT8"
    assert fill("FIXED<{CHANNELS},{PE}>", VALUES) == "FIXED<12,2>"
    assert fill("BIPOLAR", VALUES) == "BIPOLAR"
    with pytest.raises(ValueError, match=r"^'INT\{PE' has a brace that is not closed$"):
        fill("INT{PE", VALUES)
