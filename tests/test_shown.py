"""How messages show errors."""

import pytest

from brainsmith.errors import BuildError
from brainsmith.shown import error_text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (BuildError("step 'x' failed"), "step 'x' failed"),
        (ValueError("a bad axis"), "ValueError: a bad axis"),
        (MemoryError(), "MemoryError"),
        (AssertionError(), "AssertionError"),
    ],
)
def test_an_error_is_shown_with_its_type_where_it_is_not_ours(error, text):
    assert error_text(error) == text
