"""Frames: what goes in comes out, bit for bit; what is no frame is refused with a reason."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith.errors import WireError
from brainsmith.runtime.serving.wire import DTYPES, HEAD_BYTES, decode, encode, from_json, to_json

ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)


class Dribble(io.BytesIO):
    """Gives three bytes at a time, as a slow connection may."""

    def readinto(self, buffer):
        return super().readinto(memoryview(buffer)[:3])


def sent(head, arrays, source=io.BytesIO):
    data = b"".join(encode(head, arrays))
    return decode(source(data), len(data))


def frame(head, data=b""):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return len(text).to_bytes(4, "little") + text + data


@given(
    st.dictionaries(st.text(max_size=8), ARRAYS, max_size=3),
    st.dictionaries(
        st.text(max_size=5).filter(lambda name: name != "arrays"),
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    ),
    st.sampled_from([io.BytesIO, Dribble]),
)
def test_what_is_sent_is_what_comes(arrays, head, source):
    found_head, found = sent(head, arrays, source)
    assert found_head == head
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        assert found[name].flags.writeable and found[name].flags.aligned


@given(ARRAYS)
def test_the_order_of_memory_and_of_bytes_does_not_matter(array):
    turned = np.asfortranarray(array).astype(array.dtype.newbyteorder(">"))
    (found,) = sent({}, {"a": turned})[1].values()
    assert found.dtype.isnative
    assert found.tobytes() == array.tobytes()
    (part,) = sent({}, {"a": array.T[::2] if array.ndim else array})[1].values()
    np.testing.assert_array_equal(part, array.T[::2] if array.ndim else array)


@pytest.mark.parametrize("dtype", ["complex64", "object", "datetime64[s]", "U3", "V4"])
def test_other_types_are_not_sent(dtype):
    with pytest.raises(WireError) as error:
        encode({}, {"a": np.zeros(2, dtype)})
    name = np.dtype(dtype).name
    assert str(error.value) == f"array 'a' must be of {', '.join(DTYPES)} to be sent, not {name}"


def test_heads_are_plain_and_short():
    with pytest.raises(WireError) as error:
        to_json({"a": {1, 2}})
    assert str(error.value) == (
        "only numbers, texts, lists and tables can be sent: Object of type set is not JSON serializable"
    )
    with pytest.raises(WireError) as error:
        encode({"a": "x" * HEAD_BYTES}, {})
    assert str(error.value) == "the head of a frame must have 1,048,576 bytes at most, not 1,048,596"


MALFORMED = {
    "nothing": (b"", "a frame must have 4 bytes or more, not 0"),
    "a long head": (b"\xff\xff\xff\xff{}", "the head of a frame of 6 bytes cannot have 4,294,967,295"),
    "no JSON": (frame(b"\x80\x04K\x01."), "it is no JSON: "),
    "too deep": (frame(b"[" * 200_000), "it is no JSON: maximum recursion depth exceeded"),
    "a list": (frame([]), "it must be a JSON object, not list"),
    "no arrays": (frame({}), "arrays of a frame must be a list, not None"),
    "a short row": (
        frame({"arrays": [["a"]]}),
        "an array must be stated as [name, dtype, shape], not ['a']",
    ),
    "a number for a name": (
        frame({"arrays": [[1, "int8", []]]}),
        "the name of an array must be a text that no other has, not 1",
    ),
    "twice": (
        frame({"arrays": [["a", "int8", [0]]] * 2}),
        "the name of an array must be a text that no other has, not 'a'",
    ),
    "objects": (
        frame({"arrays": [["a", "object", []]]}, b"12345678"),
        f"the dtype of array 'a' must be {', '.join(DTYPES)}, not 'object'",
    ),
    "a table for a dtype": (
        frame({"arrays": [["a", {"names": []}, []]]}),
        f"the dtype of array 'a' must be {', '.join(DTYPES)}, not {{'names': []}}",
    ),
    "negative": (
        frame({"arrays": [["a", "int8", [-1]]]}),
        "the shape of array 'a' must be whole numbers, 0 or more, not [-1]",
    ),
    "true": (
        frame({"arrays": [["a", "int8", [True]]]}, b"1"),
        "the shape of array 'a' must be whole numbers, 0 or more, not [True]",
    ),
    "huge and empty": (
        frame({"arrays": [["a", "int8", [0, 2**63]]]}),
        "the shape of array 'a' must be whole numbers, 0 or more, not [0, 9223372036854775808]",
    ),
    "too few bytes": (
        frame({"arrays": [["a", "int16", [2]]]}, b"123"),
        "the arrays of a frame must have 3 bytes, not the 4 of its head",
    ),
    "more than memory": (
        frame({"arrays": [["a", "int16", [2**50]]]}, b"123"),
        "the arrays of a frame must have 3 bytes, not the 2,251,799,813,685,248 of its head",
    ),
    "no truth": (
        frame({"arrays": [["a", "bool", [2]]]}, b"\1\2"),
        "array 'a' of bool must hold the bytes 0 and 1 only",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_is_no_frame_is_refused(case):
    data, message = MALFORMED[case]
    with pytest.raises(WireError) as error:
        decode(io.BytesIO(data), len(data))
    found = str(error.value)
    assert found.startswith(message) if message.endswith((": ", "exceeded")) else found == message


def test_an_end_before_its_time_is_told():
    data = frame({"arrays": [["a", "int8", [9]]]}, b"123456789")
    with pytest.raises(WireError) as error:
        decode(io.BytesIO(data[:-5]), len(data))
    assert str(error.value) == "5 bytes are missing at its end"


@given(st.binary(max_size=60))
def test_no_bytes_do_more_than_being_refused(data):
    try:
        decode(io.BytesIO(data), len(data))
    except WireError as error:
        assert str(error)
    try:
        from_json(data)
    except WireError as error:
        assert str(error)
