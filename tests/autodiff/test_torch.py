"""Ops in torch.autograd: run where torch is installed; without it, what is said."""

import subprocess
import sys

import numpy as np
import pytest

from brainsmith import ops
from brainsmith.errors import FrameworkUnavailableError, GradientError, OpError
from brainsmith.ops import CustomOpBuilder

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="needs torch: pip install torch==2.13.0")
needs_no_torch = pytest.mark.skipif(torch is not None, reason="needs an environment without torch")
EXAMPLES = ["gelu", "layer_norm", "mish", "power", "swish"]
QUANTISERS = ["bipolar_quant", "int_quant", "multi_threshold", "power_of_two_quant"]


@needs_no_torch
def test_without_torch_a_call_says_what_to_install():
    message = (
        r"^torch is not installed, so no op can be run in torch\.autograd: "
        r"pip install torch \(No module named 'torch'\)$"
    )
    with pytest.raises(FrameworkUnavailableError, match=message):
        ops.torch_apply("int_quant", [1.0])
    with pytest.raises(FrameworkUnavailableError, match=message):
        ops.as_torch_function("int_quant")


@pytest.mark.slow
def test_nothing_imports_torch_unless_called():
    program = (
        "import sys; from brainsmith import ops; ops.register_example_custom_ops(); ops.gradcheck('swish'); "
        "ops.as_torch_function, ops.torch_apply; sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def inputs_of(name, seed=0):
    """Return an op's inputs as tensors of doubles, those that are differentiable with a gradient."""
    op = ops.get_custom_op(name)
    random = np.random.default_rng(seed)
    given = op.samples(random) or [random.normal(size=(2, 3)) for _ in range(op.num_inputs)]
    return [
        torch.tensor(np.asarray(x, np.float64), requires_grad=at not in op.not_differentiable)
        for at, x in enumerate(given)
    ]


@needs_torch
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("seed", range(3))
def test_torchs_own_gradient_check(name, seed):
    ops.register_example_custom_ops()
    function = ops.as_torch_function(name)
    assert issubclass(function, torch.autograd.Function)
    assert torch.autograd.gradcheck(function.apply, inputs_of(name, seed))


@needs_torch
@pytest.mark.parametrize("name", QUANTISERS)
def test_a_quantisers_gradient_is_the_ops_own(name):
    op = ops.get_custom_op(name)
    tensors = inputs_of(name)
    output = ops.torch_apply(name, tensors)
    upstream = torch.randn(output.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    output.backward(upstream)
    arrays = [tensor.detach().numpy() for tensor in tensors]
    expected = op.create_gradient_function(arrays, output.detach().numpy(), **op.attributes).gradients(
        upstream.numpy()
    )
    for tensor, gradient in zip(tensors, expected, strict=True):
        if gradient is None:
            assert tensor.grad is None
        else:
            np.testing.assert_array_equal(tensor.grad.numpy(), gradient)


@needs_torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["gelu", "swish", "mish", "layer_norm"])
def test_it_is_what_torch_computes(name, dtype):
    ops.register_example_custom_ops()
    functional = torch.nn.functional
    x = torch.linspace(-6, 6, 60, dtype=getattr(torch, dtype)).reshape(5, 12).requires_grad_()
    scale = torch.linspace(0.5, 1.5, 12, dtype=x.dtype).requires_grad_()
    bias = torch.linspace(-1, 1, 12, dtype=x.dtype).requires_grad_()
    upstream = torch.linspace(-1, 2, 60, dtype=x.dtype).reshape(5, 12)
    theirs = {
        "gelu": functional.gelu,
        "swish": functional.silu,
        "mish": functional.mish,
        "layer_norm": lambda x, scale, bias: functional.layer_norm(x, (12,), scale, bias, eps=1e-5),
    }[name]
    given = [x, scale, bias] if name == "layer_norm" else [x]
    ours, expected = ops.torch_apply(name, given), theirs(*given)
    tolerance = {"float32": 2e-6, "float64": 1e-14}[dtype]
    assert ours.dtype == expected.dtype
    torch.testing.assert_close(ours, expected, rtol=tolerance, atol=tolerance)
    found = torch.autograd.grad(ours, given, upstream)
    wanted = torch.autograd.grad(expected, given, upstream)
    for mine, theirs_ in zip(found, wanted, strict=True):
        torch.testing.assert_close(mine, theirs_, rtol=10 * tolerance, atol=10 * tolerance)


@needs_torch
def test_a_network_learns_through_an_op():
    """A weight is found through a quantiser of four bits, whose scale is learned too."""
    torch.manual_seed(0)
    x = torch.randn(256, 8)
    truth = torch.randn(8, 1)
    weight, scale = torch.zeros(8, 1, requires_grad=True), torch.tensor(0.5, requires_grad=True)
    optimiser = torch.optim.Adam([weight, scale], lr=0.05)
    losses = []
    for _ in range(150):
        optimiser.zero_grad()
        loss = ((x @ ops.torch_apply("int_quant", [weight, scale, 0.0, 6]) - x @ truth) ** 2).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.01 * losses[0]
    assert scale.item() != 0.5


def recorder():
    """Return an op that keeps the arrays that it is given, x + 1 with its gradient."""
    seen = []

    def forward(inputs):
        seen.append(inputs[0])
        return inputs[0] + 1

    op = (
        CustomOpBuilder("recorder", 1)
        .forward(forward)
        .backward(lambda grad, ids, *rest: {ids[0]: grad})
        .build()
    )
    return op, seen


@needs_torch
@pytest.mark.parametrize("make", ["contiguous", "transposed", "strided", "scalar", "empty"])
def test_no_tensor_is_copied_on_the_way_in(make):
    base = torch.arange(24.0).reshape(4, 6)
    x = {
        "contiguous": base,
        "transposed": base.T,
        "strided": base[::2, 1::2],
        "scalar": torch.tensor(3.0),
        "empty": base[:0],
    }[make]
    op, seen = recorder()
    result = ops.torch_apply(op, [x])
    assert seen[0].ctypes.data == x.data_ptr() or not x.numel()
    torch.testing.assert_close(result, x + 1)


@needs_torch
def test_the_result_is_the_ops_own_array():
    made = np.ones(3, np.float32)
    op = CustomOpBuilder("maker", 1).forward(lambda inputs: made).build()
    assert ops.torch_apply(op, [torch.zeros(3)]).data_ptr() == made.ctypes.data


@needs_torch
def test_what_shares_memory_with_an_input_is_copied():
    """torch adds gradients in place, so two that share memory would both change."""
    same = CustomOpBuilder("same", 1).forward(lambda inputs: inputs[0])
    same.backward(lambda grad, ids, *rest: {ids[0]: grad})
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3, requires_grad=True)
    result = ops.torch_apply(same.build(), [x])
    assert result.data_ptr() != x.data_ptr()
    total = result + y
    total.sum().backward(retain_graph=True)
    x.grad.add_(5)
    assert y.grad.tolist() == [1, 1, 1]
    total.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([7, 7, 7], [2, 2, 2])


@needs_torch
def test_an_input_twice_adds_its_gradients():
    ops.register_example_custom_ops()
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    ops.torch_apply("power", [x, x]).sum().backward()
    torch.testing.assert_close(x.grad, (x**x * (torch.log(x) + 1)).detach())


class Needy(ops.Op):
    """Notes which gradients it is asked for, and computes no other."""

    name, num_inputs, not_differentiable = "needy", 3, (2,)

    def __init__(self):
        self.asked = []

    def forward(self, a, b, c):
        return a * b + c

    def backward(self, grad_output, inputs, output, *, needed):
        self.asked.append(needed)
        return (
            grad_output * inputs[1] if needed[0] else None,
            grad_output * inputs[0] if needed[1] else None,
            None,
        )


@needs_torch
def test_a_gradient_that_is_not_needed_is_not_asked_for():
    op, x = Needy(), torch.full((3,), 2.0, requires_grad=True)
    ops.torch_apply(op, [x, torch.full((3,), 5.0), 0.0]).sum().backward()
    ops.torch_apply(op, [torch.full((3,), 5.0), x, x]).sum().backward()
    assert op.asked == [(True, False, False), (False, True, False)]
    assert x.grad.tolist() == [10, 10, 10]


class Halves(ops.Op):
    """Two outputs of floats and one of integers."""

    name, num_inputs, num_outputs = "halves", 2, 3
    not_differentiable = (1,)

    def forward(self, x, index):
        return x * 2, x * x, index + 1

    def backward(self, grad_output, inputs, output):
        double, square, count = grad_output
        assert count.dtype == np.int64
        return double * 2 + square * 2 * inputs[0], None

    def output_dtype(self, dtypes):
        return dtypes[0], dtypes[0], dtypes[1]


@needs_torch
def test_several_outputs_of_which_some_have_no_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    double, square, count = ops.torch_apply(Halves(), [x, torch.tensor([3, 4])])
    assert (count.tolist(), count.requires_grad, double.requires_grad) == ([4, 5], False, True)
    square.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2, 4]
    (double * square).sum().backward()
    assert x.grad.tolist() == [2 + 6, 4 + 24]


@needs_torch
def test_a_second_derivative_is_refused():
    ops.register_example_custom_ops()
    x = torch.tensor([1.0], requires_grad=True)
    (first,) = torch.autograd.grad(ops.torch_apply("swish", [x]).sum(), x, create_graph=True)
    assert first.item() == pytest.approx(0.9276706)
    with pytest.raises(GradientError) as caught:
        first.sum().backward()
    assert (
        str(caught.value)
        == "operation 'swish' states its first derivative only; it cannot be differentiated twice"
    )


@needs_torch
def test_what_is_changed_before_backward_is_noticed():
    ops.register_example_custom_ops()
    x = torch.ones(3)
    weight = torch.ones(3, requires_grad=True)
    product = weight * x
    result = ops.torch_apply("swish", [product])
    product.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


@needs_torch
def test_numbers_and_arrays_are_constants():
    ops.register_example_custom_ops()
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    result = ops.torch_apply("layer_norm", [x, np.ones(3), 0])
    assert (result.dtype, result.requires_grad) == (torch.float64, True)
    result.sum().backward()
    assert x.grad.shape == (2, 3)


@needs_torch
def test_an_op_without_gradient_runs_and_says_so_when_asked():
    op = CustomOpBuilder("forward_only", 1).forward(lambda inputs: inputs[0] * 2).build()
    result = ops.torch_apply(op, [torch.ones(2, requires_grad=True)])
    assert result.tolist() == [2, 2]
    with pytest.raises(
        GradientError, match=r"^operation 'forward_only' has no gradient: it defines no backward$"
    ):
        result.sum().backward()


@needs_torch
def test_nothing_is_kept_without_a_gradient():
    ops.register_example_custom_ops()
    with torch.no_grad():
        assert not ops.torch_apply("swish", [torch.ones(2, requires_grad=True)]).requires_grad


def tensors(kind):
    return {
        "meta": lambda: torch.ones(2, device="meta"),
        "bfloat16": lambda: torch.ones(2, dtype=torch.bfloat16),
        "sparse": lambda: torch.eye(2).to_sparse(),
        "complex": lambda: torch.ones(2, dtype=torch.complex64),
    }[kind]()


@needs_torch
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("meta", "Operation 'swish' runs on the CPU, but input 0 is on meta: use .cpu()"),
        (
            "bfloat16",
            "Operation 'swish' supports the dtypes that numpy has only; input 0 is torch.bfloat16: .float() converts it",
        ),
        ("sparse", "Operation 'swish' takes dense tensors; input 0 is torch.sparse_coo: .to_dense()"),
        ("complex", "Operation 'swish' expects numbers, got complex64 for input 0"),
    ],
)
def test_tensors_that_are_refused(kind, message):
    ops.register_example_custom_ops()
    with pytest.raises(OpError) as caught:
        ops.torch_apply("swish", [tensors(kind)])
    assert str(caught.value) == message


@needs_torch
def test_the_functional_form_of_torchs_gradient():
    ops.register_example_custom_ops()
    x = torch.tensor([0.5, -1.0])
    found = torch.func.grad(lambda x: ops.torch_apply("swish", [x]).sum())(x)
    expected = torch.func.grad(lambda x: torch.nn.functional.silu(x).sum())(x)
    torch.testing.assert_close(found, expected)


@needs_torch
def test_a_tensor_of_the_tape_is_no_tensor_of_torch():
    ops.register_example_custom_ops()
    with pytest.raises(OpError) as caught:
        ops.torch_apply("power", [torch.ones(1), ops.Tensor([1.0])])
    assert str(caught.value) == (
        "torch runs operation 'power' on torch's tensors, but input 1 is a Tensor of brainsmith's tape, whose gradient "
        "would be lost; .numpy() makes a constant of it"
    )


@needs_torch
def test_a_tensor_of_torch_with_a_gradient_is_not_taken_by_a_plain_call():
    ops.register_example_custom_ops()
    with pytest.raises(
        OpError, match=r"^Operation 'swish' expects an array for input 0, got Tensor: Can't call numpy"
    ):
        ops.execute_custom_op("swish", [torch.ones(1, requires_grad=True)])


@needs_torch
def test_bad_calls():
    ops.register_example_custom_ops()
    with pytest.raises(OpError, match=r"^Operation 'power' expects 2 inputs, got 1$"):
        ops.torch_apply("power", [torch.ones(2)])
    with pytest.raises(OpError, match=r"^operation 'swish' has no attribute 'beta'; it has none$"):
        ops.torch_apply("swish", [torch.ones(2)], beta=2)
    with pytest.raises(OpError, match=r"^torch runs an op, its name or its class, not 3$"):
        ops.as_torch_function(3)
