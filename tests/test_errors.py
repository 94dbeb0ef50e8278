"""The exit code of each exception: one function decides it."""

import inspect

import pytest

from brainsmith import errors
from brainsmith.errors import BrainsmithError, Problem, exit_code

CLASSES = [
    each
    for _, each in inspect.getmembers(errors, inspect.isclass)
    if issubclass(each, BrainsmithError) and each.__module__ == "brainsmith.errors"
]
OTHERS = {"UsageError": 2, "NotProvenError": 3}


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_each_error_has_its_exit_code(each):
    error = each([Problem("a.yaml", 1, 1, "wrong")]) if each is errors.BlueprintError else each("wrong")
    assert exit_code(error) == OTHERS.get(each.__name__, 1)


def test_what_is_no_error_of_ours_has_one_too():
    ends = [
        KeyboardInterrupt(),
        KeyboardInterrupt("build interrupted"),
        BrokenPipeError(),
        ZeroDivisionError(),
    ]
    assert [exit_code(error) for error in ends] == [130, 130, 1, 1]
