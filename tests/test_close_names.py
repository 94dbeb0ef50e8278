"""Names that are close to one that is not known."""

import pytest

from brainsmith.close_names import close_names, did_you_mean

NAMES = ["Streamline", "StreamlineAll", "stream", "xc7z020", "xc7z010", "Pad"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("streamlin", ["Streamline"]),
        ("STREAM", ["stream"]),
        ("streaml", ["stream"]),
        ("strea_line_all", ["StreamlineAll"]),
        ("Flatten", []),
        ("", []),
    ],
)
def test_one_that_is_nearly_the_name_or_those_that_are_like_it(name, meant):
    assert close_names(name, NAMES) == meant


def test_where_a_digit_makes_another_thing_all_alike_are_named():
    assert close_names("xc7z030", NAMES, nearly=1) == ["xc7z020", "xc7z010"]
    assert close_names("xc7z030", NAMES, cutoff=0.9, nearly=1) == []


def test_the_end_of_a_sentence():
    assert did_you_mean("xc7", NAMES) == ". Did you mean 'xc7z020' or 'xc7z010'?"
    assert did_you_mean("pad", NAMES) == ". Did you mean 'Pad'?"
    assert did_you_mean("nothing like it", NAMES) == ""
