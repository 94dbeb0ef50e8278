"""Sliding windows and padding: what the table of layers does not say."""

import numpy as np
import pytest

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from tests.execution.operators.layer_cases import filled, windows_of
from tests.execution.program.single_node import assert_same_bits, is_foreign, one_node, run_program


def im2col(batch, pads=(0, 0, 0, 0), kind="INT4"):
    height, width = windows_of((7, 8), (3, 2), (2, 1), (1, 2), pads)
    return one_node(
        "Im2Col", {"x": (batch, 7, 8, 3)}, {"y": (batch, height, width, 18)}, kernel_size=[3, 2], stride=[2, 1],
        dilations=[1, 2], input_shape=f"({batch},7,8,3)", pad_amount=list(pads), datatypes={"x": kind},
    )  # fmt: skip


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 0, 2, 1)])
def test_a_batch_of_images_has_the_windows_of_each(pads):
    images = filled(np.random.default_rng(0), "INT4", (2, 7, 8, 3))
    one_by_one = run_program(im2col(1, pads), {"x": images.reshape(6, 1, 7, 8, 3)})["y"]
    assert_same_bits(run_program(im2col(2, pads), {"x": images})["y"].reshape(one_by_one.shape), one_by_one)


def test_a_batch_of_images_is_refused_in_standard_onnx():
    with pytest.raises(ModelError) as caught:
        rewrite(im2col(2))
    assert str(caught.value) == (
        "node 'node' (Im2Col) cannot be written with standard ONNX operators: its image must have shape "
        "(1, height, width, channels), not (2, 7, 8, 3)"
    )


def test_a_padding_that_the_datatype_lacks_is_left_to_qonnx():
    assert is_foreign(lower(runnable_copy(im2col(1, (1, 1, 1, 1), "BIPOLAR"))))
