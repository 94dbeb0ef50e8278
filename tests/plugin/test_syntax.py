"""Parsing, and dotted names."""

import ast
import gc
import sys
import threading

import pytest

from brainsmith.plugin.syntax import dotted_name, parse


@pytest.mark.parametrize(
    ("text", "name"), [("a.b.c", "a.b.c"), ("a[int]", "a"), ("a.b[int]", "a.b"), ("f()", ""), ("f().x", "")]
)
def test_a_dotted_name_is_read_from_an_expression(text, name):
    assert dotted_name(ast.parse(text, mode="eval").body) == name


@pytest.mark.slow
def test_threads_may_parse_at_the_same_time():
    """The interpreter counts the nesting of what all threads parse together, and raises where that does not add up."""
    text = "x = " + "-".join(["(" * 20 + "1" + ")" * 20] * 200)
    stop, failures = threading.Event(), []

    def others():
        try:
            while not stop.is_set():
                parse(text)
        except SystemError as error:
            failures.append(error)

    def collected(*event):  # Python code in the midst of parsing lets another thread go on
        sum(range(50))

    threads = [threading.Thread(target=others) for _ in range(2)]
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    gc.callbacks.append(collected)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    try:
        for _ in range(12):  # without the lock it fails in the first few
            assert len(parse(text).body) == 1
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(collected)
    assert failures == []
