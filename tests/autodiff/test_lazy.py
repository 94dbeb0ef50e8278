"""What is put off is computed when its values are asked for, with the same values and gradients."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from qonnx.core.onnx_exec import execute_onnx

from brainsmith import ops
from brainsmith.autodiff import functional as F
from brainsmith.autodiff.lazy.evaluation import _groups, _needed
from brainsmith.autodiff.lazy.lazy_tensor import LazyTensor
from brainsmith.autodiff.modes import is_lazy, no_grad
from brainsmith.autodiff.tape.tensor import Tensor, apply_op
from brainsmith.errors import GradientError, OpError

X = np.random.default_rng(0).normal(0, 1, (3, 4)).astype(np.float32)


def counting(calls):
    """Return an op that notes its calls."""

    def forward(inputs):
        calls.append(inputs[0].shape)
        return inputs[0] + 1

    builder = ops.CustomOpBuilder("counted", 1).forward(forward).validate(lambda inputs: True)
    return builder.backward(lambda grad_output, input_ids, *rest: {input_ids[0]: grad_output}).build()


def groups(tensor):
    return [[call.op.name for call in group] for group in _groups(_needed(tensor.deferred))]


def test_nothing_is_computed_before_it_is_asked_for():
    calls = []
    op = counting(calls)
    x = Tensor(X)
    with ops.lazy():
        assert is_lazy()
        y = apply_op(op, [x]) * 2
        z = apply_op(op, [y])
    assert not is_lazy()
    assert (type(y), y.shape, y.dtype, y.ndim, y.size, calls) == (LazyTensor, (3, 4), np.float32, 2, 12, [])
    assert repr(y) == "Tensor(not computed yet, shape=(3, 4), dtype=float32, by mul)"
    assert y.realize() is y
    assert (y.is_computed, z.is_computed, calls) == (True, False, [(3, 4)])
    np.testing.assert_array_equal(y.numpy(), (X + 1) * 2)
    np.testing.assert_array_equal(z.numpy(), (X + 1) * 2 + 1)
    assert calls == [(3, 4)] * 2
    assert x.realize() is x


@pytest.mark.slow
def test_chains_run_as_one_loop_and_what_others_read_is_computed_apart():
    x, row = Tensor(X), Tensor(X[0])
    with ops.lazy():
        h = F.tanh(x * 2) + row
        s = F.sigmoid(h)
        y = F.sum(s * h, axis=1, keepdims=True)
        z = F.exp(y - 1) * s
    assert groups(z) == [["mul", "tanh", "add"], ["sigmoid"], ["mul"], ["sum"], ["sub", "exp"], ["mul"]]
    h_ = np.tanh(X * 2) + X[0]
    s_ = 1 / (1 + np.exp(-h_))
    np.testing.assert_allclose(
        z.numpy(), np.exp((s_ * h_).sum(1, keepdims=True) - 1) * s_, rtol=1e-5, atol=1e-6
    )
    assert not h.deferred.values[0].flags.writeable


def test_an_op_of_several_outputs_and_one_that_is_no_loop():
    x = Tensor(X)
    with ops.lazy():
        best, at = F.top_k(F.matmul(x, x.reshape(4, 3)), 2)
    assert (best.shape, at.dtype) == ((3, 2), np.int64)
    product = X @ X.reshape(4, 3)
    np.testing.assert_allclose(best.numpy(), -np.sort(-product)[:, :2], rtol=1e-6)
    np.testing.assert_array_equal(at.numpy(), np.argsort(-product)[:, :2])


@pytest.mark.slow
def test_gradients_are_those_of_the_tape():
    x = Tensor(X, requires_grad=True)
    with ops.lazy():
        y = F.sum(F.tanh(x * x) + x)
    assert y.requires_grad
    z = y * 3
    z.backward()
    eager = Tensor(X, requires_grad=True)
    (F.sum(F.tanh(eager * eager) + eager) * 3).backward()
    np.testing.assert_array_equal(x.grad, eager.grad)


def test_a_lazy_result_is_exported_like_any_other():
    x = Tensor(X)
    with ops.lazy():
        y = F.relu(x * 2)
    model = ops.export_onnx({"y": y}, {"x": x})
    assert [node.op_type for node in model.graph.node] == ["Mul", "Relu"]
    np.testing.assert_array_equal(execute_onnx(model, {"x": X})["y"], y.numpy())


def test_what_is_not_recorded_has_no_record():
    x = Tensor(X, requires_grad=True)
    with no_grad(), ops.lazy():
        y = x * 2
    assert (y.record, y.requires_grad) == (None, False)
    np.testing.assert_array_equal(y.numpy(), X * 2)


def test_wrong_shapes_are_refused_at_once_and_wrong_values_when_they_are_computed():
    x = Tensor(X)
    with ops.lazy(), pytest.raises(OpError) as raised:
        x + X[:, 0]
    assert str(raised.value).startswith(
        "Operation 'add' failed on shapes (3, 4), (3,): ValueError: shape mismatch"
    )
    picky = ops.CustomOpBuilder("picky", 1).forward(lambda inputs: inputs[0])
    picky = picky.validate(lambda inputs: bool((inputs[0] > 0).all())).build()
    with ops.lazy():
        y = apply_op(picky, [x * 2])
    with pytest.raises(OpError) as raised:
        y.realize()
    assert str(raised.value) == "Operation 'picky' does not take these inputs: its validate returned False"


def test_an_input_that_was_changed_meanwhile_is_said():
    x = Tensor(X.copy())
    with ops.lazy():
        y = x * 2
        z = x + 1
    z.realize()
    x.data -= 1
    with pytest.raises(OpError) as raised:
        y.realize()
    assert str(raised.value) == (
        "input 0 of operation 'mul' was changed in place before the lazy call was computed: realize() its result first"
    )
    np.testing.assert_array_equal(z.numpy(), X + 1)


def test_a_lazy_result_is_no_leaf():
    with ops.lazy():
        y = Tensor(X) * 2
    with pytest.raises(GradientError) as raised:
        y.requires_grad = True
    assert str(raised.value) == "requires_grad is set on leaves, not on results; detach() gives a leaf"
    with pytest.raises(OpError):
        y.data = X
    y.detach().data = X


def test_an_input_that_is_given_on_is_not_closed():
    same = (
        ops.CustomOpBuilder("same", 1).forward(lambda inputs: inputs[0]).validate(lambda inputs: True).build()
    )
    array = X.copy()
    with ops.lazy():
        y = apply_op(same, [Tensor(array)])
    y.realize()
    array[0] = 0
    assert array.flags.writeable


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "mul", "maximum", "neg", "abs", "relu", "sum"]),
        st.integers(0, 9),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=8,
)


def play(steps, x):
    values = [x, x + 1]
    for name, first, second in steps:
        a, b = values[first % len(values)], values[second % len(values)]
        if name == "sum":
            values.append(F.sum(a, axis=1, keepdims=True))
        elif name in ("neg", "abs", "relu"):
            values.append({"neg": lambda a: -a, "abs": F.abs, "relu": F.relu}[name](a))
        else:
            values.append(
                {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "maximum": F.maximum}[name](a, b)
            )
    return values


@pytest.mark.compiles
@settings(max_examples=30, deadline=None)
@given(steps=STEPS, asked=st.lists(st.integers(0, 9), min_size=1, max_size=3))
def test_lazy_values_and_gradients_are_the_eager_ones(steps, asked):
    now = Tensor(X[:2, :3], requires_grad=True)
    later = Tensor(X[:2, :3], requires_grad=True)
    eager = play(steps, now)
    with ops.lazy():
        put_off = play(steps, later)
    for at in asked:
        np.testing.assert_array_equal(put_off[at % len(eager)].numpy(), eager[at % len(eager)].numpy())
    F.sum(eager[-1]).backward()
    F.sum(put_off[-1]).backward()
    np.testing.assert_array_equal(later.grad, now.grad)
