"""Reading a command line: options in every form, in any order."""

import pytest

from brainsmith.cli.arguments import Argument, Verb, parse
from brainsmith.errors import UsageError

VERB = Verb(
    "make",
    "nowhere",
    "make it",
    "More.",
    "brainsmith make A",
    (
        Argument("WHAT", about="what to make"),
        Argument("--size", "N", "how large"),
        Argument("--kind", "KIND", "which", choices=("red", "green")),
        Argument("--fast", about="hurry"),
        Argument("--into", "DIR", "where", required=True),
    ),
)


@pytest.mark.parametrize(
    "line",
    [
        "A --size 3 --kind red --fast --into d",
        "--into=d --fast --kind=red --size=3 A",
        "--size 1 --size 3 A --into d --kind red --fast",
        "--fast --fast --into d --kind red --size 3 -- A",
    ],
)
def test_options_in_every_form(line):
    options = parse(VERB, line.split())
    assert options.required("WHAT") == "A"
    assert (options.text("--size"), options.text("--kind"), options.text("--into")) == ("3", "red", "d")
    assert options.flag("--fast")


def test_what_is_not_given_is_none():
    options = parse(VERB, ["A", "--into", "d"])
    assert (options.text("--size"), options.flag("--fast")) == (None, False)


def test_behind_two_dashes_nothing_is_an_option():
    assert parse(VERB, ["--into", "d", "--", "--fast"]).required("WHAT") == "--fast"


def test_a_value_may_begin_with_a_dash_or_hold_an_equals_sign():
    assert parse(VERB, ["A", "--size", "-3", "--into", "d"]).text("--size") == "-3"
    assert parse(VERB, ["A", "--into=d=e"]).text("--into") == "d=e"
    assert parse(VERB, ["-", "--into", "d"]).required("WHAT") == "-"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--into d", "brainsmith make needs WHAT: what to make"),
        ("A", "brainsmith make needs --into DIR: where"),
        ("A B --into d", "brainsmith make takes only WHAT; unexpected argument 'B'"),
        ("A --into", "--into needs a value, DIR"),
        ("A --into=", "--into must not be empty"),
        ("A --kind --into d", "--kind needs a value, KIND: red or green"),
        ("A --kind gren --into d", "--kind must be red or green, not 'gren'. Did you mean 'green'?"),
        ("A --fast=1 --into d", "--fast takes no value; found '1'"),
        ("A --fsat --into d", "brainsmith make has no option '--fsat'. Did you mean '--fast'?"),
        ("A -x --into d", "brainsmith make has no option '-x'"),
    ],
)
def test_what_is_wrong_is_said(line, message):
    with pytest.raises(UsageError) as caught:
        parse(VERB, line.split())
    assert str(caught.value) == f"{message}\n  brainsmith make --help shows its options"


def test_an_empty_word_is_not_the_current_folder():
    with pytest.raises(UsageError, match=r"^WHAT must not be empty\n"):
        parse(VERB, ["", "--into", "d"])


def test_the_usage_marks_what_may_be_left_out():
    assert VERB.usage == "brainsmith make WHAT [--size N] [--kind KIND] [--fast] --into DIR"
