import numpy as np
import pytest
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.custom_op import registry
from qonnx.custom_op.base import CustomOp

from brainsmith.errors import BuildError, SharedMemoryError
from brainsmith.execution.execute import Executor
from brainsmith.execution.foreign_failures import first_line_of, foreign_call, text_of

DOMAIN = "tests.foreign_failures"


def told(error):
    return BuildError(f"it cannot be: {text_of(error)}")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(" two\nlines "), "it cannot be: two\nlines"),
        (KeyError(), "it cannot be: KeyError"),
        (AssertionError("  "), "it cannot be: AssertionError"),
    ],
)
def test_what_is_raised_is_told_and_chained(error, text):
    with pytest.raises(BuildError) as caught, foreign_call(told):
        raise error
    assert str(caught.value) == text
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError(), SharedMemoryError("no more")],
    ids=lambda error: type(error).__name__,
)
def test_what_is_no_failure_of_that_code_passes(error):
    with pytest.raises(type(error)) as caught, foreign_call(told):
        raise error
    assert caught.value is error


def test_an_error_that_is_given_back_passes_with_its_own_cause():
    error = BuildError("as it is")
    error.__cause__ = cause = ValueError("why")
    with pytest.raises(BuildError) as caught, foreign_call(lambda error: error):
        raise error
    assert (caught.value, caught.value.__cause__) == (error, cause)


def test_nothing_is_done_where_nothing_is_raised():
    with foreign_call(told):
        found = 1
    assert found == 1


def test_the_first_line():
    assert first_line_of(ValueError("\nfirst\nsecond")) == "first"
    assert first_line_of(ValueError()) == "ValueError"


class Raising(CustomOp):
    """An operator that raises what the test says."""

    error: BaseException

    def get_nodeattr_types(self):
        return {}

    def make_shape_compatible_op(self, model):
        return None

    def infer_node_datatype(self, model):
        return None

    def verify_node(self):
        return []

    def execute_node(self, context, graph):
        raise self.error


@pytest.fixture
def raising(monkeypatch):
    monkeypatch.setitem(registry._OP_REGISTRY, DOMAIN, {"Raising": {1: Raising}})
    node = helper.make_node("Raising", ["x"], ["y"], name="n", domain=DOMAIN)
    values = [helper.make_tensor_value_info(name, 1, [1, 2]) for name in "xy"]
    return Executor(ModelWrapper(helper.make_model(helper.make_graph([node], "g", values[:1], values[1:]))))


def test_a_node_of_a_user_may_raise_anything(raising):
    Raising.error = LookupError("nothing there")
    with pytest.raises(BuildError, match=r"^node 'n' \(Raising\) cannot be executed: nothing there$"):
        raising.run({"x": np.ones((2, 1, 2), np.float32)})


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError("1 TiB")], ids=repr)
def test_an_interrupt_and_a_lack_of_memory_pass_through_a_program(raising, error):
    Raising.error = error
    with pytest.raises(type(error)) as caught:
        raising.run({"x": np.ones((2, 1, 2), np.float32)})
    assert caught.value is error
