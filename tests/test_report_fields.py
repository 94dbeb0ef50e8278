"""Fields of reports as text, in every form that they may have."""

import pytest

from brainsmith.report_fields import text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, ""), ([], ""), ({}, ""), (True, "yes"), (False, "no"), (3.0, "3"), (0.5, "0.5"),
        ([1, [2, "a"]], "[1, [2, a]]"),
        ({"a": 1, "b": None}, "a: 1, b: "), ("", ""),
    ],
)  # fmt: skip
def test_text(value, words):
    assert text(value) == words
