"""What passes between processes: every plain value and array comes out as it went in, and nothing is pickled."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from brainsmith.plugin.environments import worker_wire

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def passed(value, folder=""):
    """Return what comes out of a pipe at the other end."""
    blobs = []
    header = {"value": worker_wire.encode(value, blobs)}
    data = b"".join(worker_wire.packed(header, blobs, folder))
    end, start = os.pipe()
    os.write(start, data)
    os.close(start)
    try:
        header, blobs = worker_wire.unpack(lambda count: worker_wire.read_exactly(end, count), folder)
        assert worker_wire.unpack(lambda count: worker_wire.read_exactly(end, count)) is None
    finally:
        os.close(end)
    return worker_wire.decode(header["value"], blobs)


@given(VALUES)
def test_a_value_comes_out_as_it_went_in(value):
    found = passed(value)
    assert (found, repr(found)) == (value, repr(value))


@given(npst.arrays(npst.scalar_dtypes(), npst.array_shapes(max_dims=3, max_side=4)))
def test_an_array_comes_out_as_it_went_in(array):
    found = passed({"a": array})["a"]
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_a_path_and_a_number_of_numpy_keep_their_kinds():
    assert passed([Path("/a/b"), np.float32(1.5)]) == [Path("/a/b"), np.float32(1.5)]
    assert type(passed(np.int8(3))) is np.int8


@pytest.mark.parametrize("value", [object(), np.array([None]), {1, 2}, print])
def test_what_would_need_a_pickle_is_refused(value):
    with pytest.raises(worker_wire.UnsendableError, match=f"^{type(value).__name__}$"):
        worker_wire.encode([value], [])


def test_large_values_pass_as_files_that_are_gone_afterwards(tmp_path, monkeypatch):
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setattr(worker_wire, "LARGE", 3)
    value = [b"", b"12", b"123", {"a": np.arange(1000.0).reshape(10, 100)}, (b"1234", "text")]
    blobs = []
    header = {"value": worker_wire.encode(value, blobs)}
    _, *parts = worker_wire.packed(header, blobs, str(folder))
    assert parts == [b"", b"12"]
    assert sorted(file.read_bytes() for file in folder.iterdir()) == sorted(blobs[2:])
    for file in folder.iterdir():
        file.unlink()
    found = passed(value, str(folder))
    np.testing.assert_array_equal(found[3].pop("a"), value[3].pop("a"))
    assert found == value
    assert list(folder.iterdir()) == []


def test_where_there_is_no_room_for_a_file_a_value_passes_through_the_pipe(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_wire, "LARGE", 3)
    assert passed([b"12345"], str(tmp_path / "gone")) == [b"12345"]


def test_a_name_leads_nowhere_but_to_the_folder(tmp_path):
    (tmp_path / "outside").write_bytes(b"1")
    (tmp_path / "own").mkdir()
    with pytest.raises(FileNotFoundError):
        worker_wire._taken("../outside", str(tmp_path / "own"))
