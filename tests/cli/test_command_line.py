"""Reading a command line: options in every form, in any order."""

import pytest

from brainsmith.cli.command_line import Argument, Verb, parse
from brainsmith.errors import UsageError

VERB = Verb(
    "make",
    "make it",
    "More.",
    "brainsmith make A",
    Argument("WHAT", about="what to make"),
    Argument("--size", "N", "how large"),
    Argument("--kind", "KIND", "which", choices=("red", "green")),
    Argument("--fast", about="hurry"),
    Argument("--into", "DIR", "where", required=True),
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


OPTIONAL = Verb(
    "watch",
    "watch it",
    "More.",
    "brainsmith watch",
    Argument("--every", "SECONDS", "how often", default="30"),
    Argument("--fast", about="hurry"),
)


@pytest.mark.parametrize(
    ("line", "every"),
    [
        ("--every --fast", "30"),
        ("--fast --every", "30"),
        ("--every 5 --fast", "5"),
        ("--every=5 --fast", "5"),
        ("--fast", None),
    ],
)
def test_an_option_may_have_a_value_where_none_is_given(line, every):
    options = parse(OPTIONAL, line.split())
    assert (options.text("--every"), options.flag("--fast")) == (every, True)
    assert OPTIONAL.usage == "brainsmith watch [--every [SECONDS]] [--fast]"


def test_an_empty_word_is_not_the_current_folder():
    with pytest.raises(UsageError, match=r"^WHAT must not be empty\n"):
        parse(VERB, ["", "--into", "d"])


def test_the_usage_marks_what_may_be_left_out():
    assert VERB.usage == "brainsmith make WHAT [--size N] [--kind KIND] [--fast] --into DIR"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-1", "--size must be a whole number, 1 or more, not '-1'"),
        ("0", "--size must be a whole number, 1 or more, not '0'"),
        ("1.5", "--size must be a whole number, 1 or more, not '1.5'"),
        ("²", "--size must be a whole number, 1 or more, not '²'"),
        (
            "9" * 5000,
            f"--size must be a whole number, 1 or more, not '{'9' * 5000}'",
        ),  # Python reads 4,300 digits
    ],
)
def test_what_is_no_whole_number_is_refused(text, message):
    options = parse(VERB, ["A", "--into", "d", f"--size={text}"])
    with pytest.raises(UsageError) as caught:
        options.whole("--size", None, least=1)
    assert str(caught.value) == message


def test_numbers_are_read():
    options = parse(VERB, ["A", "--into", "d", "--size", "007"])
    assert (options.whole("--size", None), options.number("--size", 1.0)) == (7, 7.0)
    assert (options.whole("--kind", 3), options.number("--kind", 0.5)) == (3, 0.5)
    with pytest.raises(UsageError, match="--size must be a whole number up to 6, not '007'"):
        options.whole("--size", None, most=6)


@pytest.mark.parametrize(
    ("value", "offered"),
    [("DIR", "folders"), ("X.npy", "files"), ("A.sv,B.sv", "files"), ("A,B,...", ""), ("FILE.py:NAME", "")],
)
def test_the_shell_offers_what_the_name_of_a_value_says(value, offered):
    assert Argument("--option", value).completes == offered
