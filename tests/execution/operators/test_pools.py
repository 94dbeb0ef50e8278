"""Pools: what the table of layers does not say."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.fallback.node_runners import make_runner
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.onnx.rewritten import run_rewritten
from tests.execution.operators.layer_cases import CHANNELS_LAST, filled, pool_node
from tests.execution.program.single_node import (
    assert_same_bits,
    is_foreign,
    one_node,
    run_program,
    run_reference,
)

FORMS = pytest.mark.parametrize("run", [run_program, run_rewritten])


@FORMS
@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_quantised_mean_shifts_as_the_hardware_does(run, size):
    x = filled(np.random.default_rng(size), "INT4", (1, 3, 2, 16))
    sums = x.reshape(3, 1, 3, 2, 4, 4).sum(axis=-2)
    assert_same_bits(
        run(pool_node("QuantAvgPool", size), {"x": x})["y"], np.floor(sums / np.float32(2**size))
    )


@FORMS
@pytest.mark.parametrize("function", ["MaxPool", "AccPool", "QuantAvgPool"])
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_pool_in_rtl_takes_windows_some_channels_at_a_time(run, function, lanes):
    model = pool_node(function, 1, lanes=lanes, backend="rtl", exec_mode="cppsim")
    x = filled(np.random.default_rng(lanes), "INT4", (1, 3, 2, 16))
    given = run(model, {"x": x})["y"]
    runner = make_runner(model, model.graph.node[0], {})
    np.testing.assert_array_equal(given, np.stack([runner.once({"x": one})["y"] for one in x]))


def test_an_unknown_function_is_refused():
    with pytest.raises(ModelError) as caught:
        rewrite(pool_node("MinPool"))
    assert str(caught.value).endswith("standard ONNX operators: its function 'MinPool' is unknown")


@pytest.mark.parametrize("domain", [CHANNELS_LAST, "qonnx.custom_op.general"])
@pytest.mark.parametrize("worst", [np.nan, -np.inf, -0.0])
def test_a_faithful_max_pool_gives_every_bit_of_what_is_no_number(domain, worst):
    model = one_node(
        "MaxPool" if domain == CHANNELS_LAST else "MaxPoolNHWC", {"x": (1, 6, 6, 4)}, {"y": (1, 3, 3, 4)}, domain=domain,
        opset=11 if domain == CHANNELS_LAST else 1, kernel_shape=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0],
    )  # fmt: skip
    values = np.random.default_rng(0).choice([worst, worst, 0, -2.5], (6, 1, 6, 6, 4)).astype(np.float32)
    program = lower(runnable_copy(model), faithful=True)
    for _ in range(2):  # the first decides whether a batch is used
        assert_same_bits(program.run({"x": values})["y"], run_reference(model, {"x": values})["y"])
    assert is_foreign(program)
