"""Each shipped op with a fault in the gradient of one input: the check finds every one, and names the input."""

import copy

import numpy as np
import pytest

from brainsmith.errors import GradientError
from brainsmith.ops import examples, gradcheck
from brainsmith.ops.bipolar_quant import BipolarQuant
from brainsmith.ops.int_quant import IntQuant
from brainsmith.ops.multi_threshold import MultiThreshold
from brainsmith.ops.power_of_two_quant import PowerOfTwoQuant

OPS = [
    *(make() for make in (examples.swish, examples.gelu, examples.power, examples.layer_norm, examples.mish)),
    *(made() for made in (IntQuant, BipolarQuant, MultiThreshold, PowerOfTwoQuant)),
]
INPUTS = [
    pytest.param(op, at, id=f"{op.name}-{at}")
    for op in OPS
    for at in range(op.num_inputs)
    if at not in op.not_differentiable
]
FAULTS = {
    "one part in ten thousand": lambda gradient: gradient * 1.0001,
    "the sign": lambda gradient: -gradient,
    "all ones": np.ones_like,
    "nothing": np.zeros_like,
    "NaN": lambda gradient: np.full_like(gradient, np.nan),
    "one element": lambda gradient: np.where(
        np.arange(gradient.size).reshape(gradient.shape) == 0, 7, gradient
    ),
}


def faulty(op, at, fault, ignore_upstream=False):
    """Return a copy of an op whose gradient for one input has a fault."""
    wrong, backward = copy.copy(op), op.backward

    def altered(grad_output, inputs, output, **attributes):
        upstream = np.ones_like(grad_output) if ignore_upstream else grad_output
        gradients = list(backward(upstream, inputs, output, **attributes))
        gradients[at] = np.asarray(fault(gradients[at]))
        return tuple(gradients)

    wrong.backward = altered
    return wrong


@pytest.mark.parametrize(("op", "at"), INPUTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_one_gradient_is_found(op, at, fault):
    with pytest.raises(
        GradientError, match=rf"^backward of operation '{op.name}' is not .* for input {at}, "
    ):
        gradcheck(faulty(op, at, FAULTS[fault]))


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_pitfall_34_a_shipped_gradient_that_ignores_upstream(op):
    wrong = faulty(op, 0, lambda gradient: gradient, ignore_upstream=True)
    with pytest.raises(GradientError, match=r"backward must multiply by grad_output$"):
        gradcheck(wrong)
