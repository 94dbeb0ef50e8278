"""The gradient of one call: what backward is told, and what becomes of what it raises."""

import numpy as np
import pytest

from brainsmith.autodiff.op import Op, attributes_of
from brainsmith.autodiff.tape.tensor import Tensor, apply_op
from brainsmith.errors import GradientError
from brainsmith.ops import CustomOpBuilder

ONE = np.ones(2)


class Product(Op):
    """Multiplies, and notes what it was asked for."""

    name, num_inputs = "product", 2

    def forward(self, x, y):
        return x * y

    def backward(self, grad_output, inputs, output, *, needed):
        self.asked = needed
        return tuple(grad_output * inputs[1 - at] if needed[at] else None for at in range(2))


def test_backward_is_told_which_gradients_are_needed():
    op, x = Product(), Tensor([1.0, 2.0], requires_grad=True)
    apply_op(op, [x, [3.0, 4.0]]).sum().backward()
    assert (op.asked, x.grad.tolist()) == ((True, False), [3, 4])
    gradient = op.create_gradient_function([ONE, ONE], ONE)
    assert [g.tolist() for g in gradient.gradients(ONE)] == [[1, 1], [1, 1]]
    assert gradient.gradients(ONE, [False, True])[0] is None


def test_a_built_backward_is_told_too():
    def backward(grad_output, ids, *rest, inputs, needed):
        return {at: grad_output * inputs[1 - at] for at in ids if needed[at]}

    op = (
        CustomOpBuilder("product", 2).forward(lambda inputs: inputs[0] * inputs[1]).backward(backward).build()
    )
    y = Tensor([3.0, 4.0], requires_grad=True)
    apply_op(op, [[1.0, 2.0], y]).sum().backward()
    assert y.grad.tolist() == [1, 2]
    assert [g.tolist() for g in op.backward(ONE, [ONE, ONE], ONE)] == [[1, 1], [1, 1]]


def test_an_input_that_is_not_differentiable_is_not_needed():
    op = Product()
    op.not_differentiable = (1,)
    op.create_gradient_function([ONE, ONE], ONE).gradients(ONE)
    assert op.asked == (True, False)


def test_a_gradient_that_is_needed_must_be_there():
    op = Product()
    op.backward = lambda grad_output, inputs, output: (None, None)
    with pytest.raises(
        GradientError, match="returned no gradient for input 1; an input without one is listed"
    ):
        op.create_gradient_function([ONE, ONE], ONE).gradients(ONE, [False, True])


def test_an_attribute_named_needed_stays_the_op_s_own():
    class Own(Product):
        attributes = {"needed": (True, True)}

        def forward(self, x, y, *, needed):
            return x * y

    op = Own()
    op.create_gradient_function([ONE, ONE], ONE, needed=(False, True)).gradients(ONE, [False, True])
    assert op.asked == (False, True)


def test_what_backward_raises_is_a_gradient_error_that_names_the_op():
    def broken(grad_output, inputs, output):
        raise KeyError("gamma")

    op = Product()
    op.backward = broken
    with pytest.raises(GradientError) as caught:
        op.create_gradient_function([ONE, ONE], ONE).gradients(ONE)
    assert (
        str(caught.value) == "backward of operation 'product' failed on shapes (2,), (2,): KeyError: 'gamma'"
    )
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("given", [[1, 2], np.arange(2), {"a": [1]}, ([1], 2)], ids=str)
def test_attributes_are_copied_where_they_can_change(given):
    op = Product()
    op.attributes = {"table": None}
    kept = attributes_of(op, {"table": given})["table"]
    assert kept is not given
    assert repr(kept) == repr(given)
