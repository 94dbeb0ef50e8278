"""A program as plain values, and what is not believed of what is kept."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.encoding import of_plain, to_plain
from brainsmith.execution.program.instruction import Instruction
from brainsmith.execution.signature import ModelSignature, TensorSpec
from brainsmith.store.values import Kept

NAMES = st.text(min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=5,
)
ARRAYS = st.sampled_from(["float32", "float64", "int64", "int8", "bool", "uint8"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
SPECS = st.builds(
    TensorSpec, NAMES, st.lists(st.integers(0, 9), max_size=3).map(tuple), st.just("int64"), st.just("INT4")
)


@st.composite
def programs(draw):
    instructions = st.builds(
        Instruction,
        NAMES,
        st.lists(NAMES, max_size=3).map(tuple),
        st.lists(NAMES, max_size=2).map(tuple),
        st.dictionaries(NAMES, VALUES, max_size=3),
        st.text(max_size=5),
    )
    return Program(
        ModelSignature(draw(st.lists(SPECS, max_size=2).map(tuple)), draw(st.lists(SPECS, max_size=2).map(tuple))),
        draw(st.lists(instructions, max_size=3).map(tuple)),
        draw(st.dictionaries(NAMES, ARRAYS, max_size=3)),
        draw(st.lists(NAMES, max_size=3).map(tuple)),
        draw(st.dictionaries(NAMES, st.lists(st.integers(0, 99), max_size=3).map(tuple), max_size=3)),
        draw(st.integers(1, 512)),
        draw(st.none() | st.dictionaries(NAMES, NAMES, max_size=2)),
    )  # fmt: skip


@given(programs())
@settings(max_examples=30, deadline=None)
def test_plain_values_and_back(program):
    found = of_plain(to_plain(program))
    for name, array in program.constants.items():
        assert found.constants[name].dtype == array.dtype
        assert found.constants[name].shape == array.shape
        np.testing.assert_array_equal(found.constants[name], array)
    assert list(found.constants) == list(program.constants)
    for part in ("signature", "instructions", "tensors", "shapes", "chunk", "files"):
        assert getattr(found, part) == getattr(program, part)
    assert to_plain(found) == to_plain(program)


@given(programs(), st.data())
@settings(max_examples=20, deadline=None)
def test_damaged_bytes_are_refused(tmp_path_factory, program, data):
    kept = Kept(str(tmp_path_factory.mktemp("cache")), "programs", "key")
    assert kept.save(None, to_plain(program))
    assert kept.load(None) == to_plain(program)
    whole = bytearray(Path(kept.path).read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    cut = bytes(whole[:at])
    whole[at] ^= data.draw(st.integers(1, 255))
    for damaged in (bytes(whole), cut):
        Path(kept.path).write_bytes(damaged)
        assert kept.load(None) is None


def test_arrays_are_aligned_and_cannot_be_written():
    constants = {"a": np.ones(3, np.int8), "b": np.ones((2, 2), np.float64)}
    program = of_plain(to_plain(Program(ModelSignature((), ()), (), constants, (), {})))
    assert not program.constants["b"].flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        program.constants["b"][0, 0] = 2
