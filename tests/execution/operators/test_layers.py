"""QONNX's and FINN's operators as programs and as standard ONNX, against their own Python, bit for bit."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brainsmith.errors import ModelError
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.operators.readers import readers
from tests.execution.onnx.rewritten import assert_rewritten_right
from tests.execution.operators.layer_cases import CASES
from tests.execution.program.single_node import assert_lowered_right


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_every_form_gives_what_python_gives(name, data):
    case = CASES[name](data.draw)
    assume(case is not None)
    assert_lowered_right(case.model, **case.stacks)
    if case.refusal:
        with pytest.raises(ModelError) as caught:
            rewrite(case.model)
        kind = case.model.graph.node[0].op_type
        begin = f"node 'node' ({kind}) cannot be written with standard ONNX operators: "
        assert str(caught.value).startswith(begin)
        assert str(caught.value).endswith(case.refusal)
        return
    stacks = case.stacks
    if case.finite:
        stacks = {name: finite(stack) for name, stack in stacks.items()}
    assert_rewritten_right(case.model, case.relative, case.mixed, **stacks)


def finite(stack):
    """Return a stack without what is no number, and without numbers next to 0 or to the largest."""
    ordinary = np.isfinite(stack) & (np.abs(stack) < 1e30) & ((stack == 0) | (np.abs(stack) > 1e-30))
    return np.where(ordinary, stack, np.float32(7))


ELSEWHERE = {
    "test_movement.py": {
        "Crop", "DebugMarker", "DuplicateStreams", "InnerShuffle", "Lookup", "OuterShuffle", "ReplicateStream", "Reshape",
        "SelectToken", "Shuffle", "Squeeze", "StreamingConcat", "StreamingDataWidthConverter", "StreamingFIFO",
        "StreamingSplit", "Unsqueeze", "UpsampleNearestNeighbour",
    },
    "test_row_kernels.py": {"HWSoftmax", "LayerNorm"},
    "test_tokens.py": {"MergeMultiHeads", "Pad1D", "SplitMultiHeads"},
}  # fmt: skip


def test_the_table_of_layers():
    tested = {name.partition(",")[0] for name in CASES} | {"IntQuant"} | set().union(*ELSEWHERE.values())
    known = {kind for family, kind in readers() if family.startswith(("qonnx.", "finn."))}
    assert known - tested == set()
