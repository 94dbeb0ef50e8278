"""Arrays as they are sent: what goes in comes out, bit for bit; anything else is refused with a reason."""

import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from brainsmith.errors import WireError
from brainsmith.runtime.serving.wire import DTYPES, HEAD_BYTES, decode, encode, from_json, to_json

ARRAYS = st.sampled_from(sorted(DTYPES.values())).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)


def sent(head, arrays):
    return decode(encode(head, arrays))


def file(tensors, data=b"", head=None):
    """A safetensors file, with the names of its arrays in the head unless the head is given."""
    head = (
        json.dumps({"arrays": [name for name in tensors if name != "__metadata__"]}) if head is None else head
    )
    text = (
        tensors
        if isinstance(tensors, bytes)
        else json.dumps({"__metadata__": {"head": head}, **tensors}).encode()
    )
    return len(text).to_bytes(8, "little") + text + data


def tensor(dtype, shape, end, begin=0):
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}


@given(
    st.dictionaries(st.text(max_size=8), ARRAYS, max_size=3),
    st.dictionaries(
        st.text(max_size=5).filter(lambda name: name != "arrays"),
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    ),
)
def test_what_is_sent_is_what_comes(arrays, head):
    found_head, found = sent(head, arrays)
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
    assert str(error.value) == f"array 'a' must be of {', '.join(DTYPES.values())} to be sent, not {name}"


def test_heads_are_plain_and_short():
    with pytest.raises(WireError) as error:
        to_json({"a": {1, 2}})
    assert str(error.value) == (
        "only numbers, strings, lists and dicts can be sent: Object of type set is not JSON serializable"
    )
    with pytest.raises(WireError) as error:
        encode({"a": "x" * HEAD_BYTES}, {})
    assert str(error.value) == "the head of arrays must have 1,048,576 bytes at most, not 1,048,632"


def test_names_that_a_file_cannot_hold():
    with pytest.raises(WireError) as error:
        encode({}, {"__metadata__": np.zeros(1)})
    assert str(error.value) == "an array cannot be called '__metadata__' to be sent"
    with pytest.raises(WireError) as error:
        encode({}, {"\ud800": np.zeros(1)})
    assert str(error.value).startswith("the name of an array must be a string: 'utf-8' codec can't encode ")


BITS = {
    "bool": [0, 1],
    "int8": range(256),
    "uint8": range(256),
    "float16": range(1 << 16),
    "float32": [0, 1 << 31, 1, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFFFF_FFFF, 0x7F80_0001],
    "float64": [
        0,
        1 << 63,
        1,
        0x7FF0 << 48,
        0xFFF0 << 48,
        (0x7FF8 << 48) + 1,
        (1 << 64) - 1,
        (0x7FF0 << 48) + 1,
    ],
}


@pytest.mark.parametrize("dtype", DTYPES.values())
def test_every_bit_comes(dtype):
    """Of floats: both zeros, the smallest number, infinities, and NaNs of all kinds with what they hold."""
    size = np.dtype(dtype).itemsize
    top = 1 << 8 * size
    plain = np.array(BITS.get(dtype, [0, 1, top // 2 - 1, top // 2, top - 1]), f"u{size}")
    (found,) = sent({}, {"a": plain.view(dtype)})[1].values()
    assert found.dtype == dtype
    assert found.tobytes() == plain.tobytes()


def test_what_is_sent_is_a_file_that_others_read():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = safetensors.numpy.load(encode({"prepared": "p"}, {"x": x, "y": x > 2}))
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["y"], x > 2)


NONE = "it is not a safetensors file: Error while deserializing: "
NAMES = "arrays of the head must be the names of all arrays, not "
MALFORMED = {
    "nothing": (b"", f"{NONE}header too small"),
    "a long head": (
        b"\xff\xff\xff\xff\0\0\0\0{}",
        "the head of arrays must have 1,048,576 bytes at most, not 4,294,967,295",
    ),
    "a head without its end": (b"\x09\0\0\0\0\0\0\0{}", f"{NONE}invalid header length"),
    "no JSON": (file(b"\x80\x04K\x01."), f"{NONE}invalid UTF-8 in header: "),
    "too deep": (file(b"[" * 200_000), f"{NONE}invalid JSON in header: "),
    "a list": (file(b"[]"), f"{NONE}invalid JSON in header: "),
    "no head": (file(b"{}"), "it is not JSON: "),
    "a head that is no text": (file({"__metadata__": {"head": 7}}), f"{NONE}invalid JSON in header: "),
    "a head that is a list": (file({}, head="[]"), "it must be a JSON object, not list"),
    "a head that is too deep": (
        file({}, head="[" * 200_000),
        "it is not JSON: maximum recursion depth exceeded",
    ),
    "no names": (file({}, head="{}"), f"{NAMES}None"),
    "a number for a name": (file(tensor("I8", [1], 1), b"1", '{"arrays": [1]}'), f"{NAMES}[1]"),
    "a list for a name": (file(tensor("I8", [1], 1), b"1", '{"arrays": [["a"]]}'), f"{NAMES}[['a']]"),
    "another name": (file(tensor("I8", [1], 1), b"1", '{"arrays": ["b"]}'), f"{NAMES}['b']"),
    "named twice": (file(tensor("I8", [1], 1), b"1", '{"arrays": ["a", "a"]}'), f"{NAMES}['a', 'a']"),
    "not named": (file(tensor("I8", [1], 1), b"1", '{"arrays": []}'), f"{NAMES}[]"),
    "twice": (
        file(
            b'{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[1,2]}}',
            b"12",
        ),
        f"{NONE}invalid offset for tensor `a`",
    ),
    "objects": (file(tensor("object", [], 8), b"12345678"), f"{NONE}invalid JSON in header: "),
    "complex": (
        file(tensor("C64", [1], 8), b"12345678"),
        f"the dtype of array 'a' must be {', '.join(DTYPES)}, not C64",
    ),
    "half a byte": (
        file(tensor("F4", [2], 1), b"1"),
        f"the dtype of array 'a' must be {', '.join(DTYPES)}, not F4",
    ),
    "a table for a dtype": (file(tensor({"names": []}, [], 0)), f"{NONE}invalid JSON in header: "),
    "negative": (file(tensor("I8", [-1], 0)), f"{NONE}invalid JSON in header: invalid value: integer `-1`"),
    "true": (
        file(tensor("I8", [True], 1), b"1"),
        f"{NONE}invalid JSON in header: invalid type: boolean `true`",
    ),
    "huge and empty": (
        file(tensor("I8", [0, 2**63], 0)),
        "the shape of array 'a' is not possible: Maximum allowed dimension exceeded",
    ),
    "many dimensions": (file(tensor("I8", [1] * 80, 1), b"1"), "the shape of array 'a' is not possible: "),
    "too few bytes": (
        file(tensor("I16", [2], 4), b"123"),
        f"{NONE}incomplete metadata, file not fully covered",
    ),
    "surplus bytes": (
        file(tensor("I16", [1], 2), b"123"),
        f"{NONE}incomplete metadata, file not fully covered",
    ),
    "bytes between": (file(tensor("I8", [1], 2, 1), b"12"), f"{NONE}invalid offset for tensor `a`"),
    "another shape": (file(tensor("I16", [2], 2), b"12"), f"{NONE}"),
    "more than memory": (file(tensor("I16", [2**50], 3), b"123"), f"{NONE}"),
    "more than a number": (file(tensor("I16", [2**63, 2**63], 3), b"123"), f"{NONE}"),
    "no truth": (
        file(tensor("BOOL", [2], 2), b"\1\2"),
        "array 'a' of bool must hold the bytes 0 and 1 only",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_what_cannot_be_read_is_refused(case):
    data, message = MALFORMED[case]
    with pytest.raises(WireError) as error:
        decode(data)
    found = str(error.value)
    assert found.startswith(message) if message.endswith((": ", "exceeded", "`")) else found == message


@given(st.binary(max_size=60), st.booleans())
def test_no_bytes_do_more_than_being_refused(data, as_head):
    for read in (decode, from_json):
        try:
            read(file(data) if as_head else data)
        except WireError as error:
            assert str(error)


@given(st.data())
def test_damaged_files_neither(data):
    whole = bytearray(encode({"prepared": "p"}, {"x": np.ones((1, 2), np.float32), "y": np.ones(2, bool)}))
    for _ in range(3):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        _, arrays = decode(bytes(whole))
    except WireError as error:
        assert str(error)
    else:
        assert all(array.dtype.name in DTYPES.values() for array in arrays.values())
