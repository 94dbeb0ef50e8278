"""What is known of a primitive stands in one entry of `functional`, and all that is made from it agrees with it."""

import subprocess
import sys

import numpy as np
import pytest

from brainsmith.autodiff import functional as F
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.primitives.elementwise import ELEMENTWISE
from brainsmith.autodiff.primitives.reductions import REDUCTIONS
from brainsmith.ops import Tensor

OPERATORS = ("add", "sub", "mul", "div", "pow", "neg")
POSITIVE = np.array([[0.25, 0.5], [1.5, 2.0]])


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if name not in OPERATORS])
def test_a_function_of_the_tape_is_numpy_s_and_a_method_and_is_compiled(name):
    op = ELEMENTWISE[name]
    given = [Tensor(POSITIVE), Tensor(POSITIVE[::-1])][: op.num_inputs]
    found = getattr(F, name)(*given)
    assert found.record.op is op
    faces = [form for form in op.forms if isinstance(form, np.ufunc)]
    faces += [getattr(Tensor, name)] if hasattr(Tensor, name) else []
    for face in faces:
        other = face(*given)
        assert other.record.op is op
        assert other.numpy().tobytes() == found.numpy().tobytes()
    for form in op.forms:
        inputs = ", ".join(f"x{at}" for at in range(op.num_inputs))
        text = f"inputs = {op.num_inputs}; t0 = {form.__name__}({inputs}); return t0"
        assert trace(form, [np.float64] * op.num_inputs).text == text
        assert FUNCTIONS[form.__name__].ulps == op.ulps


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_of_the_tape_is_numpy_s_and_a_method_and_is_compiled(name):
    op, how = REDUCTIONS[name], {"axis": 0, "keepdims": True}
    by_numpy = [op.function] + ([op.ufunc.reduce] if op.ufunc else [])
    for face in (getattr(F, name), getattr(Tensor, name), *by_numpy):
        found = face(Tensor(POSITIVE), **how)
        assert found.record.op is op
        assert found.numpy().tolist() == op.function(POSITIVE, **how).tolist()
    for face in (lambda x, **how: getattr(x, name)(**how), *by_numpy):
        text = f"inputs = 1; t0 = {name}(x0, axis=0, keepdims=True); return t0"
        assert trace(lambda x, face=face: face(x, **how), [np.float64]).text == text


ENTRY = """
@elementwise_step(np.arctan, "Atan", lambda g, x, out: g / (1 + x * x), since=7, ulps=(4, 3))
def arctan(x: Any) -> Any:
    'Return the angle whose tangent is x.'
"""

WITH_ENTRY = """
import importlib.util, sys
import numpy as np

spec = importlib.util.find_spec("brainsmith.autodiff.functional")
F = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
exec(spec.loader.get_data(spec.origin).decode() + sys.argv[1], vars(F))

from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.ops import Tensor, export_onnx

x = Tensor(np.float32([0.5, -2.0]), requires_grad=True)
y = np.arctan(x)
print(F.arctan.__doc__, y.record.op.name)
print(F.arctan(x).numpy().tolist() == np.arctan(x.numpy()).tolist())
y.sum().backward()
print(x.grad.tolist())
print(trace(np.arctan, [np.float32]).text)
print([node.op_type for node in export_onnx({"y": F.arctan(x)}, {"x": x}).graph.node])
"""


@pytest.mark.slow
def test_one_entry_adds_a_primitive():
    run = subprocess.run(
        [sys.executable, "-c", WITH_ENTRY, ENTRY], capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "Return the angle whose tangent is x. arctan",
        "True",
        "[0.800000011920929, 0.20000000298023224]",
        "inputs = 1; t0 = arctan(x0); return t0",
        "['Atan']",
    ]
