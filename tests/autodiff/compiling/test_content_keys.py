"""Keys by content: all of it, and nothing but it."""

import numpy as np
import pytest

from brainsmith.autodiff.compiling.compiled_op import compile_op
from brainsmith.autodiff.compiling.content_keys import content_key, op_key
from brainsmith.autodiff.op import Op

LONG = np.full(3000, 0.125)
OTHER = np.where(np.arange(3000) == 1500, 0.375, LONG)

DIFFERENT = {
    "what repr leaves out": (LONG, OTHER),
    "the ninth digit": (np.array([0.1]), np.array([0.1 + 1e-12])),
    "dtype": (np.zeros(2, np.float32), np.zeros(2, np.int32)),
    "shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "type of a number": (1, True),
    "sign of zero": (0.0, -0.0),
    "dtype of a number": (np.float32(1), np.float64(1)),
    "inside": ({"a": [1, LONG]}, {"a": [1, OTHER]}),
    "list or tuple": ([1], (1,)),
    "objects": (object(), object()),
    "what has no hash": (set(), set()),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_differs_has_another_key(case):
    one, other = DIFFERENT[case]
    assert content_key(one) != content_key(other)
    assert (content_key(one), hash(content_key(one))) == (content_key(one), hash(content_key(one)))


def test_what_is_equal_has_one_key():
    assert content_key({"a": LONG, "b": float("nan")}) == content_key({"a": LONG.copy(), "b": float("nan")})


class Tab(Op):
    """Adds an element of its table, and a number of its own."""

    name, attributes, k = "tab", {"table": LONG}, 0.0

    def forward(self, x, *, table):
        return x + (float(table[1500]) + self.k)


@pytest.mark.slow
def test_a_compiled_op_computes_with_the_attributes_and_the_state_of_the_call():
    op, x = Tab(), np.zeros(2, np.float32)
    fast = compile_op(op)
    assert [fast.forward(x, table=table)[0] for table in (LONG, OTHER, LONG)] == [0.125, 0.375, 0.125]
    before = op_key(op)
    op.k = 0.25
    assert (fast.forward(x, table=OTHER)[0], op_key(op) != before) == (0.625, True)
