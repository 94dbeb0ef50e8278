"""QONNX's operators with the channels last: their programs against QONNX's own execution."""

import numpy as np
import pytest

from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.program.single_node import (
    assert_lowered_right,
    assert_same_bits,
    is_foreign,
    one_node,
    run_program,
    run_reference,
    whole_numbers,
)

DOMAIN = "qonnx.custom_op.channels_last"


def draw(shape, seed=0):
    return whole_numbers(np.random.default_rng(seed), -8, 7, shape)


@pytest.mark.parametrize(("group", "pads"), [(1, [0, 0, 0, 0]), (1, [1, 0, 1, 2]), (4, [1, 1, 1, 1])])
@pytest.mark.parametrize("bias", [False, True])
def test_conv(group, pads, bias):
    constants = {"w": draw((8, 3, 2, 4 // group), 1)}
    if bias:
        constants["b"] = draw((8,), 2)
    size = [
        (n + p - k) // s + 1
        for n, p, k, s in zip((6, 7), (pads[0] + pads[2], pads[1] + pads[3]), (3, 2), (1, 2), strict=True)
    ]
    model = one_node(
        "Conv", {"x": (1, 6, 7, 4)}, {"y": (1, *size, 8)}, constants, domain=DOMAIN, kernel_shape=[3, 2], strides=[1, 2],
        pads=pads, dilations=[1, 1], group=group, datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw((3, 1, 6, 7, 4)))


@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_max_pool(pads):
    size = [(n + 2 * pads[0] - 2) // 2 + 1 for n in (6, 7)]
    model = one_node(
        "MaxPool", {"x": (1, 6, 7, 4)}, {"y": (1, *size, 4)}, domain=DOMAIN, kernel_shape=[2, 2], strides=[2, 2],
        pads=pads, datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw((3, 1, 6, 7, 4)))


def test_batch_normalisation():
    random = np.random.default_rng(0)
    constants = {name: random.uniform(0.5, 2, 4).astype(np.float32) for name in "sbmv"}
    model = one_node(
        "BatchNormalization", {"x": (1, 6, 7, 4)}, {"y": (1, 6, 7, 4)}, constants, domain=DOMAIN, opset=9, epsilon=1e-3,
        momentum=0.9,
    )  # fmt: skip
    stacks = {"x": draw((3, 1, 6, 7, 4)) / np.float32(3)}
    np.testing.assert_allclose(
        run_program(model, stacks)["y"], run_reference(model, stacks)["y"], rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("domain", [DOMAIN, "qonnx.custom_op.general"])
@pytest.mark.parametrize("worst", [np.nan, -np.inf, -0.0])
def test_a_faithful_max_pool_gives_every_bit_of_what_is_no_number(domain, worst):
    model = one_node(
        "MaxPool" if domain == DOMAIN else "MaxPoolNHWC", {"x": (1, 6, 6, 4)}, {"y": (1, 3, 3, 4)}, domain=domain,
        opset=11 if domain == DOMAIN else 1, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0],
    )  # fmt: skip
    values = np.random.default_rng(0).choice([worst, worst, 0, -2.5], (6, 1, 6, 6, 4)).astype(np.float32)
    program = lower(runnable_copy(model), faithful=True)
    for _ in range(2):  # the first decides whether a batch is used
        assert_same_bits(program.run({"x": values})["y"], run_reference(model, {"x": values})["y"])
    assert is_foreign(program)
