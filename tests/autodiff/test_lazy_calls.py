"""A lazy call has the result, or the error, that it would have had at once."""

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.compiling.compiled_op import compile_op, fuse
from brainsmith.autodiff.graphs.grouping import LARGEST
from brainsmith.autodiff.lazy.evaluation import _groups, _needed
from brainsmith.autodiff.op import Op
from brainsmith.autodiff.tape.tensor import Tensor, apply_op
from brainsmith.errors import OpError

X = np.linspace(-2, 2, 6, dtype=np.float32)


def built(name, forward, count=1, **rules):
    builder = ops.CustomOpBuilder(name, count).forward(forward)
    return builder.output_dtype(rules["dtype"]).build() if rules else builder.build()


@pytest.mark.slow
def test_the_rule_of_dtype_holds_however_an_op_is_run():
    trunc = built("trunc", lambda i: i[0] * 1.7, dtype=lambda dtypes: np.dtype(np.int32))
    eager = call_op(trunc, [X])
    assert eager.dtype == np.int32
    with ops.lazy():
        later = apply_op(trunc, [Tensor(X)]) * np.int32(3)
    assert [call.op.name for call in _groups(_needed(later.deferred))[0]] == ["trunc", "mul"]
    np.testing.assert_array_equal(later.numpy(), eager * 3)
    chain = fuse([trunc, lambda x: x * np.int32(3)], check=True)
    np.testing.assert_array_equal(chain.forward(X), eager * 3)
    np.testing.assert_array_equal(chain.op.forward(X), eager * 3)
    alone = compile_op(trunc, check=True).forward(X)
    np.testing.assert_array_equal(alone, eager)
    assert (later.dtype, chain.forward(X).dtype, alone.dtype) == (np.int32,) * 3


def test_the_rule_of_dtype_holds_where_there_is_no_loop():
    wide = built("wide", lambda i: i[0] * np.float32(0.1))
    assert compile_op(wide).forward(X.astype(np.float16)).dtype == np.float16


def test_a_grouped_call_is_held_to_its_rule_of_shape():
    added = built("added", lambda i: i[0] + i[1], 2)
    one, two = Tensor(X[:3]), Tensor(X.reshape(2, 3))
    with pytest.raises(OpError) as eager:
        apply_op(added, [one, two])
    with ops.lazy():
        y = -apply_op(added, [one, two])
    with pytest.raises(OpError) as later:
        y.realize()
    assert str(later.value) == str(eager.value)
    assert str(later.value) == "Operation 'added' returned an output of shape (2, 3); its rule says (3,)"


@pytest.mark.slow
def test_data_that_is_replaced_later_is_not_seen():
    x = Tensor(X.copy())
    with ops.lazy():
        before = x * 2 + 1
        x.data = X + 5
        both = before + x
    np.testing.assert_array_equal(both.numpy(), X * 2 + 1 + (X + 5))
    np.testing.assert_array_equal(before.numpy(), X * 2 + 1)


def test_gradients_are_of_the_data_of_the_call():
    x = Tensor(X.copy(), requires_grad=True)
    with ops.lazy():
        y = (x * x).sum()
    x.data = X + 5
    y.backward()
    np.testing.assert_array_equal(x.grad, X * 2)


def test_values_that_a_layer_is_given_later_are_not_seen():
    class Scale(ops.CustomLayer):
        def __init__(self):
            super().__init__()
            self.weight = self.add_parameter("weight", np.float32([2]))

        def forward(self, x):
            return x * self.weight

    layer = Scale()
    with ops.lazy():
        y = layer(Tensor(X))
    layer.set_values({name: value + 1 for name, value in layer.get_values().items()})
    np.testing.assert_array_equal(y.numpy(), X * 2)


@pytest.mark.slow
def test_an_array_that_is_changed_in_place_later_is_not_seen():
    array = X.copy()
    with ops.lazy():
        y = Tensor(X) * array + 1
    array[:] = 9
    np.testing.assert_array_equal(y.numpy(), X * X + 1)


class Shifted(Op):
    """Adds a number that it keeps itself."""

    name = "shifted"

    def __init__(self, k):
        self.k = k

    def forward(self, x):
        return x + self.k


@pytest.mark.slow
def test_a_loop_is_of_the_state_of_its_ops():
    op, found = Shifted(1.0), []
    for k in (1.0, 4.0):
        op.k = k
        with ops.lazy():
            y = apply_op(op, [Tensor(X)]) * 2
        found.append(y.numpy())
    np.testing.assert_array_equal(found[0], (X + 1) * 2)
    np.testing.assert_array_equal(found[1], (X + 4) * 2)


def test_a_long_chain_is_grouped_in_parts():
    y = Tensor(X)
    with ops.lazy():
        for _ in range(1000):
            y = y * 1.5 - 0.5
    calls = _needed(y.deferred)
    found = _groups(calls)
    assert [call for group in found for call in group] == calls
    assert [len(group) for group in found] == [2000 % LARGEST, *[LARGEST] * (2000 // LARGEST)]
