import threading

import pytest

from brainsmith.build.callable_source import Uncacheable, callable_source

LOCK = threading.Lock()


def test_equal_functions_have_equal_texts():
    def make():
        return lambda m, cfg: m if 1 in {1, 2, 3} else cfg

    assert callable_source(make()) == callable_source(make())
    assert callable_source(make()) == callable_source(make())


def test_code_and_defaults_count():
    texts = {
        callable_source(function)
        for function in (
            lambda m, cfg: m,
            lambda m, cfg: cfg,
            lambda m, cfg, n=1: m,
            lambda m, cfg, n=2: m,
            lambda m, cfg, *, n=2: m,
            lambda m, cfg: (lambda: 1)() and m,
            lambda m, cfg: (lambda: 2)() and m,
        )
    }
    assert len(texts) == 7


def test_what_has_no_text_says_so():
    with pytest.raises(
        Uncacheable, match=r"^the global 'LOCK' is a lock, whose content is not part of a key$"
    ):
        callable_source(lambda m, cfg: LOCK and m)
    with pytest.raises(Uncacheable, match=r"^it is an object, not a function$"):
        callable_source(object())
