"""Entries as they lie in a shared cache: the content comes back, and of anything else it is said what is wrong."""

import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.store.shared import envelope
from brainsmith.store.shared.envelope import DamagedEntryError, content_digest, opened, read_json, sealed


@given(st.binary(max_size=300))
def test_what_was_sealed_is_what_is_opened(content):
    assert opened("builds", "ab-1", sealed("builds", "ab-1", content)) == content


@given(st.binary(max_size=60), st.data())
def test_any_changed_byte_is_noticed(content, data):
    entry = bytearray(sealed("builds", "ab", content))
    at = data.draw(st.integers(0, len(entry) - 1))
    entry[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedEntryError):
        opened("builds", "ab", bytes(entry))


@given(st.binary(max_size=60), st.data())
def test_an_entry_that_is_cut_off_is_noticed(content, data):
    entry = sealed("builds", "ab", content)
    with pytest.raises(DamagedEntryError):
        opened("builds", "ab", entry[: data.draw(st.integers(0, len(entry) - 1))])


@given(st.binary(max_size=200))
def test_garbage_is_no_entry(data):
    with pytest.raises(DamagedEntryError):
        opened("builds", "ab", data)


def entry_of(size, body, digest=None):
    line = f"brainsmith-shared 1 builds ab {size} {len(body)} {digest or content_digest(body)}\n"
    return line.encode() + body


BOMB = zlib.compress(b"\0" * (1 << 20))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (sealed("discovery", "ab", b"x"), "it is not an entry of this key"),
        (sealed("builds", "abc", b"x"), "it is not an entry of this key"),
        (b"brainsmith-shared 1 builds ab x y z\n", "its first line is not that of an entry"),
        (entry_of(1 << 40, b""), f"it says that it has {1 << 40} bytes, and an entry may have {64 << 20}"),
        (entry_of(-1, b""), f"it says that it has -1 bytes, and an entry may have {64 << 20}"),
        (sealed("builds", "ab", b"x") + b"more", "it is cut off, or something follows it"),
        (entry_of(3, zlib.compress(b"abc"), "0" * 64), "its content does not have its digest"),
        (entry_of(3, b"abc"), "its content cannot be unpacked"),
        (entry_of(2, zlib.compress(b"abc")), "its content has another size than it says"),
        (entry_of(4, zlib.compress(b"abc")), "its content has another size than it says"),
        (entry_of(3, zlib.compress(b"abc") + b"x"), "its content has another size than it says"),
        (entry_of(10, BOMB), "its content has another size than it says"),
    ],
)
def test_it_says_what_is_wrong(entry, said):
    with pytest.raises(DamagedEntryError) as caught:
        opened("builds", "ab", entry)
    assert str(caught.value) == said


def test_a_bomb_is_unpacked_no_further_than_it_says(monkeypatch):
    asked = []

    class Unpacker:
        def __init__(self):
            self.inner = zlib.decompressobj()

        def decompress(self, body, most):
            asked.append(most)
            return self.inner.decompress(body, most)

        def __getattr__(self, name):
            return getattr(self.inner, name)

    monkeypatch.setattr(envelope, "zlib", type("Z", (), {"decompressobj": Unpacker, "error": zlib.error}))
    with pytest.raises(DamagedEntryError):
        opened("builds", "ab", entry_of(10, BOMB))
    assert asked == [11]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_json_is_read_as_python_reads_it(value):
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ["", "nonsense", "[1] 2", "NaN", "[" * 100_000, '{"a"', "[1,]", '"\\x"'])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        read_json(text)
