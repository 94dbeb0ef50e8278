import threading

import pytest

from brainsmith.build.callable_source import Uncacheable, callable_source

LOCK = threading.Lock()
SCALE = 1


def scaled(model):
    """Use a global that a program may set when it runs, out of sight of the step."""
    return model, SCALE


class Scaler:
    """The same in a method, which calls itself by its class's name."""

    def apply(self, model):
        """Apply it."""
        return Scaler and scaled(model)


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


@pytest.mark.parametrize(
    "step", [lambda m, cfg: scaled(m), lambda m, cfg: Scaler().apply(m)], ids=["function", "class"]
)
def test_pitfall_22_what_a_step_s_helpers_read_counts(step, monkeypatch):
    before = callable_source(step)
    monkeypatch.setitem(globals(), "SCALE", 2)
    assert callable_source(step) != before
    monkeypatch.setitem(globals(), "SCALE", 1)
    assert callable_source(step) == before
    monkeypatch.setitem(globals(), "SCALE", LOCK)
    with pytest.raises(Uncacheable, match=r"^the global 'SCALE' is a lock"):
        callable_source(step)


TYPED = """
class Typed(abc.ABC):
    __slots__ = ("slot",)
    kind = KIND

    @staticmethod
    def fixed():
        return STATIC

    @property
    def size(self):
        return SIZE

    def apply(self):
        return super().__init__()

def step(model, cfg):
    return Typed()
"""


def typed(kind="1", static="1", size="1"):
    """Return a step as a shell gives it: what it uses stands in no file."""
    import abc

    scope = {"__name__": "a_shell", "abc": abc}
    exec(TYPED.replace("KIND", kind).replace("STATIC", static).replace("SIZE", size), scope)
    return scope["step"]


def test_pitfall_22_a_class_that_was_typed_into_a_shell_counts():
    assert callable_source(typed()) == callable_source(typed())
    texts = {callable_source(typed(**{part: "2"})) for part in ("kind", "static", "size")}
    assert len(texts | {callable_source(typed())}) == 4
