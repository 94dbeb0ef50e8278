"""FINN's layers that move tokens, against the reference, bit for bit: as programs, and those of heads as standard ONNX."""

import numpy as np
import pytest

from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from tests.execution.operators.every_form import assert_every_form_right
from tests.execution.program.single_node import FINN, assert_lowered_right, one_node, whole_numbers

prepare_finn()


def draw(shape, seed=0):
    return whole_numbers(np.random.default_rng(seed), -8, 7, shape)


@pytest.mark.parametrize(
    ("left", "right", "repeated"), [(1, 0, False), (2, 3, False), (2, 3, True), (0, 0, True)]
)
def test_tokens_around_a_sequence(left, right, repeated):
    sizes = [(1, 1 if repeated else max(count, 1), 4) for count in (left, right)]
    constants = {name: draw(size, at) for at, (name, size) in enumerate(zip("lr", sizes, strict=True))}
    model = one_node(
        "Pad1D", {"x": (1, 3, 4)}, {"y": (1, 3 + left + right, 4)}, constants, domain=FINN, NumTokens=3, NumChannels=4,
        PadLeft=left, PadRight=right, SIMD=1, inputDataType="INT4", outputDataType="INT4",
        datatypes={"x": "INT4", "y": "INT4"},
    )  # fmt: skip
    assert_lowered_right(model, x=draw((3, 1, 3, 4)))


@pytest.mark.parametrize("packed", [True, False])
def test_heads_apart(packed):
    outputs = {"y": (2, 5, 3)} if packed else {"y": (5, 1, 3), "z": (5, 1, 3)}
    model = one_node(
        "SplitMultiHeads", {"x": (5, 1, 6)}, outputs, domain=FINN, heads=2, packed=int(packed), dtype="INT4", num_elems=6,
        num_inputs=[5, 1], datatypes={"x": "INT4"},
    )  # fmt: skip
    assert_every_form_right(model, x=draw((3, 5, 1, 6)))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("squeezed", [True, False])
def test_heads_together(packed, squeezed):
    inputs = {"a": (2, 5, 3)} if packed else {"a": (5, 3), "b": (5, 3)}
    model = one_node(
        "MergeMultiHeads", inputs, {"y": (5, 6) if squeezed else (5, 1, 6)}, domain=FINN, heads=2, packed=int(packed),
        squeezed=int(squeezed), dtype="INT4", num_elems=3, num_inputs=[2, 5] if packed else [5],
        datatypes=dict.fromkeys(inputs, "INT4"),
    )  # fmt: skip
    right = assert_every_form_right if packed else assert_lowered_right
    right(model, **{name: draw((3, *shape), at) for at, (name, shape) in enumerate(inputs.items())})
