"""Models of one operator, as programs and as standard ONNX, and what QONNX's own execution gives."""

import numpy as np

from brainsmith.execution.onnx.rewrite import rewrite
from tests.execution.onnx.rewritten import reference, run_rewritten
from tests.execution.program.single_node import assert_same_bits, run_program


def assert_every_form_right(model, mixed=False, **stacks):
    """Assert that both forms give what QONNX gives: the program in every bit, standard ONNX for all runs at once.

    Args:
        mixed: Whether standard ONNX takes one run at a time.
    """
    program = run_program(model, stacks)  # which imports what defines the operation
    wanted = reference(model, stacks)
    assert bool(rewrite(model).mixed) == mixed
    standard = run_rewritten(model, stacks)
    assert list(program) == list(standard) == list(wanted)
    for name, array in wanted.items():
        assert_same_bits(program[name], array)
        assert standard[name].shape == array.shape
        np.testing.assert_array_equal(standard[name], array)
