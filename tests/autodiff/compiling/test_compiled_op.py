"""Ops that run compiled: the same op, in one loop."""

import numpy as np
import pytest
from qonnx.core.onnx_exec import execute_onnx

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.autodiff.compiling.chain_op import ChainOp, validates_inputs
from brainsmith.autodiff.compiling.compiled_op import compile_op, fuse
from brainsmith.autodiff.op import Op
from brainsmith.errors import OpError
from brainsmith.ops.examples import gelu, mish, swish

X = np.random.default_rng(0).standard_normal((9, 31)).astype(np.float32)


class Leaky(Op):
    """Straight where positive, flat elsewhere."""

    name, version = "leaky", "2.1.0"
    attributes = {"slope": 0.25}

    def forward(self, x, *, slope):
        return np.where(x > 0, x, x * slope)

    def backward(self, grad_output, inputs, output, *, slope):
        return (grad_output * np.where(inputs[0] > 0, 1.0, slope),)


class Scaled(Op):
    """Multiplies by its second input, which is not differentiable."""

    name, num_inputs, not_differentiable = "scaled", 2, (1,)

    def forward(self, x, scale):
        return x * scale

    def backward(self, grad_output, inputs, output):
        return grad_output * inputs[1], None


@pytest.mark.slow
def test_the_compiled_op_is_the_op_but_for_how_it_runs():
    op, compiled = Leaky(), compile_op(Leaky(), check=True)
    assert (compiled.name, compiled.version, compiled.num_inputs) == ("leaky", "2.1.0", 1)
    assert compiled.is_compiled
    assert compiled.ulps == 0
    assert compiled.attributes == {"slope": 0.25}
    np.testing.assert_array_equal(compiled.forward(X, slope=0.25), op.forward(X, slope=0.25))
    np.testing.assert_array_equal(compiled.forward(X, slope=0.5), op.forward(X, slope=0.5))
    assert "brainsmith::where<float>" in compiled.source


@pytest.mark.slow
def test_its_gradient_is_compiled_and_the_same():
    op, compiled = Leaky(), compile_op(Leaky())
    y, grad = op.forward(X, slope=0.25), np.full_like(X, 3)
    (wanted,) = op.create_gradient_function([X], y, slope=0.25).gradients(grad)
    (found,) = compiled.create_gradient_function([X], y, slope=0.25).gradients(grad)
    np.testing.assert_array_equal(found, wanted)
    assert [one is not None for one in compiled._backwards.values()] == [True]


@pytest.mark.slow
def test_it_takes_its_place_in_the_registry_and_on_the_tape():
    ops.register_custom_op(compile_op(Leaky()))
    try:
        x = ops.Tensor(X, requires_grad=True)
        ops.execute_custom_op("leaky", [x], slope=0.5).backward(np.ones_like(X))
        np.testing.assert_array_equal(x.grad, np.where(X > 0, 1, 0.5).astype(np.float32))
    finally:
        ops.unregister_custom_op("leaky")


@pytest.mark.slow
def test_it_is_exported_and_run_as_a_node():
    ops.register_custom_op(compile_op(Leaky()))
    try:
        x = ops.Tensor(X)
        y = ops.execute_custom_op("leaky", [x], slope=0.5)
        model = ops.export_onnx([y], [x])
        (given,), (made,) = model.graph.input, model.graph.output
        found = execute_onnx(model, {given.name: X})[made.name]
        np.testing.assert_array_equal(found, np.where(X > 0, X, X * np.float32(0.5)))
    finally:
        ops.unregister_custom_op("leaky")


@pytest.mark.slow
def test_the_examples_pass_the_gradient_check_compiled():
    for op in (swish(), mish(), gelu()):
        compiled = compile_op(op, check=True)
        assert ops.gradcheck(compiled).points > 0


def test_an_op_is_compiled_by_its_name():
    ops.register_custom_op(Leaky())
    try:
        assert isinstance(ops.compile_op("leaky").op, Leaky)
    finally:
        ops.unregister_custom_op("leaky")


def test_a_backward_that_cannot_be_traced_runs_in_python():
    class Indexed(Leaky):
        def backward(self, grad_output, inputs, output, *, slope):
            return (np.reshape(grad_output.ravel()[:], inputs[0].shape),)

    compiled = compile_op(Indexed())
    (found,) = compiled.create_gradient_function([X], X, slope=0.25).gradients(X)
    np.testing.assert_array_equal(found, X)


@pytest.mark.slow
def test_a_function_is_an_op_with_its_keywords_as_attributes():
    def shifted(x, y, *, by=2.0):
        return x * y + by, np.maximum(x, y)

    compiled = compile_op(shifted, check=True)
    assert (compiled.name, compiled.num_inputs, compiled.num_outputs) == ("shifted", 2, 2)
    total, greatest = compiled.forward(X, X[0], by=1.0)
    np.testing.assert_array_equal(total, X * X[0] + 1)
    np.testing.assert_array_equal(greatest, np.maximum(X, X[0]))
    assert not compiled.has_gradient


def test_a_chain_is_one_loop_with_the_gradient_of_all():
    chain = fuse([Leaky(), Scaled(), lambda x: x + 1.0, Leaky()], name="chain", check=True)
    scale = np.linspace(-1, 1, 31, dtype=np.float32)
    leaky = Leaky()
    wanted = leaky.forward(leaky.forward(X, slope=0.25) * scale + np.float32(1), slope=0.25)
    np.testing.assert_array_equal(chain.forward(X, scale), wanted)
    assert (chain.name, chain.num_inputs, chain.not_differentiable) == ("chain", 2, (1,))
    assert chain.source.count("for (int64_t i = 0; i < n; ++i)") == 1
    assert not chain.has_gradient


@pytest.mark.slow
def test_the_gradient_of_a_chain_is_checked_by_finite_differences():
    chain = fuse([Leaky(), Scaled()])
    x, scale = np.array([[1.5, -2.0, 0.5]]), np.array([2.0, 3.0, -1.0])
    gradient = chain.create_gradient_function([x, scale], chain.forward(x, scale))
    found = gradient.gradients(np.ones((1, 3)))
    step = 1e-6
    wanted = (chain.forward(x + step, scale) - chain.forward(x - step, scale)) / (2 * step)
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)
    assert found[1] is None


@pytest.mark.slow
def test_the_bound_is_that_of_the_steps_and_of_what_later_steps_make_of_them():
    compiled = compile_op(lambda x: np.exp(x) - 1.0)
    x = np.array([1e-3], np.float32)
    (bound,) = compiled.error_bound(x)
    assert compiled.ulps == 4
    assert 4 * np.spacing(np.float32(1)) <= bound <= 8 * np.spacing(np.float32(1))
    assert abs(compiled.forward(x) - (np.exp(x) - 1)) <= bound


@pytest.mark.slow
def test_a_compiled_form_that_differs_is_refused(monkeypatch):
    compiled = compile_op(Leaky())
    monkeypatch.setattr(Leaky, "forward", lambda self, x, slope: x + 1)
    with pytest.raises(OpError) as caught:
        compiled.check()
    first = np.random.default_rng(0).standard_normal((1, 515)).astype(np.float32)[0, 0]
    assert str(caught.value) == (
        f"operation 'leaky' compiled gives {first} at (0,) where it gives {first + 1} in Python; "
        "they may differ by 0"
    )


WRONG = {
    "no op": (lambda: compile_op(3), "only an op, the name of one or a function can be compiled, not 3"),
    "no inputs": (lambda: compile_op(lambda: 1), "function '<lambda>' must take one array or more to be compiled"),
    "an empty chain": (lambda: fuse([]), "a chain must have one operation or more"),
    "two outputs": (
        lambda: fuse([lambda x: (x + 1, x)]),
        "operations of a chain must have one output; '<lambda>' has 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_compiled_is_named(name):
    call, message = WRONG[name]
    with pytest.raises(OpError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.slow
def test_a_chain_validates_what_each_of_its_ops_is_given():
    positive = ops.CustomOpBuilder("positive", 1).forward(lambda inputs: np.sqrt(inputs[0]))
    positive = positive.validate(lambda inputs: bool((inputs[0] > 0).all())).build()
    chain = fuse([lambda x: x + 1.0, positive, lambda x: x * 2.0])
    np.testing.assert_array_equal(call_op(chain, [np.abs(X)]), np.sqrt(np.abs(X) + 1) * 2)
    with pytest.raises(OpError) as raised:
        call_op(chain, [-np.abs(X) - 1])
    assert str(raised.value) == "Operation 'positive' does not take these inputs: its validate returned False"
    assert (validates_inputs(chain.op), validates_inputs(fuse([Leaky()]).op)) == (True, False)


class Tenth(Op):
    """A tenth of its input."""

    name = "tenth"

    def forward(self, x):
        return x * np.float32(0.1)

    def backward(self, grad_output, inputs, output):
        return (grad_output * np.float32(0.1),)


class Widened(Op):
    """The same in float64, with a gradient that float32 does not hold."""

    name = "widened"

    def forward(self, x):
        return x.astype(np.float64)

    def backward(self, grad_output, inputs, output):
        return (grad_output / 3,)

    def output_dtype(self, dtypes, **attributes):
        return np.dtype(np.float64)


@pytest.mark.parametrize("make", [ChainOp, fuse], ids=["python", "compiled"])
@pytest.mark.slow
def test_a_chain_hands_on_gradients_in_the_dtypes_of_the_tape(make):
    links = [Tenth(), Widened()]
    found = []
    for ops_in_order in ([make(links)], links):
        x = y = ops.Tensor(X, requires_grad=True)
        for op in ops_in_order:
            y = y.apply(op, [y], {})
        (y * y).sum().backward()
        found.append(x.grad)
    assert found[0].dtype == np.float32
    np.testing.assert_array_equal(*found)
