"""What a golden function gives is checked against the kernel's streams before anything is compared with it."""

import numpy as np
import pytest
from onnx import helper

from brainsmith.errors import ModelError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.rtl.cores.stream_kernel import StreamKernel, StreamType  # noqa: E402


class Half(StreamKernel):
    """One frame of 4 values; what it gives, and as what, is put in by each test."""

    inputs = (StreamType("in", (1, 4), "INT8"),)
    cycles = 4


def run(result, kind="UINT4"):
    said = {"golden": staticmethod(lambda x: result), "outputs": (StreamType("out", (1, 4), kind),)}
    kernel = type("Half", (Half,), said)
    node = helper.make_node("Half", ["x"], ["y"], name="half0")
    context = {"x": np.zeros((1, 4), np.float32)}
    kernel(node).execute_node(context, None)
    return context["y"]


SAID = "node 'half0': the golden function of Half gives "


@pytest.mark.parametrize(
    ("result", "kind", "text"),
    [
        (np.array([[1, 2, 44.5, 3]]), "UINT8", "44.5 for 'out', which is not a whole number"),
        (np.array([[1, np.nan, 2, 3]]), "UINT8", "nan for 'out', which is not a whole number"),
        (np.array([[1, 16, 2, 3]]), "UINT4", "16 for 'out', which UINT4 does not hold: it holds 0 to 15"),
        (np.array([[1, -9, 2, 3]]), "INT4", "-9 for 'out', which INT4 does not hold: it holds -8 to 7"),
        (np.array([[1, -1, 0, 1]]), "BIPOLAR", "0 for 'out', which BIPOLAR does not hold: it holds -1 to 1"),
        (
            np.array([[0, 1, 2, 2**24 + 1]]), "UINT32",
            "16777217 for 'out', which float32, the type of tensors, does not hold exactly: whole numbers are exact up to "
            "16777216",
        ),
        (np.zeros((4, 1)), "UINT4", "an array of shape (4, 1) for 'out', which has the shape (1, 4)"),
        (3, "UINT4", "an array of shape () for 'out', which has the shape (1, 4)"),
    ],
)  # fmt: skip
def test_what_the_output_cannot_be_is_refused(result, kind, text):
    with pytest.raises(ModelError) as raised:
        run(result, kind)
    assert str(raised.value) == SAID + text


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ([[0, 15, 3, 1]], "UINT4"),
        ([[1.0, -8.0, 7.0, 0.0]], "INT4"),
        ([[1, -1, 1, 1]], "BIPOLAR"),
        ([[0.5, 1, 2, 3]], "FLOAT32"),
    ],
)
def test_what_it_can_be_is_taken(result, kind):
    found = run(np.array(result), kind)
    assert found.dtype == np.float32
    assert found.tolist() == result
